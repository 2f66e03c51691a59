-- Create a user unless they exist, and return their UUID.
-- Later calls merge metadata into the stored object.
-- A UUIDv8 is no name, because another name may give it. Only as the id of the transaction's user
-- (recall.user_id) it is accepted.
-- Raises  RC003 empty text, more than 1000 characters, a UUIDv8, or metadata is not an object.
create or replace function recall.ensure_user(
    p_external_id text,
    p_metadata    jsonb default '{}'
)
returns uuid
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_user_id   uuid := recall._id_in_name(p_external_id);
    v_is_sealed boolean;
begin
    if v_user_id is null then
        v_user_id := recall.user_id(p_external_id);
    else
        if recall._identity() is distinct from v_user_id::text then
            perform recall.user_id(p_external_id);  -- raises
        end if;
        p_external_id := null;
    end if;
    perform recall._check_json(p_metadata, 'p_metadata');
    perform recall._check_user(v_user_id);
    perform recall._check_metadata(p_metadata, v_user_id);
    p_metadata := recall._guard_secrets(p_metadata, recall._settings(v_user_id), 'p_metadata');

    perform recall._ensure_user(v_user_id, p_external_id, p_metadata);
    v_is_sealed := recall._is_sealed_user(v_user_id);

    update recall.users as u
       set external_id = case when not v_is_sealed
                              then coalesce(u.external_id, p_external_id) end,
           metadata    = u.metadata || p_metadata
     where u.user_id = v_user_id
       and (u.external_id is null and not v_is_sealed or not u.metadata @> p_metadata);

    return v_user_id;
end;
$function$;

comment on function recall.ensure_user(text, jsonb) is
    'Create a user unless they exist, and return their UUID. Metadata is merged. RC003: an empty '
    'text, more than 1000 characters, a UUIDv8 that may be the id of another name, or metadata is '
    'not an object.';

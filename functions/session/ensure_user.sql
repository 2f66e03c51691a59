-- Create a user unless they exist, and return their UUID.
-- Later calls merge metadata into the stored object.
-- Raises  RC003 empty text, or metadata is not an object.
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
    v_user_id   uuid := recall.user_id(p_external_id);
    v_is_sealed boolean;
begin
    perform recall._check_json(p_metadata, 'p_metadata');
    perform recall._check_user(v_user_id);
    perform recall._check_metadata(p_metadata);
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
    'text, or metadata is not an object.';

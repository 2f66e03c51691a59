-- Import what a document says of the user: name, metadata, overrides, when the user was created.
-- Raises  RC003 malformed, or the overrides weaken the settings here.
create or replace function recall._import_user_row(
    p_user_id      uuid,
    p_user         jsonb,
    p_allow_weaker boolean
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_name     text        := p_user ->> 'external_id';
    v_created  timestamptz := (p_user ->> 'created_at')::timestamptz;
    v_metadata jsonb       := coalesce(p_user -> 'metadata', '{}');
begin
    if recall._id_in_name(v_name) = p_user_id then
        v_name := null;  -- an id, which release 0.1.0 stored in place of a name
    elsif recall._id_in_name(v_name) is not null then
        perform recall.user_id(v_name);  -- raises
    end if;
    perform recall._check_metadata(v_metadata, null);
    if not isfinite(v_created) then
        raise exception using
            errcode = 'RC003',
            message = format('p_document: created_at of the user is %s', v_created),
            hint    = 'Pass what recall.export_user returned, as it was.';
    end if;
    v_metadata := recall._guard_secrets(
        v_metadata, recall._import_overrides(p_user_id, p_user -> 'overrides', p_allow_weaker),
        'p_document: metadata of the user');

    -- replay_erasures erases users older than an erasure, so created_at must not precede one.
    if exists (
        select from recall.erasures as e
         where e.erased_at >= v_created
           and e.digest     = sha256(e.salt || uuid_send(p_user_id))
    ) then
        v_created := null;
    end if;
    update recall.users as u
       set created_at  = least(u.created_at, v_created),
           external_id = coalesce(u.external_id, v_name),
           metadata    = v_metadata || u.metadata
     where u.user_id = p_user_id;
end;
$function$;

comment on function recall._import_user_row(uuid, jsonb, boolean) is
    'Import what a document says of the user (RC003).';

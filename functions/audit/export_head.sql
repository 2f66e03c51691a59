-- Return the head of a user's event chain.
-- Keep it where writers of this database cannot write. With it, `verify_integrity` detects a chain
-- that was cut, rewritten or restored from an older copy.
-- Raises  RC001.
create or replace function recall.export_head(
    p_user_id uuid
)
returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $function$
declare
    v_user recall.users;
begin
    perform recall._check_user(p_user_id);
    v_user := recall._read_user(p_user_id);
    if v_user.user_id is null then
        perform recall._unknown_user(p_user_id);
    end if;
    return jsonb_build_object(
        'user_id', p_user_id,
        'event_count', v_user.event_count,
        'event_hash', encode(v_user.event_hash, 'hex'),
        'at', clock_timestamp());
end;
$function$;

comment on function recall.export_head(uuid) is
    'Return the head of a user''s event chain, {user_id, event_count, event_hash, at}, to be kept '
    'outside of the database for verify_integrity. RC001: the user does not exist.';

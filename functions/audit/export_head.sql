-- recall.export_head(user) -> {user_id, event_count, event_hash, at}
-- The end of the user's chain of events, to be kept where nobody who can write to this database can
-- write: with it recall.verify_integrity also notices that the chain was cut, made anew or taken
-- from an older copy of the database.
-- Raises  RC001.
create or replace function recall.export_head(
    p_user_id uuid
)
returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path from current
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
    'The end of a user''s chain of events, to be kept outside for verify_integrity.';

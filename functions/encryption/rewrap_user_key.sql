-- Replace the wrapped form of a data encryption key when the key encryption key rotates.
-- Returns false if another transaction replaced it first; the data encryption key itself stays the
-- same.
-- Raises  RC003
create or replace function recall.rewrap_user_key(
    p_user_id      uuid,
    p_key_no       integer,
    p_previous     bytea,
    p_wrapped_key  bytea,
    p_wrapping_key text
)
returns boolean
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    perform recall._check_user(p_user_id);
    perform recall._check_wrapped_key(p_wrapped_key, p_wrapping_key);

    update recall.user_keys as k
       set wrapped_key  = p_wrapped_key,
           wrapping_key = p_wrapping_key
     where k.user_id     = p_user_id
       and k.key_no      = p_key_no
       and k.wrapped_key = p_previous;
    return found;
end;
$function$;

comment on function recall.rewrap_user_key(uuid, integer, bytea, bytea, text) is
    'Replace the wrapped form of a data encryption key. Returns false if p_previous is no longer '
    'the stored form. RC003: a malformed wrapped key.';

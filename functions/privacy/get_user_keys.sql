-- recall.get_user_keys(user) -> the wrapped data keys of a sealed user, none of any other
-- Useless without the wrapping key, which only drivers have.
create or replace function recall.get_user_keys(
    p_user_id uuid
)
returns table (
    key_no       integer,
    wrapped_key  bytea,
    wrapping_key text
)
language plpgsql
stable
parallel safe
security definer
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
begin
    perform recall._check_user(p_user_id);
    return query
    select k.key_no, k.wrapped_key, k.wrapping_key
      from recall.user_keys as k
     where k.user_id = p_user_id
     order by k.key_no;
end;
$function$;

comment on function recall.get_user_keys(uuid) is
    'The wrapped data keys of a sealed user, with the name of the key that opens each.';

-- Add to the counters of a user's items, and enforce their limits.
-- The caller has locked the user, so the counters are exact. A call that does not add is allowed
-- above a limit, so that a user can delete after the limits were lowered.
-- Raises  RC010.
create or replace function recall._count_items(
    p_user_id  uuid,
    p_items    bigint,
    p_bytes    bigint,
    p_settings recall.settings
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_user recall.users;
begin
    update recall.users as u
       set item_count = u.item_count + p_items,
           item_bytes = u.item_bytes + p_bytes
     where u.user_id = p_user_id
    returning u.* into v_user;
    if p_items > 0 and v_user.item_count > p_settings.items_per_user
       or p_bytes > 0 and v_user.item_bytes > p_settings.item_bytes_per_user then
        raise exception using
            errcode = 'RC010',
            message = format('the user would have %s items with %s bytes', v_user.item_count,
                             v_user.item_bytes),
            hint    = format('At most %s items and %s bytes: delete items, give them a ttl, or '
                             'raise settings.items_per_user and item_bytes_per_user.',
                             p_settings.items_per_user, p_settings.item_bytes_per_user);
    end if;
end;
$function$;

comment on function recall._count_items(uuid, bigint, bigint, recall.settings) is
    'Add to the counters of a user''s items; RC010 above their limits.';

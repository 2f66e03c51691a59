-- Lock a call of the call log for share.
-- For writers that add to a call: an erasure waits for this lock, and a caller that waited for an
-- erasure gets RC001. The caller has locked the user.
-- Locks   the call, for key share.
-- Raises  RC001.
create or replace function recall._lock_call_for_share(
    p_user_id uuid,
    p_call_id uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_at timestamptz := recall._uuid_time(p_call_id);
begin
    perform from recall.model_calls as c
      where c.user_id    = p_user_id
        and c.call_id    = p_call_id
        and c.created_at = v_at
        for key share;
    if not found then
        raise exception using
            errcode = 'RC001',
            message = format('this user has no call %s', p_call_id),
            hint    = 'recall.list_model_calls lists the calls of a user.';
    end if;
end;
$function$;

comment on function recall._lock_call_for_share(uuid, uuid) is
    'Lock a call of the call log for share, so that an erasure waits (RC001 when there is none).';

-- Return the id and time of a new row of the call log, and lock its user for share.
-- The time comes from the id, so an id finds its month, and a repeated id finds the same row.
-- It never creates the user: a late record must not bring an erased user back.
-- Locks   the user (shared).
-- Raises  RC001 unknown user, RC003 an id that is no UUIDv7, or lies in the future.
create or replace function recall._ledger_id(
    p_user_id  uuid,
    p_id       uuid,
    p_settings recall.settings,
    out o_id   uuid,
    out o_at   timestamptz
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
begin
    o_id := coalesce(p_id, recall.uuidv7());
    o_at := recall._uuid_time(o_id);
    if o_at is null or o_at > clock_timestamp() + p_settings.future_skew then
        raise exception using
            errcode = 'RC003',
            message = format('%s is not a UUIDv7, or its time is in the future', o_id),
            hint    = 'Leave the id out, or create it with recall.uuidv7().';
    end if;

    perform from recall.users as u where u.user_id = p_user_id for key share;
    if not found then
        raise exception using
            errcode = 'RC001',
            message = format('user %s is unknown', p_user_id),
            hint    = 'recall.ensure_user and recall.open_session create a user.';
    end if;
end;
$function$;

comment on function recall._ledger_id(uuid, uuid, recall.settings) is
    'Id and time of a new row of the call log; locks the user for share.';

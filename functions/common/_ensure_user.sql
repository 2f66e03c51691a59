-- Create the user's row unless it exists; never change an existing one.
-- A call that waited during an erasure must not recreate the user; only later calls may. p_since is
-- a snapshot from before the wait.
-- Raises  RC001 the user was erased since p_since, 40001 since the transaction's snapshot.
create or replace function recall._ensure_user(
    p_user_id     uuid,
    p_external_id text        default null,
    p_metadata    jsonb       default '{}',
    p_since       pg_snapshot default pg_current_snapshot()
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now timestamptz := clock_timestamp();
begin
    perform recall._check_snapshot(p_user_id);
    insert into recall.users as u (user_id, external_id, metadata, created_at)
    values (p_user_id, p_external_id, p_metadata, v_now)
    on conflict (user_id) do nothing;

    if found and exists (
        select from recall.erasures as e
         where e.erased_by >= pg_snapshot_xmin(p_since)
           and e.erased_by <  pg_snapshot_xmax(pg_current_snapshot())
           and not pg_visible_in_snapshot(e.erased_by, p_since)
           and e.digest = sha256(e.salt || uuid_send(p_user_id))
    ) then
        raise exception using
            errcode = 'RC001',
            message = format('user %s was erased while this call waited', p_user_id),
            hint    = 'Repeat the call to create the user again.';
    end if;
end;
$function$;

comment on function recall._ensure_user(uuid, text, jsonb, pg_snapshot) is
    'Create the user''s row unless it exists.';

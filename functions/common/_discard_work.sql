-- Discard intermediate results of a user's jobs, or of the jobs of one session.
-- Every erasure calls it, since the state of a job may quote erased text. The jobs stay. A late
-- answer changes nothing, because the state no longer has its request id. The caller has locked the
-- user, as next_request does while it writes such a state.
-- Locks   the jobs. See docs/architecture.md.
create or replace function recall._discard_work(
    p_user_id    uuid,
    p_session_id uuid default null
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    update recall.jobs as j
       set work    = null,
           vectors = null
     where j.user_id = p_user_id
       and (p_session_id is null or j.session_id = p_session_id)
       and j.work is not null;
end;
$function$;

comment on function recall._discard_work(uuid, uuid) is
    'Discard intermediate results of a user''s jobs, or of the jobs of one session.';

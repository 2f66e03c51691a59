-- Discard what models have made so far for jobs of a user, or for those of one session.
-- Every erasure calls it: the state of a job may quote or depend on what is erased. The job itself
-- stays. An answer to a request of before changes nothing, since the state no longer has its id.
-- The caller holds the user's row, as recall.next_request does while it writes such a state.
-- Locks   the jobs. See docs/architecture.md.
create or replace function recall._discard_work(
    p_user_id    uuid,
    p_session_id uuid default null
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
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
    'Discard what models have made so far for jobs of a user, or of one session.';

-- Delete memories with their vectors, audit and jobs; return the deleted rows by table.
-- This includes audit entries of other memories that contain their text (a refused consolidation).
-- The caller has locked the user, and deletes access-log rows as its last step (_delete_unlogged).
-- Locks   the memories, the jobs. See docs/architecture.md.
create or replace function recall._delete_memories(
    p_user_id    uuid,
    p_memory_ids uuid[]
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_counts jsonb;
    v_active integer;
    v_events bigint[];
begin
    perform recall._discard_work(p_user_id);
    perform recall._unlink_memories(p_user_id, p_memory_ids);

    with gone as (
        delete from recall.memory_store as m
         where m.user_id   = p_user_id
           and m.memory_id = any (p_memory_ids)
        returning m.ended_at
    )
    select jsonb_build_object('memory_store', count(*)),
           count(*) filter (where g.ended_at is null)
      into v_counts, v_active
      from gone as g;

    with active as (
        delete from recall.memory_embedding as e
         where e.user_id = p_user_id and e.memory_id = any (p_memory_ids)
        returning 1
    ), ended as (
        delete from recall.memory_embedding_ended as e
         where e.user_id = p_user_id and e.memory_id = any (p_memory_ids)
        returning 1
    ), jobs as (
        delete from recall.jobs as j
         where j.user_id = p_user_id and j.payload -> 'memory_ids' ?| p_memory_ids::text[]
        returning 1
    )
    select v_counts || jsonb_build_object(
               'memory_embedding', (select count(*) from active),
               'memory_embedding_ended', (select count(*) from ended),
               'jobs', (select count(*) from jobs))
      into v_counts;

    v_events := array(
        select e.event_no
          from recall.memory_events as e
         where e.user_id = p_user_id
           and (e.memory_id = any (p_memory_ids)
                or e.event = 'merge_refused' and e.job_id in (
                       select r.job_id
                         from recall.memory_events as r
                        where r.user_id   = p_user_id
                          and r.memory_id = any (p_memory_ids)
                          and r.event     = 'merge_refused')));
    perform recall._forget_events(p_user_id, v_events);
    v_counts := v_counts || jsonb_build_object('memory_events', cardinality(v_events));
    perform recall._count_memories(p_user_id, -v_active);
    return v_counts;
end;
$function$;

comment on function recall._delete_memories(uuid, uuid[]) is
    'Delete memories permanently; the deleted rows by table.';

-- recall._purge_ended_vectors(now, limit, until) -> memories that were looked at
-- Vectors of memories that ended settings.ended_vector_retention ago. A user whose row somebody
-- holds is left for the next run.
-- Locks   users, as far as they are free; then the ended memories.
create or replace function recall._purge_ended_vectors(
    p_now   timestamptz,
    p_limit integer,
    p_until timestamptz
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $function$
declare
    v_due   record;
    v_count integer := 0;
begin
    for v_due in
        select d.user_id, d.memory_ids[1 : p_limit] as ids
          from (values (true), (false)) as e (has_expiry)
         cross join lateral recall._due_memories(e.has_expiry, false, p_now, p_limit) as d
    loop
        exit when v_count >= p_limit or clock_timestamp() >= p_until and v_count > 0;
        continue when not recall._try_lock_user(v_due.user_id);

        delete from recall.memory_embedding_ended as e
         where e.user_id   = v_due.user_id
           and e.memory_id = any (v_due.ids[1 : p_limit - v_count]);
        update recall.memory_store as m
           set check_at = null
         where m.user_id   = v_due.user_id
           and m.memory_id = any (v_due.ids[1 : p_limit - v_count]);
        v_count := v_count + least(cardinality(v_due.ids), p_limit - v_count);
    end loop;
    return v_count;
end;
$function$;

comment on function recall._purge_ended_vectors(timestamptz, integer, timestamptz) is
    'Delete the vectors of memories that ended long ago, in one batch.';

-- Delete the vectors of memories that ended settings.ended_vector_retention ago, in one batch.
-- o_done counts memories. Locked users are skipped, and o_more reports them.
-- Locks   users, as far as they are free; then the ended memories.
create or replace function recall._purge_ended_vectors(
    p_now      timestamptz,
    p_limit    integer,
    p_until    timestamptz,
    out o_done integer,
    out o_more boolean
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $function$
declare
    v_held    uuid[] := '{}'::uuid[];
    v_ids     uuid[];
    v_found   boolean;
    v_user_id uuid;
begin
    o_done := 0;
    o_more := false;

    <<batch>>
    loop
        v_found := false;
        for v_user_id, v_ids in
            select d.user_id, d.memory_ids
              from (values (true), (false)) as e (has_expiry)
             cross join lateral recall._due_memories(
                       e.has_expiry, false, p_now, p_limit - o_done, v_held) as d
        loop
            o_more := o_done >= p_limit or clock_timestamp() >= p_until and o_done > 0;
            exit batch when o_more;
            v_found := true;
            if not recall._try_lock_user_and_bump_revision(v_user_id) then
                v_held := v_held || v_user_id;
                continue;
            end if;

            v_ids := v_ids[1 : p_limit - o_done];
            delete from recall.memory_embedding_ended as e
             where e.user_id   = v_user_id
               and e.memory_id = any (v_ids);
            update recall.memory_store as m
               set check_at = null
             where m.user_id   = v_user_id
               and m.memory_id = any (v_ids);
            o_done := o_done + cardinality(v_ids);
        end loop;
        exit when not v_found;
    end loop;
    o_more := o_more or v_held <> '{}';
end;
$function$;

comment on function recall._purge_ended_vectors(timestamptz, integer, timestamptz) is
    'Delete the vectors of memories that ended long ago, in one batch.';

-- Enqueue `embed` jobs for users who have memories without a vector.
-- Writes flag such memories. After a change of embedding_model or embed_messages the call walks all
-- users by id, batch by batch, and then looks at their sessions, too. Locked users wait for a later
-- call, as `more` reports. done counts jobs.
-- Locks   users, as far as they are free, until settings.maintenance_lock_time has passed.
create or replace function recall.enqueue_missing_embeddings(
    p_limit integer     default 1000,
    p_as_of timestamptz default null
)
returns table (done integer, more boolean)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $function$
declare
    v_start  timestamptz := clock_timestamp();
    v_now    timestamptz := coalesce(p_as_of, v_start);
    v_until  timestamptz;
    v_user   uuid;
    v_looked integer     := 0;
    v_jobs   integer;
    v_more   boolean;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);
    select v_start + s.maintenance_lock_time into v_until from recall.settings as s;
    done := 0;
    more := false;

    for v_user in
        select distinct d.user_id
          from (
                select m.user_id
                  from recall.memory_store as m
                 where m.embedding_due
                 order by m.user_id, m.memory_id
                 limit p_limit::bigint + 100
               ) as d
    loop
        more := v_looked >= p_limit or clock_timestamp() >= v_until and v_looked > 0;
        exit when more;
        continue when not recall._try_lock_user_and_bump_revision(v_user);
        done     := done + recall._enqueue_embeddings(v_user, v_now, false);
        v_looked := v_looked + 1;
    end loop;

    if not more then
        select w.o_done, w.o_more
          into v_jobs, v_more
          from recall._walk_for_embeddings(p_limit - v_looked, v_until, v_now) as w;
        done   := done + v_jobs;
        more   := v_more
                  or exists (select 1 from recall.memory_store as m where m.embedding_due);
    end if;
    return next;
end;
$function$;

comment on function recall.enqueue_missing_embeddings(integer, timestamptz) is
    'Enqueue jobs for memories without a vector, and after a change of the embedding model for '
    'messages, too, one batch a call. done counts jobs; more is true while some remain.';

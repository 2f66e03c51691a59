-- Apply what is due to memories of one user.
-- The expiry of a memory that follows its session moves with it. A memory past its expiry ends, and
-- so does an episodic one used too little for its tier. An unimportant, unused one gets an expiry.
-- The others get the time of their next check.
-- Locks   the user's row, if it is free (0 when it is not); then the jobs, the memories.
create or replace function recall._settle_memories(
    p_user_id    uuid,
    p_memory_ids uuid[],
    p_now        timestamptz,
    out o_looked integer,
    out o_done   integer
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_settings recall.settings;
    v_expired  uuid[];
    v_idle     uuid[];
    v_decayed  integer;
begin
    o_looked := 0;
    o_done   := 0;
    if not recall._try_lock_user_and_bump_revision(p_user_id) then
        return;
    end if;
    v_settings := recall._settings(p_user_id);
    o_looked   := cardinality(p_memory_ids);

    perform recall._follow_sessions(p_user_id, p_memory_ids, p_now, v_settings);

    select coalesce(array_agg(m.memory_id) filter (where m.expires_at <= p_now), '{}'),
           coalesce(array_agg(m.memory_id) filter (where (m.expires_at <= p_now) is not true), '{}')
      into v_expired, v_idle
      from recall.memory_store as m
     where m.user_id   = p_user_id
       and m.memory_id = any (p_memory_ids)
       and m.end_reason is null
       and (m.expires_at <= p_now or recall._demotion_at(row(m.*), v_settings) <= p_now);
    if v_expired <> '{}' or v_idle <> '{}' then
        perform recall._discard_work(p_user_id);
    end if;
    perform recall._end_memories(p_user_id, v_expired, 'expired', p_now);
    perform recall._end_memories(p_user_id, v_idle, 'expired', p_now,
                                 p_detail => '{"because": "idle"}');

    v_decayed := recall._decay_idle(p_user_id, p_memory_ids, p_now, v_settings);
    update recall.memory_store as m
       set check_at = recall._next_check(row(m.*), p_now, v_settings)
     where m.user_id   = p_user_id
       and m.memory_id = any (p_memory_ids)
       and m.end_reason is null
       and m.check_at <= p_now;
    o_done := cardinality(v_expired) + cardinality(v_idle) + v_decayed;
end;
$function$;

comment on function recall._settle_memories(uuid, uuid[], timestamptz) is
    'Expire, demote, decay or extend memories of one user that are due. Returns how many were '
    'looked at, and how many ended or decayed.';

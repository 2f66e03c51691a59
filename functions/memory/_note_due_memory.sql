-- recall._note_due_memory() -> trigger
-- Sets the columns by which the sweeps find a memory: promotion_due, when its last access took it
-- over a border (U falls until the next one, so no other moment matters), and check_at. An earlier
-- check_at stays, so that accesses stay HOT; the sweep that finds nothing due then asks anew. When
-- a memory ends, check_at says how long its vectors are kept. One that decays gets its life back
-- by being used, whoever counts the use: it has no expiry any more. Plans for the user's leaf: a
-- cached plan would lock all of them.
create or replace function recall._note_due_memory()
returns trigger
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_memory   recall.memory_store;
    v_settings recall.settings;
    v_check    timestamptz;
begin
    if new.ended_at is not null then
        select new.ended_at + s.ended_vector_retention into new.check_at from recall.settings as s;
        return new;
    end if;

    if tg_op = 'UPDATE' and new.is_decaying and old.is_decaying
       and (new.expires_at is distinct from old.expires_at
            or new.last_accessed_at is distinct from old.last_accessed_at) then
        new.is_decaying := false;
        if new.last_accessed_at is distinct from old.last_accessed_at then
            new.expires_at := null;
            v_memory       := new;
            perform recall._log_events(new.user_id, array[new.memory_id], 'revived',
                                       p_hashes => array[recall._memory_hash(v_memory)]);
        end if;
    end if;

    v_memory := new;
    if new.tier > 'episodic' and not new.follows_session
       and (new.expires_at is not null or new.importance >= 0.5) then
        new.promotion_due := false;
        v_check           := new.expires_at;
    else
        v_settings        := recall._settings(new.user_id);
        new.promotion_due := recall._promotion_target(
                                 v_memory, new.last_accessed_at, v_settings) is not null;
        v_check           := recall._next_check(v_memory, '-infinity', v_settings);
    end if;
    if tg_op = 'INSERT' or (old.check_at <= v_check) is not true then
        new.check_at := v_check;
    end if;
    return new;
end;
$function$;

comment on function recall._note_due_memory() is
    'Trigger: note when a sweep must look at a memory, and whether it may be promoted.';

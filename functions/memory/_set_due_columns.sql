-- Set the columns by which sweeps find a memory: promotion_due and check_at (trigger).
-- promotion_due changes only when an access lifts the memory over the threshold, because utility
-- falls until the next access. An earlier check_at stays, so that accesses remain HOT updates; a
-- sweep that finds nothing due computes it again.
create or replace function recall._set_due_columns()
returns trigger
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan  -- a generic plan locks every partition
as $function$
declare
    v_memory   recall.memory_store;
    v_settings recall.settings;
    v_check    timestamptz;
begin
    -- for an ended row, check_at is when its vectors are deleted
    if new.ended_at is not null then
        select new.ended_at + s.ended_vector_retention into new.check_at from recall.settings as s;
        return new;
    end if;

    -- an access or a new expiry stops the decay
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

comment on function recall._set_due_columns() is
    'Trigger: set when a sweep must look at a memory, and whether it may be promoted.';

-- History and audit are append-only, for the owner too.
create or replace trigger conversation_history_no_update
    before update on recall.conversation_history
    for each row execute function recall._refuse_update();
comment on trigger conversation_history_no_update on recall.conversation_history is
    'History is append-only.';

create or replace trigger memory_events_no_update
    before update on recall.memory_events
    for each row execute function recall._refuse_update();
comment on trigger memory_events_no_update on recall.memory_events is 'The audit is append-only.';

-- The columns by which sweeps find a memory. Whoever writes it need not know them. A count of an
-- access that crosses no border changes neither, and stays HOT.
create or replace trigger memory_store_note_due_insert
    before insert on recall.memory_store
    for each row
    when (new.ended_at is null
          and (new.access_count > 0
               or new.check_at is null
                  and (new.expires_at is not null or new.importance < 0.5)))
    execute function recall._note_due_memory();
comment on trigger memory_store_note_due_insert on recall.memory_store is
    'Sets promotion_due and check_at of a new memory.';

create or replace trigger memory_store_note_due_update
    before update on recall.memory_store
    for each row
    when (old.ended_at is null
          and (new.ended_at is not null
               or new.tier <= 'episodic'
               and (new.access_count, new.relevance_accumulator, new.provenance)
                   is distinct from (old.access_count, old.relevance_accumulator, old.provenance)
               or (new.tier, new.importance, new.created_at, new.expires_at, new.follows_session)
                  is distinct from
                  (old.tier, old.importance, old.created_at, old.expires_at, old.follows_session)
               or new.last_accessed_at < old.last_accessed_at))
    execute function recall._note_due_memory();
comment on trigger memory_store_note_due_update on recall.memory_store is
    'Sets promotion_due and check_at of a memory that changes.';

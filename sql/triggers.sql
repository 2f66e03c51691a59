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

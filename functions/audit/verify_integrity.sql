-- List changes to a user's memories and events that bypassed the API.
-- Events form a hash chain, and each has a hash of its memory, so an edit at rest shows. A head of
-- `export_head` adds chain_shortened and chain_rewritten: a superuser who rewrites the chain, or a
-- restored old copy, cannot avoid these. Messages, vectors and access counts are not covered. Runs
-- on a standby.
-- Raises  RC001, RC003 a malformed head, RC006 another user's.
-- Cost    two hashes for each event and memory, 20 µs.
create or replace function recall.verify_integrity(
    p_user_id uuid,
    p_head    jsonb default null
)
returns table (
    finding   text,
    event_no  bigint,
    memory_id uuid,
    detail    text
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
as $function$
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_head, 'p_head');
    if p_head is not null then
        perform recall._judge_head(p_user_id, p_head);
    elsif (recall._read_user(p_user_id)).user_id is null
          and not exists (select from recall._check_head(p_user_id, null)) then
        perform recall._unknown_user(p_user_id);
    end if;

    return query select * from recall._check_events(p_user_id);
    return query select * from recall._check_head(p_user_id, p_head);
    return query select * from recall._check_memories(p_user_id);
end;
$function$;

comment on function recall.verify_integrity(uuid, jsonb) is
    'List changes at rest to a user''s memories and events: finding, event, memory, detail. '
    'Findings are event_changed, event_missing, event_inserted, event_moved, head_changed, '
    'memory_changed, memory_missing, memory_inserted, and with a head of export_head also '
    'chain_shortened and chain_rewritten. No rows means no change was found. RC001: the user does '
    'not exist. RC003: a malformed head. RC006: the head of another user.';

-- recall.verify_integrity(user, head) -> what was changed behind the functions' back, if anything
-- Every event is chained to the one before and holds a hash of its memory as it left it, so an edit
-- at rest shows: event_changed, event_missing, event_inserted, event_moved, head_changed,
-- memory_changed, memory_missing, memory_inserted. Against a head that recall.export_head gave and
-- that was kept outside also chain_shortened and chain_rewritten, which is what a superuser who
-- makes the whole chain anew, or an old copy of the database, cannot avoid. Messages and vectors
-- are no part of it, nor are counts of accesses. Runs on a standby.
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
set search_path from current
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
    'What of a user''s memories and events was changed at rest: finding, event, memory, detail. No '
    'row: nothing. Pass a head of export_head that was kept outside.';

-- Return the columns of a memory that get_memory and the other readers return.
-- With p_as_of a later end is hidden, so that the same p_as_of always gives the same result. Enums
-- are text, which every driver reads. The planner inlines it.
create or replace function recall._memory_columns(
    p_memory recall.memory_store,
    p_as_of  timestamptz default null
)
returns setof recall.memory_row
language sql
immutable
parallel safe
as $function$
    select (p_memory).memory_id, (p_memory).content, (p_memory).kind, (p_memory).slot,
           (p_memory).tier::text, (p_memory).scope::text, (p_memory).tags, (p_memory).importance,
           (p_memory).confidence, (p_memory).provenance::text, (p_memory).source,
           (p_memory).source_session_id, (p_memory).observed_at, (p_memory).valid_from,
           (p_memory).valid_to, (p_memory).created_at, (p_memory).expires_at,
           case when s.is_known then (p_memory).ended_at end,
           case when s.is_known then (p_memory).end_reason end,
           case when s.is_known then (p_memory).superseded_by end,
           not s.is_known, (p_memory).access_count, (p_memory).metadata, (p_memory).session_id,
           (p_memory).agent_id, (p_memory).token_count, (p_memory).source_turn_ids,
           (p_memory).last_accessed_at, (p_memory).is_validated, (p_memory).review_at,
           (p_memory).updated_at
      from (
            select coalesce((p_memory).ended_at <= coalesce(p_as_of, 'infinity'), false)
           ) as s (is_known);
$function$;

comment on function recall._memory_columns(recall.memory_store, timestamptz) is
    'The columns of a memory that readers get.';

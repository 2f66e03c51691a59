-- Return the user messages that state something and fit the limit of a memory, in order.
-- The test for statements takes 0.4 ms a message, so it runs once: later calls pass the chosen ids.
create or replace function recall._verbatim_candidates(
    p_session      recall.sessions,
    p_through_turn integer,
    p_settings     recall.settings,
    p_message_ids  jsonb default null
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_candidates jsonb;
begin
    select coalesce(jsonb_agg(jsonb_build_object(
               'content', t.body,
               'kind', 'fact',
               'provenance', 'user_stated',
               'source', 'conversation',
               'confidence', 0.9,
               'observed_at', h.created_at,
               'source_turn_ids', jsonb_build_array(h.message_id),
               'token_count', case when not h.tokens_estimated and h.content = t.body
                                   then h.token_count end,
               'metadata', '{"verbatim": true}'::jsonb) order by h.turn_index), '[]')
      into v_candidates
      from recall.conversation_history as h
     cross join lateral (
            select btrim(recall._content_text(h.content, h.content_parts))
            offset 0  -- prevents subquery pull-up, which would compute the text repeatedly
           ) as t (body)
     where h.user_id    = p_session.user_id
       and h.session_id = p_session.session_id
       and h.created_at between p_session.created_at and p_session.last_message_at
       and h.turn_index > p_session.extracted_through_turn
       and h.turn_index <= p_through_turn
       and not h.turn_index <@ p_session.retracted_turns
       and h.role = 'user'
       and length(t.body) <= p_settings.memory_max_characters
       and case when p_message_ids is not null then p_message_ids ? h.message_id::text
                else recall._is_statement(t.body, p_settings.verbatim_min_words) end;
    return v_candidates;
end;
$function$;

comment on function recall._verbatim_candidates(recall.sessions, integer, recall.settings, jsonb) is
    'User messages after extracted_through_turn that state something, as candidates for '
    'ingest_memories.';

-- Complete kind, source, provenance and confidence of a candidate.
-- A missing source is the conversation, or an import without a session; a missing provenance
-- follows from the source. A source of tool or inference cannot claim a higher provenance, and
-- untrusted text never counts as verbatim.
create or replace function recall._candidate_origin(
    p_kind            text,
    p_source          text,
    p_provenance      recall.provenance,
    p_confidence      text,
    p_metadata        jsonb,
    p_session_id      uuid,
    p_settings        recall.settings,
    out o_kind        text,
    out o_source      text,
    out o_provenance  recall.provenance,
    out o_confidence  real,
    out o_is_verbatim boolean
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    o_kind        := coalesce(p_kind, 'fact');
    o_source      := coalesce(p_source, case when p_session_id is null then 'import'
                                             else 'conversation' end);
    o_provenance  := case o_source
        when 'tool' then greatest(p_provenance, 'tool_output')
        when 'inference' then greatest(p_provenance, 'system_inferred')
        when 'consolidation' then coalesce(p_provenance, 'system_inferred')
        when 'conversation' then coalesce(p_provenance, 'fact')
        else coalesce(p_provenance, 'user_stated')
    end;
    o_is_verbatim := o_provenance < 'tool_output'
                     and coalesce(p_metadata -> 'verbatim' = 'true', false);
    -- In the strict form (extracted_tier = session) every extracted memory has confidence 0.5.
    o_confidence  := case
        when o_source in ('conversation', 'tool', 'inference') and not o_is_verbatim
             and p_settings.extracted_tier = 'session' then 0.5
        when p_confidence = 'high' then 0.9
        when p_confidence = 'medium' then 0.6
        when p_confidence = 'low' then 0.3
        when p_confidence is not null then p_confidence::real
        when o_provenance > 'preference' then 0.5
        when o_source = 'manual' then 1.0
        else p_settings.durable_confidence
    end;
end;
$function$;

comment on function recall._candidate_origin(text, text, recall.provenance, text, jsonb, uuid,
    recall.settings) is
    'Kind, source, provenance and confidence of a candidate, with defaults filled in.';

-- recall._candidate_origin(kind, source, provenance, confidence, metadata, session, settings)
-- What a candidate says of where it comes from, completed. Without a source it comes from the
-- conversation, or was imported when there is none; without a provenance, from that source. A
-- tool's or the system's own inference claims no higher one, and is kept verbatim never. Everything
-- an extraction brings has confidence 0.5 in the strict form (settings.extracted_tier = session).
create or replace function recall._candidate_origin(
    p_kind          text,
    p_source        text,
    p_provenance    recall.provenance,
    p_confidence    text,
    p_metadata      jsonb,
    p_session_id    uuid,
    p_settings      recall.settings,
    out kind        text,
    out source      text,
    out provenance  recall.provenance,
    out confidence  real,
    out is_verbatim boolean
)
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    kind        := coalesce(p_kind, 'fact');
    source      := coalesce(p_source,
                            case when p_session_id is null then 'import' else 'conversation' end);
    provenance  := case source
                       when 'tool' then greatest(p_provenance, 'tool_output')
                       when 'inference' then greatest(p_provenance, 'system_inferred')
                       when 'consolidation' then coalesce(p_provenance, 'system_inferred')
                       when 'conversation' then coalesce(p_provenance, 'fact')
                       else coalesce(p_provenance, 'user_stated')
                   end;
    is_verbatim := provenance < 'tool_output'
                   and coalesce(p_metadata -> 'verbatim' = 'true', false);
    confidence  := case
                       when source in ('conversation', 'tool', 'inference') and not is_verbatim
                            and p_settings.extracted_tier = 'session' then 0.5
                       when p_confidence = 'high' then 0.9
                       when p_confidence = 'medium' then 0.6
                       when p_confidence = 'low' then 0.3
                       when p_confidence is not null then p_confidence::real
                       when provenance > 'preference' then 0.5
                       when source = 'manual' then 1.0
                       else p_settings.durable_confidence
                   end;
end;
$function$;

comment on function recall._candidate_origin(text, text, recall.provenance, text, jsonb, uuid,
    recall.settings) is
    'Kind, source, provenance and confidence of a candidate, with what it leaves out.';

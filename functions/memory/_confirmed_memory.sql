-- Build the active row of a disputed text that a person accepted.
-- The row counts as the user's own correction.
create or replace function recall._confirmed_memory(
    p_dispute recall.memory_store,
    p_id      uuid,
    p_now     timestamptz
)
returns recall.memory_store
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    p_dispute.memory_id    := p_id;
    p_dispute.session_id   := null;
    p_dispute.scope        := 'global';
    p_dispute.tier         := greatest(p_dispute.tier, 'semantic');
    p_dispute.is_validated := true;
    p_dispute.provenance   := 'correction';
    p_dispute.source       := 'manual';
    p_dispute.confidence   := 1.0;
    p_dispute.created_at   := p_now;
    p_dispute.updated_at   := p_now;
    p_dispute.expires_at   := null;
    p_dispute.ended_at     := null;
    p_dispute.end_reason   := null;
    p_dispute.disputes     := null;
    return p_dispute;
end;
$function$;

comment on function recall._confirmed_memory(recall.memory_store, uuid, timestamptz) is
    'A new active row with the text of a disputed one.';

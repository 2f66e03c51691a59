-- Write the columns of an active row that may change; text, origin and creation time never do.
-- With unchanged importance, expiry and slot the update is HOT. The caller has locked the user.
create or replace function recall._update_memory(
    p_memory recall.memory_store
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
begin
    update recall.memory_store as m
       set session_id            = p_memory.session_id,
           tier                  = p_memory.tier,
           scope                 = p_memory.scope,
           slot                  = p_memory.slot,
           provenance            = p_memory.provenance,
           source                = p_memory.source,
           source_turn_ids       = p_memory.source_turn_ids,
           confidence            = p_memory.confidence,
           importance            = p_memory.importance,
           relevance_accumulator = p_memory.relevance_accumulator,
           access_count          = p_memory.access_count,
           last_accessed_at      = p_memory.last_accessed_at,
           valid_from            = p_memory.valid_from,
           review_at             = p_memory.review_at,
           updated_at            = p_memory.updated_at,
           expires_at            = p_memory.expires_at,
           is_validated          = p_memory.is_validated,
           tags                  = p_memory.tags,
           metadata              = p_memory.metadata,
           follows_session       = p_memory.follows_session
     where m.user_id   = p_memory.user_id
       and m.memory_id = p_memory.memory_id
       and m.end_reason is null;
end;
$function$;

comment on function recall._update_memory(recall.memory_store) is
    'Write the changeable columns of an active memory.';

-- Convert a found memory into a candidate of a context, with the tokens of its line.
-- A line costs the memory's count plus its bullet, kind and date. A text that _plain_text changed
-- is counted again. The function inlines; otherwise each candidate would be a call.
create or replace function recall._context_memory(
    p_found    recall.found_memory,
    p_text     text,
    p_is_plain boolean
)
returns recall.context_memory
language sql
immutable
parallel safe
as $function$
    select row(
        p_found.memory_id, p_text, p_found.kind, p_found.tier, p_found.observed_at,
        case when p_is_plain then 5 else 11 + (length(p_found.kind) + 1) / 2 end
            + case when p_text = p_found.content then p_found.token_count
                   else recall._estimate_tokens(p_text) end,
        p_found.score, p_found.relevance, p_found.match, p_found.similarity, p_found.lexical,
        p_found.freshness, p_found.frequency, p_found.authority, false,
        null)::recall.context_memory;
$function$;

comment on function recall._context_memory(recall.found_memory, text, boolean) is
    'A found memory as a candidate of a context.';

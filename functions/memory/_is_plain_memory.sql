-- recall._is_plain_memory(content, kind, slot, tags, importance, agent, tokens, metadata, max) ->
--     is nothing wrong with them?
-- What recall.remember mostly gets, without tags and metadata, judged in one short look, where
-- recall._judge_candidate takes the time of ninety expressions (80 µs). What it does not like need
-- not be wrong. A letter counts by its code point, since some fillers are letters to a locale.
create or replace function recall._is_plain_memory(
    p_content        text,
    p_kind           text,
    p_slot           text,
    p_tags           text[],
    p_importance     real,
    p_agent_id       text,
    p_token_count    integer,
    p_metadata       jsonb,
    p_max_characters integer
)
returns boolean
language plpgsql
stable
parallel safe
set search_path from current
as $function$
begin
    return coalesce(
        p_content collate "C"
            ~ '[0-9A-Za-z\u00c0-\u024f\u0391-\u0556\u05d0-\u05ea\u0620-\u10ff\u3041-\u3096'
              '\u30a1-\u30fa\u3400-\u9fff\uac00-\ud7a3]'
        and length(p_content) <= p_max_characters
        and length(p_slot) between 1 and 200 is not false
        and p_tags = '{}'
        and p_importance between '0' and '1'
        and length(p_agent_id) between 1 and 200 is not false
        and p_token_count between 0 and 999999999 is not false
        and p_metadata = '{}'
        and exists (select from recall.memory_kinds as k where k.kind = p_kind), false);
end;
$function$;

comment on function recall._is_plain_memory(text, text, text, text[], real, text, integer, jsonb,
    integer) is 'Whether the values of a memory to be are plainly right.';

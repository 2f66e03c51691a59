-- Pack candidate memories into a token budget, greedily by score or by score per token.
-- A memory that does not fit is skipped, and packing continues. max_memory_chars limits the texts;
-- in format bullets it limits the whole block with heading and delimiters. A match below the
-- minimum means unrelated, except for instructions and memories of p_favored, the time that the
-- query names.
create or replace function recall._pack_memories(
    p_candidates recall.context_memory[],
    p_budget     bigint,
    p_options    jsonb,
    p_with_left  boolean,
    p_min_match  double precision,
    p_favored    tstzrange,
    out o_memories recall.context_memory[],
    out o_tokens   bigint
)
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_memory   recall.context_memory;
    v_key      text;
    v_seen     text[]  := '{}'::text[];
    v_count    integer := 0;
    v_facts    integer := 0;
    v_episodes integer := 0;
    v_bullet   constant integer := case when p_options ->> 'format' = 'bullets' then 3 else 0 end;
    v_chars    integer := 0;
    v_is_asked constant boolean := p_options ? 'min_match';
    v_least    double precision := p_min_match;
    v_is_rated constant boolean := p_options -> 'efficiency' = 'true';
    v_max_memories     constant integer := (p_options ->> 'max_memories')::integer;
    v_max_facts        constant integer := (p_options ->> 'max_facts')::integer;
    v_max_episodes     constant integer := (p_options ->> 'max_episodes')::integer;
    v_max_memory_chars constant integer := (p_options ->> 'max_memory_chars')::integer;
begin
    o_memories := '{}'::recall.context_memory[];
    o_tokens   := 0;
    if v_bullet > 0 then
        v_chars := length(recall._memory_heading(p_options)) + length('<memories></memories>') + 2;
    end if;

    if p_options ->> 'pack' = 'density' then
        p_candidates := array(
            select p_candidates[c.ordinality]
              from unnest(p_candidates) with ordinality as c
             order by c.score / greatest(c.token_count, 1) desc nulls last, c.ordinality);
    end if;
    -- Without the option min_match the minimum rises to half of the best match, but spares the best
    -- three. With ten memories, precision rises from 0.39 to 0.50 at the same recall
    -- (benchmarks/context_precision.py).
    if p_min_match > 0 and not v_is_asked then
        select greatest(p_min_match, least(max(b.match) / 2, min(b.match)))
          into v_least
          from (
                select c.match
                  from unnest(p_candidates) as c
                 where c.similarity is not null
                 order by c.match desc
                 limit 3
               ) as b;
        v_least := coalesce(v_least, p_min_match);
    end if;
    -- Without that option, words alone leave nothing out: an answer may use other words than its
    -- question.
    foreach v_memory in array p_candidates loop
        v_memory.reason := case
            when v_memory.match < v_least
                 and v_memory.kind <> 'instruction'
                 and (v_is_asked or v_memory.similarity is not null)
                 and (v_memory.observed_at <@ p_favored) is not true
                then case when p_with_left
                          then format('match %s, at least %s is asked',
                                      trunc(v_memory.match::numeric, 3),
                                      trim_scale(round(v_least::numeric, 3)))
                          else 'unrelated' end
            when v_count >= v_max_memories then 'max_memories is reached'
            when v_memory.kind = 'episode' and v_episodes >= v_max_episodes
                then 'max_episodes is reached'
            when v_memory.kind <> 'episode' and v_facts >= v_max_facts
                then 'max_facts is reached'
            when v_max_memory_chars is not null
                 and v_chars + v_bullet + length(v_memory.content) > v_max_memory_chars
                then 'max_memory_chars is reached'
            when o_tokens + v_memory.token_count > p_budget
                then case when p_with_left
                          then format('%s tokens, %s left', v_memory.token_count,
                                      p_budget - o_tokens)
                          else 'left' end
        end;

        -- Skip texts that differ in punctuation or case only. This check is the most expensive, so
        -- it comes last; replace() removes spaces faster than the regular expression. The
        -- efficiency must not count repetitions as candidates.
        if v_memory.reason is null or v_is_rated then
            v_key := regexp_replace(replace(lower(v_memory.content collate pg_c_utf8), ' ', ''),
                                    '[^[:alnum:]]+', '', 'g');
            if v_key = any (v_seen) then
                v_memory.reason := 'the same text is there already';
            end if;
        end if;
        v_memory.taken := v_memory.reason is null;

        if v_memory.taken then
            v_memory.reason := 'packed';
            v_seen     := v_seen || v_key;
            v_count    := v_count + 1;
            v_facts    := v_facts + (v_memory.kind <> 'episode')::integer;
            v_episodes := v_episodes + (v_memory.kind = 'episode')::integer;
            v_chars    := v_chars + v_bullet + length(v_memory.content);
            o_tokens   := o_tokens + v_memory.token_count;
            o_memories := o_memories || v_memory;
        elsif p_with_left then
            o_memories := o_memories || v_memory;
        end if;
    end loop;
end;
$function$;

comment on function recall._pack_memories(recall.context_memory[], bigint, jsonb, boolean,
    double precision, tstzrange) is
    'Pack candidate memories into a token budget; each has taken and reason.';

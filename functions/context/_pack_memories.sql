-- Pack candidate memories into a token budget, greedily by score or by score per token.
-- A memory that does not fit is skipped, and packing continues. max_memory_chars limits the texts;
-- in format bullets it limits the whole block with heading and delimiters. A candidate that has a
-- reason is left out.
create or replace function recall._pack_memories(
    p_request      recall.context_request,
    p_candidates   recall.context_candidate[],
    p_budget       bigint,
    p_with_left    boolean,
    out o_memories recall.context_candidate[],
    out o_tokens   bigint
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_options  constant jsonb := p_request.options;
    v_memory   recall.context_candidate;
    v_key      text;
    v_seen     text[]  := '{}'::text[];
    v_count    integer := 0;
    v_facts    integer := 0;
    v_episodes integer := 0;
    v_bullet   constant integer := case when v_options ->> 'format' = 'bullets' then 3 else 0 end;
    v_chars    integer := 0;
    v_is_rated constant boolean := v_options -> 'efficiency' = 'true';
    v_is_episode       boolean;
    v_max_memories     constant integer := (v_options ->> 'max_memories')::integer;
    v_max_facts        constant integer := (v_options ->> 'max_facts')::integer;
    v_max_episodes     constant integer := (v_options ->> 'max_episodes')::integer;
    v_max_memory_chars constant integer := (v_options ->> 'max_memory_chars')::integer;
begin
    o_memories := '{}'::recall.context_candidate[];
    o_tokens   := 0;
    if v_bullet > 0 then
        v_chars := length(p_request.heading) + length('<memories></memories>') + 2;
    end if;

    if v_options ->> 'pack' = 'density' then
        p_candidates := array(
            select p_candidates[c.ordinality]
              from unnest(p_candidates) with ordinality as c
             order by (c.found).score / greatest(c.token_count, 1) desc nulls last, c.ordinality);
    end if;
    foreach v_memory in array p_candidates loop
        v_is_episode    := (v_memory.found).kind = 'episode';
        v_memory.reason := case
            when v_memory.reason is not null then v_memory.reason
            when v_count >= v_max_memories then 'max_memories is reached'
            when v_is_episode and v_episodes >= v_max_episodes then 'max_episodes is reached'
            when not v_is_episode and v_facts >= v_max_facts
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
            v_facts    := v_facts + (not v_is_episode)::integer;
            v_episodes := v_episodes + v_is_episode::integer;
            v_chars    := v_chars + v_bullet + length(v_memory.content);
            o_tokens   := o_tokens + v_memory.token_count;
            o_memories := o_memories || v_memory;
        elsif p_with_left then
            o_memories := o_memories || v_memory;
        end if;
    end loop;
end;
$function$;

comment on function recall._pack_memories(recall.context_request, recall.context_candidate[],
    bigint, boolean) is
    'Pack candidate memories into a token budget; each has taken and reason.';

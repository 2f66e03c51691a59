-- Return the candidate memories of a context, best first, each with the tokens of its line.
-- The option selection chooses the search. Selection split gives facts and episodes a ranking of
-- their own; each search finds twice the maximum, since some may be repeated or too long. Stale
-- memories are excluded unless filter.stale says otherwise. With p_with_left unrelated memories
-- stay in the list, with a reason.
create or replace function recall._candidate_memories(
    p_request   recall.context_request,
    p_budget    bigint,
    p_with_left boolean
)
returns recall.context_candidate[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_session    constant recall.sessions := p_request.session;
    v_settings   constant recall.settings := p_request.settings;
    v_options    constant jsonb   := p_request.options;
    v_selection  constant text    := case when v_options ? 'memory_ids' then 'given'
                                          else coalesce(v_options ->> 'selection', 'hybrid') end;
    v_is_bullets constant boolean := coalesce(v_options ->> 'format' = 'bullets', false);
    v_filter     constant jsonb   := coalesce(v_options -> 'filter', '{}') || jsonb_build_object(
        'stale', coalesce(nullif(v_options #> '{filter,stale}', 'null'), 'false'));
    v_as_of      constant timestamptz := case
        when v_options ->> 'memories_as_of' = 'session_start'
            then least(v_session.created_at, p_request.as_of)
        else p_request.as_of end;
    v_is_asked   constant boolean   := v_options ? 'min_match';
    v_exempt     constant tstzrange := case when not lower_inf(p_request.favored)
                                            then p_request.favored end;
    v_favored    tstzrange := p_request.favored;
    v_limit      integer;
    v_found      recall.found_memory[];
    v_least      double precision;
begin
    if v_options ? 'filter' and v_selection in ('hybrid', 'split') then
        -- A filter by time, or its own asked_at and dates, count here, too.
        v_favored := recall._favored_time(p_request.query, v_filter || v_options, p_request.as_of,
                                          v_settings);
    end if;
    if v_selection = 'hybrid' then
        -- A small budget needs only as many as could fit, at 25 tokens a line (12 in format
        -- bullets). 15 more replace those that are too long or repeated. With 600 tokens, all 90
        -- candidates filled 0.1 % more for memories of 10 to 20 words, and 1 % more for up to 60.
        -- Packing by density gets all, since the best one need not be the densest.
        v_limit := least(
            v_settings.semantic_candidates + v_settings.lexical_candidates
            + v_settings.frequent_candidates,
            case when v_options ->> 'pack' is distinct from 'density' then 15 + least(
                greatest(0, p_budget) / case when v_is_bullets then 12 else 25 end,
                (v_options ->> 'max_memories')::bigint) end);
        v_found := array(
            select s
              from recall._search_memories(
                       v_session.user_id, p_request.query, p_request.query_embedding, v_limit,
                       v_filter, v_as_of, v_session.session_id, v_favored, v_settings) as s);
    elsif v_selection = 'split' then
        v_limit := 2 * (v_options ->> 'max_facts')::integer;
        v_found := array(
            select s
              from recall._search_memories(
                       v_session.user_id, p_request.query, p_request.query_embedding, v_limit,
                       v_filter || jsonb_build_object(
                           'kinds_none', coalesce(nullif(v_filter -> 'kinds_none', 'null'), '[]')
                                         || '["episode"]'),
                       v_as_of, v_session.session_id, v_favored, v_settings) as s);
        v_limit := 2 * (v_options ->> 'max_episodes')::integer;
        v_found := v_found || array(
            select s
              from recall._search_memories(
                       v_session.user_id, p_request.query, p_request.query_embedding, v_limit,
                       v_filter || '{"kinds": ["episode"]}', v_as_of, v_session.session_id,
                       v_favored, v_settings) as s
             where nullif(v_filter -> 'kinds', 'null') is null or v_filter -> 'kinds' ? 'episode');
    else
        v_limit := coalesce(2 * (v_options ->> 'max_memories')::bigint,
                            v_settings.exact_search_limit);
        v_found := array(
            select s
              from recall._listed_memories(
                       v_session.user_id, v_selection, v_limit, v_filter, v_as_of,
                       v_session.session_id, v_settings,
                       array(select jsonb_array_elements_text(v_options -> 'memory_ids')::uuid))
                   as s);
    end if;

    -- A match below the minimum means unrelated, except for instructions and memories of the time
    -- that the query names. Without the option, words alone leave nothing out. A line costs the
    -- memory's count plus its bullet, kind and date. A text that _plain_text changed is counted
    -- again.
    v_least := recall._least_match(p_request, v_found);
    return array(
        select row(
                   m, t.body,
                   case when v_is_bullets then 5 else 11 + (length(m.kind) + 1) / 2 end
                   + case when t.body = m.content then m.token_count
                          else recall._estimate_tokens(t.body) end,
                   false,
                   case when u.is_unrelated
                        then format('match %s, at least %s is asked', trunc(m.match::numeric, 3),
                                    trim_scale(round(v_least::numeric, 3))) end
               )::recall.context_candidate
          from unnest(v_found) as m
         cross join lateral (
                select coalesce(m.match < v_least
                                and m.kind <> 'instruction'
                                and (v_is_asked or m.similarity is not null)
                                and (m.observed_at <@ v_exempt) is not true, false)
               ) as u (is_unrelated)
         cross join lateral (select recall._plain_text(m.content) offset 0) as t (body)
         where p_with_left or not u.is_unrelated);
end;
$function$;

comment on function recall._candidate_memories(recall.context_request, bigint, boolean) is
    'Candidate memories of a context, best first, each with the tokens of its line.';

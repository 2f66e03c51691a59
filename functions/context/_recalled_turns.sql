-- Find older turns of all sessions that answer the query, best first.
-- They contain its words or are near enough, or are adjacent to such a turn, since question and
-- answer are seldom in one turn. Turns of this session from p_before_turn on are in its history.
-- Long turns are cut. A line costs the turn's count, or a safe estimate, plus its frame.
create or replace function recall._recalled_turns(
    p_request     recall.context_request,
    p_before_turn integer
)
returns recall.recalled_turn[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
as $function$
declare
    v_similarity constant real := 0.3;
    v_session   constant recall.sessions := p_request.session;
    v_settings  constant recall.settings := p_request.settings;
    v_embedding constant recall.memory_embedding.embedding%type := p_request.query_embedding;
    v_words     constant text[]          := recall._query_words(coalesce(p_request.query, ''),
                                                                p_request.settings);
    v_found recall.found_turn[];
    v_turns recall.recalled_turn[];
begin
    -- No search when the history contains all turns of the user.
    if v_words = '{}' and v_embedding is null
       or v_settings.recalled_turns = 0
       or recall._count_turns(v_session.user_id, null)
          <= v_session.turn_count - p_before_turn + 1 then
        return '{}'::recall.recalled_turn[];
    end if;

    v_found := recall._rank_turns(
        v_session.user_id, v_words, v_embedding,
        4 * v_settings.recalled_turns
        + greatest(0, v_session.turn_count - p_before_turn + 1),
        row(null, null, p_request.as_of, null, null, null)::recall.message_filter,
        p_request.favored,
        recall._cited_messages(v_session.user_id, p_request.query, v_embedding, v_settings),
        v_settings);

    with found as materialized (
        select f.*, f.lexical > 0 or coalesce(f.similarity >= v_similarity, false)
                    as answers
          from unnest(v_found) with ordinality as f
    )
    select array_agg(row(
               q.session_id, q.turn_index, q.created_at, q.score, q.similarity, q.lexical,
               q.own_part, q.neighbor_part, q.session_part, q.memory_part, q.speaker_part,
               q.feedback_part)::recall.found_turn
               order by q.ordinality)
      into v_found
      from (
            select f.*
              from found as f
             where (f.session_id <> v_session.session_id or p_before_turn is null
                    or f.turn_index < p_before_turn)
               and exists (
                       select from found as n
                        where n.answers
                          and n.session_id = f.session_id
                          and n.turn_index between f.turn_index - 1 and f.turn_index + 1)
             order by f.ordinality
             limit v_settings.recalled_turns
           ) as q;

    select array_agg(row(
               r.message_id, r.session_id, r.turn_index, l.line, r.created_at, s.created_at,
               recall._quote_tokens(l.line, l.quoted, r.content, r.token_count),
               -- The estimate of a date is ten tokens; it has six.
               r.score, l.heading,
               recall._estimate_tokens(l.heading) - 3)::recall.recalled_turn
               order by r.ordinality)
      into v_turns
      from recall._read_turns(v_session.user_id, v_found) with ordinality as r
      join recall._session_titles(
               v_session.user_id, array(select f.session_id from unnest(v_found) as f)) as s
        on s.session_id = r.session_id
     cross join lateral recall._quote_line(r.created_at, r.role, r.name, s.title,
                                           r.content) as l (heading, line, quoted)
     where l.line is not null;
    return coalesce(v_turns, '{}');
end;
$function$;

comment on function recall._recalled_turns(recall.context_request, integer) is
    'Older turns that answer a query, as lines of a context with their tokens, best first.';

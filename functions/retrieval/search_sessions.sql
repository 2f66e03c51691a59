-- Search sessions by their topics and their best turns, best first.
-- The topic is title and live summary, compared by words and vector. The best turn is that of
-- search_messages, relative to the best of all, and counts half. Without a query the last active
-- come first, with score 0. Always min(limit, sessions) rows. Reads only.
-- Raises  RC003 bad limit, RC004 bad vector.
create or replace function recall.search_sessions(
    p_user_id         uuid,
    p_query           text    default null,
    p_query_embedding recall.memory_embedding.embedding%type default null,
    p_limit           integer default 10
)
returns table (
    session_id uuid,
    title      text,
    summary    text,
    score      double precision,
    similarity double precision,
    lexical    double precision,
    topic_part double precision,
    turn_part  double precision,
    turn_index integer,
    role       text,
    content    text,
    active_at  timestamptz
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
set jit = off
as $function$
declare
    v_settings recall.settings;
    v_words    text[];
    v_ranked   recall.found_session[];
begin
    perform recall._check_user(p_user_id);
    perform recall._check_limit(p_limit);
    v_settings := recall._settings(p_user_id);
    perform recall._check_embedding(p_query_embedding, 'p_query_embedding', v_settings);
    v_words    := recall._query_words(coalesce(p_query, ''), v_settings);
    v_ranked   := recall._rank_sessions(
        p_user_id, p_query, v_words,
        -- A copy in memory: a value stored in a table would be fetched for each comparison.
        recall._subvector(p_query_embedding, 1, recall._vector_dims(p_query_embedding)), p_limit,
        v_settings);

    return query
    select r.session_id, r.title, r.summary, r.topic_part + r.turn_part, r.similarity, r.lexical,
           r.topic_part, r.turn_part, t.turn_index, t.role, t.content, r.active_at
      from unnest(v_ranked) with ordinality as r
      left join recall._read_turns(
               p_user_id,
               (select array_agg(u.turn) from unnest(v_ranked) as u where u.turn_part > 0)) as t
        on t.session_id = r.session_id
     order by r.ordinality;
end;
$function$;

comment on function recall.search_sessions(uuid, text, recall.memory_embedding.embedding%type,
    integer) is
    'Sessions of a user by title, summary and best turn, best first; without a query the last '
    'active first, with score 0. turn_index, role and content are those of the best turn.';

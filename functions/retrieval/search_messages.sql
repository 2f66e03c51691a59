-- Search turns of all sessions by words and meaning, best first.
-- A turn gains from a named speaker, the turns around it, its session and the memories that cite
-- it: question and answer are seldom in one turn. A turn of a time that the query names gains
-- settings.date_weight of its score (recall.query_dates). Retracted turns are never found. Reads
-- only.
-- Raises  RC003 bad limit or filter, RC004 bad vector.
create or replace function recall.search_messages(
    p_user_id         uuid,
    p_query           text,
    p_query_embedding recall.memory_embedding.embedding%type default null,
    p_limit           integer default 10,
    p_filter          jsonb   default '{}'
)
returns setof recall.found_message
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
    v_filter   recall.message_filter;
    v_words    text[];
    v_turns    recall.found_turn[];
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_filter, 'p_filter');
    perform recall._check_limit(p_limit);
    v_settings := recall._settings(p_user_id);
    perform recall._check_embedding(p_query_embedding, 'p_query_embedding', v_settings);
    if v_settings.has_sealed_users and p_query collate pg_c_utf8 ~ '\S'
       and recall._is_sealed_user(p_user_id) then
        raise exception using
            errcode = 'RC006',
            message = format('user %s is encrypted: the server cannot compare words of messages',
                             p_user_id),
            hint    = 'Search with a driver that has the key encryption key, or by a vector alone.';
    end if;
    v_filter   := recall._read_message_filter(p_user_id, p_filter);
    v_words    := recall._query_words(coalesce(p_query, ''), v_settings);
    v_turns    := recall._rank_turns(
        p_user_id, v_words, p_query_embedding, p_limit, v_filter,
        recall._favored_time(p_query, p_filter, null, v_settings),
        recall._cited_messages(p_user_id, p_query, p_query_embedding, v_settings), v_settings);
    return query
    select * from recall._read_turns(p_user_id, v_turns);
end;
$function$;

comment on function recall.search_messages(uuid, text, recall.memory_embedding.embedding%type,
    integer, jsonb) is
    'Turns of all sessions of a user, best first, with the parts that add up to the score. It '
    'finds turns that a worker''s embed job has indexed; an append enqueues the job. '
    'Filter: session_id, agent_id, since, until, roles, metadata (containment); asked_at (time of '
    'the query, for "last week"; default now), dates (false: such expressions favor nothing).';

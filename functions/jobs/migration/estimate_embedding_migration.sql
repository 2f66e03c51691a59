-- Estimate what embedding all texts again costs, without starting it.
-- Users with a model of their own are left out. The cost is NULL when recall.models has no price of
-- the model, and 0 for a local one.
-- Cost    one pass over the memories and messages.
-- Raises  RC003 no model.
create or replace function recall.estimate_embedding_migration(
    p_model text
)
returns table (
    memories        bigint,
    ended_memories  bigint,
    messages        bigint,
    summaries       bigint,
    texts           bigint,
    tokens          bigint,
    cost_microcents bigint
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_left_out constant uuid[] := array(
        select u.user_id
          from recall.users as u
         where u.overrides ? 'embedding_model'
            or not u.has_vectors);
    v_settings recall.settings;
    v_tokens   bigint;
begin
    select s.* into v_settings from recall.settings as s;
    if coalesce(p_model, '') = '' or length(p_model) > 200 then
        raise exception using
            errcode = 'RC003',
            message = format('p_model is %s', coalesce(quote_literal(left(p_model, 80)), 'null')),
            hint    = 'Pass the name of a model, such as openai:text-embedding-3-large or local.';
    end if;

    select count(*), coalesce(sum(m.token_count), 0)
      into memories, tokens
      from recall.memory_store as m
     where m.ended_at is null
       and m.user_id <> all (v_left_out);
    select count(*), coalesce(sum(m.token_count), 0)
      into ended_memories, v_tokens
      from recall.memory_embedding_ended as e
      join recall.memory_store as m on m.user_id = e.user_id and m.memory_id = e.memory_id
     where e.embedding_model = v_settings.embedding_model
       and e.user_id <> all (v_left_out);
    tokens := tokens + v_tokens;
    select count(*), coalesce(sum(h.token_count), 0)
      into messages, v_tokens
      from recall.message_search as i
      join recall.conversation_history as h
        on h.user_id    = i.user_id
       and h.session_id = i.session_id
       and h.turn_index = i.turn_index
       and h.created_at = i.created_at
     where i.embedding_model is distinct from v_settings.hidden_embedding_model
       and i.user_id <> all (v_left_out);
    tokens := tokens + v_tokens;
    select count(*), coalesce(sum(s.token_count), 0)
      into summaries, v_tokens
      from recall.session_summaries as s
     where s.ended_at is null
       and s.user_id <> all (v_left_out);
    tokens          := tokens + v_tokens;
    texts           := memories + ended_memories + messages + summaries;
    cost_microcents := case when p_model collate "C" ~ '^local(:|$)' then 0 else (
        select round(m.input_price::numeric * tokens / 1000000)
          from recall.models as m
         where m.model_id in (p_model, substring(p_model collate "C" from ':(.*)$'))
         limit 1) end;
    return next;
end;
$function$;

comment on function recall.estimate_embedding_migration(text) is
    'Estimate a change of the embedding model: texts by sort, tokens, and the cost in micro-cents '
    '(NULL: recall.models has no price of the model).';

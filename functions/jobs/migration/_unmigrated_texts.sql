-- Return texts of a user that have no vector of a new model yet, each with the name of its row.
-- These are active memories, ended memories whose vectors are kept, indexed messages, and live
-- summaries. Names are "memories ID", "messages SESSION:TURN" and "summaries ID".
-- Cost    anti-joins over the user's rows, each index-only. Planned for one partition.
create or replace function recall._unmigrated_texts(
    p_user_id uuid,
    p_model   text,
    p_limit   bigint
)
returns table (
    kind    text,
    id      text,
    content text
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set jit = off
as $function$
begin
    return query
    (select 'memories', m.memory_id::text, m.content
       from recall.memory_store as m
      where m.user_id = p_user_id
        and m.ended_at is null
        and not exists (
                select from recall.memory_embedding as e
                 where e.user_id         = p_user_id
                   and e.memory_id       = m.memory_id
                   and e.embedding_model = p_model)
      limit p_limit)
     union all
    (select 'memories', m.memory_id::text, m.content
       from recall.memory_embedding_ended as o
       join recall.memory_store as m on m.user_id = p_user_id and m.memory_id = o.memory_id
      where o.user_id          = p_user_id
        and o.embedding_model <> p_model
        and not exists (
                select from recall.memory_embedding_ended as e
                 where e.user_id         = p_user_id
                   and e.memory_id       = o.memory_id
                   and e.embedding_model = p_model)
      limit p_limit)
     union all
    (select 'messages', o.session_id || ':' || o.turn_index, t.body
       from recall.message_search as o
       join recall.conversation_history as h
         on h.user_id    = p_user_id
        and h.session_id = o.session_id
        and h.turn_index = o.turn_index
        and h.created_at = o.created_at
      cross join lateral (
            select recall._message_text(h.role::text, h.name, h.content, h.content_parts)
            offset 0
           ) as t (body)
      where o.user_id          = p_user_id
        and o.embedding_model <> p_model
        and t.body is not null
        and not exists (
                select from recall.message_search as e
                 where e.user_id         = p_user_id
                   and e.session_id      = o.session_id
                   and e.turn_index      = o.turn_index
                   and e.embedding_model = p_model)
      limit p_limit)
     union all
    (select 'summaries', s.summary_id::text, s.content
       from recall.session_summaries as s
      where s.user_id = p_user_id
        and s.ended_at is null
        and s.embedding_model is distinct from p_model
        and s.next_embedding_model is distinct from p_model
      limit p_limit)
     limit p_limit;
end;
$function$;

comment on function recall._unmigrated_texts(uuid, text, bigint) is
    'Texts of a user without a vector of a new model, with the names of their rows.';

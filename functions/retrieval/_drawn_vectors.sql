-- Draw stored vectors of users with more than exact_search_limit memories or messages, at random.
-- It samples about 500 pages, so its cost does not grow with the table. A user with more vectors is
-- drawn more often.
create or replace function recall._drawn_vectors(
    p_kind     text,
    p_settings recall.settings
)
returns table (
    user_id    uuid,
    memory_id  uuid,
    session_id uuid,
    turn_index integer,
    embedding  recall.memory_embedding.embedding%type
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_table   constant text := case p_kind when 'memories' then 'recall.memory_embedding'
                                           else 'recall.message_search' end;
    v_percent constant real := (
        select least(100, 100 * 500.0 * current_setting('block_size')::integer
                          / greatest(sum(pg_relation_size(l.relid)), 1))
          from recall._leaf_tables(v_table) as l);
begin
    if p_kind = 'memories' then
        return query
        select e.user_id, e.memory_id, null::uuid, null::integer, e.embedding
          from recall.memory_embedding as e tablesample system (v_percent)
          join recall.users as u on u.user_id = e.user_id
         where e.embedding_model = p_settings.embedding_model
           and u.active_memory_count > p_settings.exact_search_limit
         order by random();
        return;
    end if;

    return query
    with drawn as materialized (
        select m.user_id, m.session_id, m.turn_index, m.embedding
          from recall.message_search as m tablesample system (v_percent)
         where m.embedding_model = p_settings.embedding_model
    )
    select d.user_id, null::uuid, d.session_id, d.turn_index, d.embedding
      from drawn as d
     where d.user_id in (
               select o.user_id
                 from drawn as o
                group by o.user_id
               having recall._count_turns(o.user_id, null) > p_settings.exact_search_limit)
     order by random();
end;
$function$;

comment on function recall._drawn_vectors(text, recall.settings) is
    'Random stored vectors of users whose searches compare only candidates.';

-- Estimate the share of the turns in which each word occurs.
-- It samples 500 turns evenly over the sessions, enough to tell common words from rare ones without
-- reading every turn. Half an occurrence is added, so that no share is 0.
create or replace function recall._word_shares(
    p_user_id     uuid,
    p_words       text[],
    p_session_ids uuid[],
    p_turns       bigint,
    p_settings    recall.settings
)
returns double precision[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set enable_seqscan = off
set jit = off
as $function$
declare
    v_step         constant bigint := greatest(1, p_turns / 500);
    v_session_ids  uuid[];
    v_turn_indexes integer[];
begin
    if coalesce(p_words, '{}') = '{}' then
        return '{}'::double precision[];
    end if;

    select array_agg(s.session_id), array_agg(t.turn_index)
      into v_session_ids, v_turn_indexes
      from (
            select n.session_id, n.turn_count,
                   sum(n.turn_count) over (order by n.session_id) - n.turn_count as earlier
              from recall.sessions as n
             where n.user_id = p_user_id
               and (p_session_ids is null or n.session_id = any (p_session_ids))
           ) as s
     cross join lateral generate_series(
               v_step - s.earlier % v_step, s.turn_count, v_step) as t (turn_index);

    return array(
        with sample as materialized (
            select recall._found_words(m.search_vector, p_words) as words
              from unnest(v_session_ids, v_turn_indexes) as t (session_id, turn_index)
              join recall.message_search as m using (session_id, turn_index)
             where m.user_id = p_user_id
               and m.embedding_model is distinct from p_settings.hidden_embedding_model
        )
        select (count(f.word) + 0.5) / ((select count(*) from sample) + 1)
          from unnest(p_words) with ordinality as w (word, ordinal)
          left join (select unnest(a.words) as word from sample as a) as f using (word)
         group by w.ordinal
         order by w.ordinal);
end;
$function$;

comment on function recall._word_shares(uuid, text[], uuid[], bigint, recall.settings) is
    'Estimated shares of a user''s very many turns that contain each of some words.';

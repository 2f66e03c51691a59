-- Rank sessions for a query by their topics and best turns.
-- The cosines of summaries and best turns are normalized together, so that the only summary does
-- not count as near.
create or replace function recall._rank_sessions(
    p_user_id   uuid,
    p_query     text,
    p_words     text[],
    p_embedding recall.memory_embedding.embedding%type,
    p_limit     integer,
    p_settings  recall.settings
)
returns recall.found_session[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_turn_weight constant real    := 0.5;
    v_has_words   constant boolean := p_words <> '{}';
    v_has_vector  constant boolean := p_embedding is not null;
    v_near        constant double precision :=
        case when v_has_words and v_has_vector then p_settings.hybrid_similarity_weight
             else v_has_vector::integer end;
    v_said        constant double precision :=
        case when v_has_words and v_has_vector then p_settings.hybrid_lexical_weight
             else v_has_words::integer end;
    v_turns       recall.found_turn[];
    v_ranked      recall.found_session[];
begin
    if v_has_words or v_has_vector then
        v_turns := recall._best_turns(p_user_id, p_query, p_words, p_embedding, p_settings);
    end if;

    with topic as materialized (
        select * from recall._session_topics(p_user_id, p_words, p_embedding, p_settings)
    ),
    best as materialized (
        select t.session_id, t::recall.found_turn as turn, t.score, t.similarity
          from unnest(v_turns) as t
    ),
    span as materialized (
        select min(c.similarity) as lowest,
               nullif(max(c.similarity) - min(c.similarity), 0) as width
          from (
                select t.similarity from topic as t
                 union all
                select b.similarity from best as b
               ) as c
    ),
    scored as (
        select t.session_id, t.title, t.summary, t.similarity, t.lexical, t.active_at, b.turn,
               (1 - v_turn_weight)
               * (v_near * coalesce((t.similarity - s.lowest) / s.width,
                                    (t.similarity is not null)::integer)
                  + v_said * coalesce(t.lexical / nullif(max(t.lexical) over (), 0), 0))
                   as topic_part,
               v_turn_weight
               * coalesce(b.score / nullif(max(b.score) over (), 0), 0) as turn_part
          from topic as t
          left join best as b on b.session_id = t.session_id
         cross join span as s
    )
    select array_agg(row(
               n.session_id, n.title, n.summary, n.similarity, n.lexical, n.topic_part,
               n.turn_part, n.active_at, n.turn)::recall.found_session order by n.place)
      into v_ranked
      from (
            select s.*, row_number() over (order by s.topic_part + s.turn_part desc,
                                                    s.active_at desc, s.session_id) as place
              from scored as s
           ) as n
     where n.place <= p_limit;
    return v_ranked;
end;
$function$;

comment on function recall._rank_sessions(uuid, text, text[],
    recall.memory_embedding.embedding%type, integer, recall.settings) is
    'A user''s sessions for a query, with the parts that add up to their scores.';

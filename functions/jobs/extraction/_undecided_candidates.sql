-- Return the candidates of an extraction that need a model's decision, with similar memories.
-- SQL settles a candidate whose text is nearly known, whose slot names what it replaces, or that
-- has no similar memory. Candidates with a decision are left out.
create or replace function recall._undecided_candidates(
    p_session  recall.sessions,
    p_made     jsonb,
    p_vectors  recall.jobs.vectors%type,
    p_settings recall.settings
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_count      constant integer := jsonb_array_length(p_made -> 'candidates');
    v_candidates jsonb;
    v_embeddings recall.memory_embedding.embedding%type[];
    v_memory     recall.memory_store;
    v_neighbors  jsonb;
    v_goals      uuid[];
    v_open       jsonb := jsonb '[]';
begin
    if v_count = 0 then
        return v_open;
    end if;
    v_candidates := recall._extracted_candidates(
        p_session, (p_made ->> 'from_turn')::integer, (p_made ->> 'through_turn')::integer,
        p_made -> 'candidates');
    perform recall._check_candidates(v_candidates, 'candidates', '{}', p_settings);
    v_embeddings := recall._candidate_embeddings(
        v_candidates, case when cardinality(p_vectors) >= v_count then p_vectors[1:v_count] end,
        p_settings);

    for v_place in 1 .. v_count loop
        continue when p_made -> 'decisions'
                      @> jsonb_build_array(jsonb_build_object('ordinal', v_place));
        v_memory := (recall._candidate_rows(
            p_session.user_id, p_session, jsonb_build_array(v_candidates -> (v_place - 1)),
            array[gen_random_uuid()], now(), p_settings))[1];
        -- A candidate with a slot is shown beside similar goals only: "User is VP of Engineering."
        -- may achieve one. After any other decision it stays as SQL settles it (is_settled).
        if v_memory.slot is not null then
            v_goals := coalesce(v_goals, recall._open_goals(p_session.user_id));
            continue when v_goals = '{}';
        end if;
        continue when recall._is_known(v_memory, v_embeddings[v_place], p_settings);

        v_neighbors := recall._neighbors_json(v_memory, v_embeddings[v_place]);
        if v_memory.slot is not null then
            v_neighbors := (
                select coalesce(jsonb_agg(n.neighbor order by n.place), '[]')
                  from jsonb_array_elements(v_neighbors) with ordinality as n (neighbor, place)
                 where (n.neighbor ->> 'memory_id')::uuid = any (v_goals));
        end if;
        continue when v_neighbors = '[]';
        v_open := v_open || jsonb_build_object(
            'ordinal', v_place, 'content', v_memory.content, 'kind', v_memory.kind,
            'neighbors', v_neighbors, 'is_settled', v_memory.slot is not null);
    end loop;
    return v_open;
end;
$function$;

comment on function recall._undecided_candidates(recall.sessions, jsonb, recall.jobs.vectors%type,
    recall.settings) is
    'Candidates of an extraction that a model has to decide about, each with similar memories.';

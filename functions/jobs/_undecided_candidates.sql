-- Return the candidates of an extraction that still need a model's decision.
create or replace function recall._undecided_candidates(
    p_session  recall.sessions,
    p_made     jsonb,
    p_vectors  halfvec[],
    p_settings recall.settings
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_count      constant integer := jsonb_array_length(p_made -> 'candidates');
    v_candidates jsonb;
    v_embeddings halfvec[];
begin
    if v_count = 0 then
        return jsonb '[]';
    end if;
    v_candidates := recall._extracted_candidates(
        p_session, (p_made ->> 'from_turn')::integer, (p_made ->> 'through_turn')::integer,
        p_made -> 'candidates');
    perform recall._check_candidates(v_candidates, 'candidates', '{}', p_settings);
    v_embeddings := recall._candidate_embeddings(
        v_candidates, case when cardinality(p_vectors) >= v_count then p_vectors[1:v_count] end);
    return (
        select coalesce(jsonb_agg(o.item order by o.place), '[]')
          from jsonb_array_elements(recall._open_candidates(
                   p_session, v_candidates, v_embeddings, p_settings))
               with ordinality as o (item, place)
         where not p_made -> 'decisions'
               @> jsonb_build_array(jsonb_build_object('ordinal', o.item -> 'ordinal')));
end;
$function$;

comment on function recall._undecided_candidates(recall.sessions, jsonb, halfvec[],
    recall.settings) is
    'Candidates of an extraction that still need a model''s decision, with their neighbors.';

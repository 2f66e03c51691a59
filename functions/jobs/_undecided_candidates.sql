-- Return the candidates of an extraction that still need a model's decision.
create or replace function recall._undecided_candidates(
    p_session  recall.sessions,
    p_made     jsonb,
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
        v_candidates, recall._embeddings_from_json(
            case when jsonb_array_length(p_made -> 'vectors') >= v_count
                 then jsonb_path_query_array(
                     p_made -> 'vectors', format('$[0 to %s]', v_count - 1)::jsonpath) end));
    return (
        select coalesce(jsonb_agg(o.item order by o.place), '[]')
          from jsonb_array_elements(recall._open_candidates(
                   p_session, v_candidates, v_embeddings, p_settings))
               with ordinality as o (item, place)
         where not p_made -> 'decisions'
               @> jsonb_build_array(jsonb_build_object('ordinal', o.item -> 'ordinal')));
end;
$function$;

comment on function recall._undecided_candidates(recall.sessions, jsonb, recall.settings) is
    'Candidates of an extraction that still need a model''s decision, with their neighbors.';

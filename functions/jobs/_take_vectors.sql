-- Take a batch of vectors into the state of a job: those of the request in flight, in its order.
-- Null stands for a text that has none. Those of a model that settings no longer name are left out.
create or replace function recall._take_vectors(
    p_work   jsonb,
    p_answer jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_work    constant jsonb   := (p_work - 'question')
                                  || jsonb_build_object('answered', p_work -> 'question');
    v_wanted  constant integer := (p_work #>> '{question,count}')::integer;
    v_vectors constant jsonb   := coalesce(nullif(p_answer -> 'vectors', 'null'), '[]');
    v_read    halfvec[];
begin
    if p_work #>> '{question,model}' <> (select s.embedding_model from recall.settings as s) then
        return v_work;
    end if;
    if jsonb_array_length(v_vectors) <> v_wanted then
        return v_work || jsonb_build_object('failure', jsonb_build_object(
            'error', format('%s vectors of %s texts', jsonb_array_length(v_vectors), v_wanted),
            'is_final', false, 'is_ours', true));
    end if;
    v_read := recall._embeddings_from_json(v_vectors);
    return v_work || jsonb_build_object('embedder', p_work #> '{question,model}', 'made', jsonb_set(
        p_work -> 'made', '{vectors}',
        coalesce(p_work #> '{made,vectors}', '[]')
        || coalesce((select jsonb_agg(v.vector::text order by v.place)
                       from unnest(v_read) with ordinality as v (vector, place)), '[]')));
exception when sqlstate 'RC004' then
    return v_work || jsonb_build_object('failure', jsonb_build_object(
        'error', 'RC004 ' || sqlerrm, 'is_final', true));
end;
$function$;

comment on function recall._take_vectors(jsonb, jsonb) is
    'State of a job with a batch of vectors taken; a failure when they are none.';

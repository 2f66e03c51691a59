-- Read a batch of vectors, those of the request in flight in its order, and the state after them.
-- Null stands for a text that has none. Those of a model that settings no longer name are left out.
-- Raises  RC003 vectors that are none and that no client could read again; _check_answer leaves
--         their numbers to this function.
create or replace function recall._take_vectors(
    p_work   jsonb,
    p_answer jsonb,
    out o_work    jsonb,
    out o_vectors halfvec[]
)
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_wanted  constant integer := (p_work #>> '{question,count}')::integer;
    v_vectors constant jsonb   := coalesce(nullif(p_answer -> 'vectors', 'null'), '[]');
begin
    o_work := (p_work - 'question') || jsonb_build_object('answered', p_work -> 'question');
    if p_work #>> '{question,model}' <> (select s.embedding_model from recall.settings as s) then
        return;
    end if;
    if jsonb_array_length(v_vectors) <> v_wanted then
        perform recall._check_json(p_answer, 'p_answer');
        o_work := o_work || jsonb_build_object('failure', jsonb_build_object(
            'error', format('%s vectors of %s texts', jsonb_array_length(v_vectors), v_wanted),
            'is_final', false, 'is_ours', true));
        return;
    end if;
    o_vectors := recall._embeddings_from_json(v_vectors);
    o_work    := o_work || jsonb_build_object('embedder', p_work #> '{question,model}');
exception when sqlstate 'RC004' then
    perform recall._check_json(p_answer, 'p_answer');
    o_work := o_work || jsonb_build_object('failure', jsonb_build_object(
        'error', 'RC004 ' || sqlerrm, 'is_final', true));
end;
$function$;

comment on function recall._take_vectors(jsonb, jsonb) is
    'State of a job with a batch of vectors taken; a failure when they are none.';

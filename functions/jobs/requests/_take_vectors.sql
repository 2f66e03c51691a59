-- Read a batch of vectors, in the order of the request in flight, into the state of a job.
-- Null stands for a text without a vector. Vectors of a model that the settings no longer name are
-- dropped. Token counts follow the vectors; a list of another length is ignored.
-- Raises  RC003 vectors that are invalid and whose numbers no client could read back: _check_answer
--         leaves their numbers to this function.
create or replace function recall._take_vectors(
    p_work   jsonb,
    p_answer jsonb,
    out o_work    jsonb,
    out o_vectors recall.jobs.vectors%type
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_wanted  constant integer := (p_work #>> '{question,count}')::integer;
    v_vectors constant jsonb   := coalesce(nullif(p_answer -> 'vectors', 'null'), '[]');
    v_counts  constant jsonb   := nullif(p_answer -> 'token_counts', 'null');
begin
    o_work := (p_work - 'question') || jsonb_build_object('answered', p_work -> 'question');
    if p_work #>> '{question,model}' <> p_work ->> 'embedding_model' then
        return;
    end if;
    if jsonb_array_length(v_vectors) <> v_wanted then
        perform recall._check_json(p_answer, 'p_answer', 64, 2147483647);
        o_work := o_work || jsonb_build_object('failure', jsonb_build_object(
            'error', format('%s vectors of %s texts', jsonb_array_length(v_vectors), v_wanted),
            'is_final', false, 'is_ours', true));
        return;
    end if;
    o_vectors := recall._embeddings_from_json(
        v_vectors, p_work ->> 'embedding_model', (p_work ->> 'dimensions')::integer);
    o_work    := o_work || jsonb_build_object('embedder', p_work #> '{question,model}');
    if jsonb_array_length(v_counts) = v_wanted then
        o_work := o_work || jsonb_build_object(
            'token_counts', coalesce(p_work -> 'token_counts', '[]') || v_counts);
    end if;
exception when sqlstate 'RC004' then
    perform recall._check_json(p_answer, 'p_answer', 64, 2147483647);
    o_work := o_work || jsonb_build_object('failure', jsonb_build_object(
        'error', 'RC004 ' || sqlerrm, 'is_final', true));
end;
$function$;

comment on function recall._take_vectors(jsonb, jsonb) is
    'State of a job after a batch of vectors; a failure when they are invalid.';

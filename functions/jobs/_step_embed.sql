-- Vectors of messages, memories and summaries that have none: a question for each batch that the
-- worker takes at once.
-- `made` maps what has a vector by now to it, so that a text which was embedded or ended meanwhile
-- does not matter.
create or replace function recall._step_embed(
    p_job  recall.jobs,
    p_work jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_batch constant integer := coalesce((p_work #>> '{worker,embed_batch}')::integer, 64);
    v_input constant jsonb   := recall._embed_input(p_job.user_id, p_job.session_id);
    v_keys  constant jsonb   := jsonb '{"messages": "turn_index", "memories": "memory_id",
                                        "summaries": "summary_id"}';
    v_ids    constant jsonb  := p_work #> '{answered,keep,ids}';
    v_vectors jsonb := coalesce(p_work #> '{made,done}', '{}');
    v_wanted  jsonb;
    v_texts   jsonb;
    v_result  jsonb;
begin
    -- What the embedder made
    if p_work #> '{made,vectors}' is not null then
        v_vectors := v_vectors || (
            select jsonb_object_agg(i.id, p_work #> array['made', 'vectors', (i.place - 1)::text])
              from jsonb_array_elements_text(v_ids) with ordinality as i (id, place));
    end if;

    -- The texts that are left
    select jsonb_agg(t.id order by t.place), jsonb_agg(t.piece order by t.place)
      into v_wanted, v_texts
      from (
            select k.key || ' ' || (e.item ->> k.value) as id,
                   recall._bound_piece(
                       recall._embed_piece(e.item ->> 'text', (p_work -> 'is_sealed')::boolean),
                       e.item -> 'memory_id') as piece,
                   row_number() over (order by k.key, e.place) as place
              from jsonb_each_text(v_keys) as k
             cross join lateral jsonb_array_elements(v_input -> k.key)
                                with ordinality as e (item, place)
             where not v_vectors ? (k.key || ' ' || (e.item ->> k.value))
             order by place
             limit v_batch
           ) as t;
    if v_wanted is not null then
        return jsonb_build_object(
            'made', jsonb_build_object('done', v_vectors),
            'embed', jsonb_build_object('texts', v_texts,
                                        'keep', jsonb_build_object('ids', v_wanted)));
    end if;

    -- All of them; what the embedder had no vector for stays without one.
    select jsonb_object_agg(k.key, (
               select coalesce(jsonb_agg(jsonb_build_object(
                          k.value, e.item -> k.value,
                          'embedding', v_vectors -> (k.key || ' ' || (e.item ->> k.value)))
                          order by e.place), '[]')
                 from jsonb_array_elements(v_input -> k.key) with ordinality as e (item, place)
                where v_vectors ->> (k.key || ' ' || (e.item ->> k.value)) is not null))
      into v_result
      from jsonb_each_text(v_keys) as k;
    return jsonb_build_object(
        'made', jsonb_build_object('done', v_vectors),
        'result', v_result || jsonb_strip_nulls(jsonb_build_object(
            'embedding_model', v_input -> 'model', 'through_turn', v_input -> 'through_turn')));
end;
$function$;

comment on function recall._step_embed(recall.jobs, jsonb) is
    'The step of an embed job: a question for each batch of texts.';

-- Run an embed job: ask for missing vectors of messages, memories and summaries, batch by batch.
-- `made.done` names the texts that the embedder has seen, in the order of the job's vectors. The
-- effect skips texts that were embedded or ended meanwhile.
create or replace function recall._step_embed(
    p_job  recall.jobs,
    p_work jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_batch constant integer := coalesce((p_work #>> '{worker,embed_batch}')::integer, 64);
    v_keys  constant jsonb   := jsonb '{"messages": "turn_index", "memories": "memory_id",
                                        "summaries": "summary_id"}';
    v_keep  constant jsonb   := p_work #> '{answered,keep}';
    v_done    jsonb := coalesce(p_work #> '{made,done}', '[]');
    v_through jsonb := v_keep -> 'through_turn';
    v_input   jsonb;
    v_wanted  jsonb;
    v_texts   jsonb;
    v_is_last boolean := false;
    v_result  jsonb;
begin
    -- The vectors of the last batch
    if cardinality(p_job.vectors) > jsonb_array_length(v_done) then
        v_done    := v_done || (v_keep -> 'ids');
        v_is_last := v_keep -> 'is_last' = 'true';
    end if;

    -- The remaining texts, read again only when they exceeded one batch
    if not v_is_last then
        v_input   := case
            when p_job.payload ? 'mode'
            then recall._migration_input(p_job.user_id, p_job.payload ->> 'mode')
            else recall._embed_input(p_job.user_id, p_job.session_id) end;
        v_through := v_input -> 'through_turn';
        select jsonb_agg(t.id order by t.place) filter (where t.place <= v_batch),
               jsonb_agg(t.piece order by t.place) filter (where t.place <= v_batch),
               count(*) <= v_batch
          into v_wanted, v_texts, v_is_last
          from (
                select k.key || ' ' || (e.item ->> k.value) as id,
                       case when p_work -> 'is_sealed' = 'true'
                            then jsonb_build_object('ciphertext', e.item -> 'text',
                                                    'row', e.item -> 'memory_id')
                            else e.item -> 'text' end as piece,
                       row_number() over (order by k.key, e.place) as place
                  from jsonb_each_text(v_keys) as k
                 cross join lateral jsonb_array_elements(v_input -> k.key)
                                    with ordinality as e (item, place)
                 where not v_done ? (k.key || ' ' || (e.item ->> k.value))
               ) as t;
    end if;
    if v_wanted is not null then
        return jsonb_build_object(
            'made', jsonb_build_object('done', v_done),
            'embed', jsonb_build_object('texts', v_texts, 'keep', jsonb_build_object(
                'ids', v_wanted, 'is_last', v_is_last, 'through_turn', v_through)));
    end if;

    -- All texts are done; those without a vector from the embedder stay without one.
    select coalesce(jsonb_agg(case when v.vector is not null then v.id end), '[]')
      into v_result
      from rows from (jsonb_array_elements(v_done), unnest(p_job.vectors)) as v (id, vector);
    return jsonb_build_object(
        'made', jsonb_build_object('done', v_done),
        'result', jsonb_strip_nulls(jsonb_build_object(
            'texts', v_result, 'embedding_model', p_work -> 'embedder',
            'through_turn', v_through)));
end;
$function$;

comment on function recall._step_embed(recall.jobs, jsonb) is
    'The step of an embed job: a question for each batch of texts.';

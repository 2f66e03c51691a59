-- Apply consecutive ADD decisions together, and return their outcomes in order.
-- Placed together, the twenty memories of an extraction take half of the time. They are placed one
-- by one when their session may not write all untrusted texts among them.
create or replace function recall._apply_additions(
    p_user_id    uuid,
    p_session    recall.sessions,
    p_decisions  jsonb,
    p_embeddings recall.jobs.vectors%type,
    p_settings   recall.settings,
    p_job_id     uuid
)
returns recall.placed_memory[]
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_count      constant integer := jsonb_array_length(p_decisions);
    v_candidates jsonb;
    v_models     text[];
    v_memories   recall.memory_store[];
    v_untrusted  bigint;
    v_placed     recall.placed_memory[] := '{}'::recall.placed_memory[];
begin
    -- jsonb_strip_nulls would remove the nulls inside metadata, too.
    select jsonb_agg(c.candidate order by e.place),
           array_agg(coalesce(c.candidate ->> 'embedding_model', p_settings.embedding_model)
                     order by e.place)
      into v_candidates, v_models
      from jsonb_array_elements(p_decisions) with ordinality as e (decision, place)
     cross join lateral (
            select coalesce(jsonb_object_agg(k.key, k.value), '{}')
              from jsonb_each(e.decision - '{decision,target_id}'::text[]) as k
             where k.value <> 'null'
            offset 0  -- prevents subquery pull-up, which would compute it twice
           ) as c (candidate);
    v_memories := recall._candidate_rows(p_user_id, p_session, v_candidates,
                                         recall._uuids(v_count), clock_timestamp(), p_settings);

    select count(*)
      into v_untrusted
      from unnest(v_memories) as m
     where m.provenance >= 'tool_output';
    if v_untrusted = 0
       or (v_untrusted <= recall._source_room(p_user_id, p_session.session_id,
                                              p_settings)) is not false then
        return array(
            select row(p.memory_id, p.outcome)::recall.placed_memory
              from recall._place_memories(v_memories, p_embeddings, v_models, p_settings,
                                          p_job_id) as p
             order by p.ordinal);
    end if;
    for v_place in 1 .. v_count loop
        v_placed := v_placed || recall._apply_decision(
            p_user_id, p_session, p_decisions -> (v_place - 1), p_embeddings[v_place], p_settings,
            p_job_id);
    end loop;
    return v_placed;
end;
$function$;

comment on function recall._apply_additions(uuid, recall.sessions, jsonb, recall.jobs.vectors%type,
    recall.settings, uuid) is
    'Apply consecutive ADD decisions; outcomes in order.';

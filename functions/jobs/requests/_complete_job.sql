-- Apply the result of a step by the kind of its job, and delete the job.
-- When the session has changed meanwhile, the result has no effect, and the job is due again. A job
-- whose mode is none by now ends instead, also in its last attempt.
-- o_next is what next_request returns; o_span times the effect.
-- Raises  RC001, RC003, RC004 for an invalid result.
create or replace function recall._complete_job(
    p_job    recall.jobs,
    p_result jsonb,
    out o_next jsonb,
    out o_span recall.job_phases
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_started constant timestamptz := clock_timestamp();
    -- The lists of a result. A verbatim extraction names messages instead of candidates.
    v_lists   constant text[]      := case
        when p_result ?| '{candidates,episodes,merges,texts}'
            then '{candidates,episodes,merges,texts}'::text[] else '{message_ids}'::text[] end;
    -- from_turn is the last turn before; a result without a later turn has read none
    v_has_turns constant boolean   := coalesce((p_result ->> 'through_turn')::integer
                                               > (p_result ->> 'from_turn')::integer, false);
    v_items   integer := 0;
    v_is_done boolean;
    v_is_none boolean := false;
    v_reason  text;
begin
    v_is_done := case
        when p_job.kind = 'extract' and p_job.payload ->> 'mode' = 'verbatim'
            then recall._finish_verbatim(p_job, p_result)
        when p_job.kind = 'extract' then recall._finish_extract(p_job, p_result)
        when p_job.kind = 'embed' then recall._finish_embed(p_job, p_result)
        when p_job.kind = 'summarize' then recall._finish_summarize(p_job, p_result)
        when p_job.kind = 'compact' then recall._finish_compact(p_job, p_result)
        when p_job.kind = 'merge' then recall._finish_merge(p_job, p_result)
        when p_job.kind = 'pattern' then recall._finish_pattern(p_job, p_result)
    end;

    if v_is_done then
        select count(*) + (p_result ->> 'content' <> '' is true)::integer
          into v_items
          from jsonb_each(p_result) as e
         cross join lateral jsonb_path_query(e.value, '$[*] ? (@ != null)')
         where e.key = any (v_lists);
    else
        v_is_none := coalesce(recall._changed_mode(p_job) = 'none', false);
        v_reason  := case when v_is_none then 'the session has opted out'
                          else 'the session moved on' end;
    end if;
    o_span := recall._phase_row(p_job, jsonb_build_object(
        'phase', 'persist',
        'duration_ms', greatest(0, 1000 * extract(epoch from clock_timestamp() - v_started)),
        'items', v_items,
        'from_turn', case when v_has_turns then (p_result ->> 'from_turn')::integer + 1 end,
        'to_turn', case when v_has_turns then p_result -> 'through_turn' end,
        'error', v_reason));
    if not v_is_done then
        o_next := case when v_is_none then recall._follow_mode(p_job, 'none')
                       else recall._defer_job(p_job, '{}', v_reason) end;
        return;
    end if;

    delete from recall.jobs as j
     where j.user_id = p_job.user_id
       and j.job_id  = p_job.job_id;
    o_next := jsonb_build_object('type', 'done', 'outcome', jsonb_build_object(
        'kind', p_job.kind, 'items', v_items)
        || case when p_result -> 'refused' <> '[]'
                then jsonb_build_object('refused', jsonb_array_length(p_result -> 'refused'))
                else jsonb '{}' end);
end;
$function$;

comment on function recall._complete_job(recall.jobs, jsonb) is
    'Apply a result and complete its job, or defer the job; returns what next_request returns, and '
    'the span of the effect.';

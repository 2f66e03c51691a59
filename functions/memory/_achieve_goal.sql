-- Mark an active goal as achieved: low importance, metadata.achieved_at, no review.
-- A goal that was achieved before stays unchanged. The caller has locked the user.
create or replace function recall._achieve_goal(
    p_goal   recall.memory_store,
    p_detail jsonb default '{}',
    p_job_id uuid  default null
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_importance constant real        := 0.2;
    v_now        constant timestamptz := clock_timestamp();
begin
    if p_goal.metadata ? 'achieved_at' then
        return;
    end if;
    p_goal.importance := least(p_goal.importance, v_importance);
    p_goal.metadata   := p_goal.metadata || jsonb_build_object('achieved_at', v_now);
    p_goal.review_at  := null;
    p_goal.updated_at := v_now;
    perform recall._update_memory(p_goal);
    perform recall._log_event(p_goal.user_id, p_goal.memory_id, 'achieved', p_detail, p_job_id);
end;
$function$;

comment on function recall._achieve_goal(recall.memory_store, jsonb, uuid) is
    'Mark an active goal as achieved.';

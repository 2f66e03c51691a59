-- Close a dispute: link the disputed row to its successor, or retract it without one.
create or replace function recall._close_dispute(
    p_dispute     recall.memory_store,
    p_successor   uuid,
    p_is_accepted boolean default null
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_now    timestamptz := clock_timestamp();
    v_reason text        := case when p_successor is null then 'retracted' else 'superseded' end;
begin
    update recall.memory_store as m
       set end_reason    = v_reason,
           valid_from    = case when p_successor is null then m.valid_from
                                else coalesce(m.valid_from, m.observed_at) end,
           valid_to      = case when p_successor is null then m.valid_to
                                else coalesce(m.valid_from, m.observed_at) end,
           superseded_by = p_successor,
           disputes      = null,
           updated_at    = v_now
     where m.user_id   = p_dispute.user_id
       and m.memory_id = p_dispute.memory_id;

    perform recall._log_event(
        p_dispute.user_id, p_dispute.memory_id,
        case when coalesce(p_is_accepted, p_successor is not null) then 'dispute_accepted'
             else 'dispute_refused' end,
        jsonb_build_object('disputes', p_dispute.disputes, 'by', p_successor));
end;
$function$;

comment on function recall._close_dispute(recall.memory_store, uuid, boolean) is
    'Settle a disputed row: superseded by the accepted one, or retracted.';

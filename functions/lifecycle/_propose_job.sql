-- Enqueue a job about a set of memories, and log the proposal in their audit.
-- The audit keeps a set that the model declined from being proposed again every day. Returns false
-- when an equal job is ready already.
create or replace function recall._propose_job(
    p_user_id    uuid,
    p_kind       text,
    p_key        text,
    p_memory_ids uuid[],
    p_payload    jsonb,
    p_detail     jsonb
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_job_id uuid;
begin
    v_job_id := recall._enqueue_job(
        p_user_id, p_kind, null, p_key,
        p_payload || jsonb_build_object('memory_ids', to_jsonb(p_memory_ids)));
    if v_job_id is null then
        return false;
    end if;

    perform recall._log_events(p_user_id, p_memory_ids, 'proposed', array[p_detail], v_job_id);
    return true;
end;
$function$;

comment on function recall._propose_job(uuid, text, text, uuid[], jsonb, jsonb) is
    'Enqueue a job about a set of memories, and log it in their audit.';

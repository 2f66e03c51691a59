-- Accept or refuse a disputed memory on behalf of a person; return the memory that stands.
-- Accepted: a new, confirmed row with the disputed text supersedes the contradicted memory.
-- Accepted retraction: the contradicted memory ends. Refused: the disputed row counts as retracted.
-- Locks   the user, the jobs (for a retraction).
-- Raises  RC001, RC003 no open dispute.
create or replace function recall.resolve_dispute(
    p_user_id   uuid,
    p_memory_id uuid,
    p_accept    boolean
)
returns uuid
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_settings recall.settings;
    v_dispute  recall.memory_store;
    v_target   recall.memory_store;
    v_stands   uuid;
begin
    perform recall._check_user(p_user_id);
    v_settings := recall._settings(p_user_id);
    perform recall._lock_user_and_bump_revision(p_user_id);
    v_dispute := recall._read_memory(p_user_id, p_memory_id);
    if v_dispute.disputes is null or p_accept is null then
        raise exception using
            errcode = 'RC003',
            message = format('memory %s is not an open dispute, or p_accept is null', p_memory_id),
            hint    = 'recall.list_disputes lists the open ones.';
    end if;
    v_target := recall._end_of_chain(p_user_id, v_dispute.disputes);
    v_stands := v_target.memory_id;

    if p_accept and recall._asks_to_retract(p_user_id, p_memory_id) then
        if v_target.ended_at is null then
            perform recall._end_memory(v_target, 'retracted', clock_timestamp(),
                                       p_detail => jsonb_build_object('dispute', p_memory_id));
        end if;
        perform recall._close_dispute(v_dispute, null, true);
        return null;
    end if;
    if p_accept then
        if v_target.ended_at is not null then
            v_target := null;
        end if;
        select p.memory_id
          into v_stands
          from recall._place_memory(
                   recall._confirmed_memory(v_dispute, recall.uuidv7(), clock_timestamp()),
                   recall._vector_of(p_user_id, p_memory_id, v_settings.embedding_model),
                   v_settings.embedding_model, v_settings, v_target) as p;
    end if;
    perform recall._close_dispute(v_dispute, case when p_accept then v_stands end);
    return v_stands;
end;
$function$;

comment on function recall.resolve_dispute(uuid, uuid, boolean) is
    'Accept or refuse a disputed memory. Returns the id of the memory that stands; NULL when an '
    'accepted dispute ends the memory without a successor.';

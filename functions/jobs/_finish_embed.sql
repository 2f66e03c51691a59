-- recall._finish_embed(job, result) -> done? (false: the world moved)
-- Locks   the user, the session, the memories.
create or replace function recall._finish_embed(
    p_job    recall.jobs,
    p_result jsonb
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_settings recall.settings := recall._settings(p_job.user_id);
    v_through  integer;
    v_more     boolean         := false;
    v_vector   jsonb;
begin
    perform recall._check_keys(p_result, '{embedding_model,messages,memories,through_turn}',
                               'p_result');
    perform recall._check_model(p_result, v_settings);
    v_through := recall._integer(p_result, 'through_turn');

    for v_vector in
        select e.item
          from jsonb_array_elements(coalesce(p_result -> 'memories', '[]')) as e (item)
         order by e.item ->> 'memory_id'
    loop
        perform recall._embed_if_active(
            p_job.user_id, (v_vector ->> 'memory_id')::uuid,
            recall._embedding_from_json(v_vector -> 'embedding',
                                        'memory ' || coalesce(v_vector ->> 'memory_id', 'null')),
            v_settings.embedding_model);
    end loop;

    if v_through is not null then
        v_more := recall._index_messages(
            recall._lock_session(p_job.user_id, p_job.session_id), v_through,
            coalesce(p_result -> 'messages', '[]'), v_settings);
        if v_more is null then
            return false;
        end if;
    end if;

    if v_more or recall._has_unembedded(p_job.user_id, v_settings.embedding_model) then
        perform recall.enqueue_job(p_job.user_id, 'embed', p_job.session_id, p_job.dedupe_key);
    end if;
    return true;
end;
$function$;

comment on function recall._finish_embed(recall.jobs, jsonb) is
    'Store the vectors of a leased embed job; enqueues again when more texts wait.';

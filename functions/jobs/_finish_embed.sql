-- recall._finish_embed(job, result) -> done? (false: the world moved)
-- More texts wait only when this job made some progress: what a model cannot embed must not keep
-- a worker busy for ever.
-- Locks   the user, the session, the memories.
-- Raises  RC004 settings name another embedding model since the vectors were made.
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
    v_settings  recall.settings := recall._settings(p_job.user_id);
    v_memories  constant jsonb  := p_result -> 'memories';
    v_summaries constant jsonb  := p_result -> 'summaries';
    v_more      boolean         := false;
    v_vector    jsonb;
begin
    perform recall._check_model(p_result, v_settings);
    if p_job.session_id is not null and v_settings.embed_messages then
        v_more := recall._index_messages(
            recall._lock_session(p_job.user_id, p_job.session_id),
            (p_result ->> 'through_turn')::integer, p_result -> 'messages', v_settings);
        if v_more is null then
            return false;
        end if;
    end if;

    if v_memories <> '[]' then
        perform recall._lock_user_and_bump_revision(p_job.user_id);
    end if;
    for v_vector in
        select e.item
          from jsonb_array_elements(v_memories) as e (item)
         order by e.item ->> 'memory_id'
    loop
        perform recall._embed_if_wanted(
            p_job, (v_vector ->> 'memory_id')::uuid,
            recall._embedding_from_json(v_vector -> 'embedding',
                                        'memory ' || (v_vector ->> 'memory_id')),
            v_settings);
    end loop;

    if v_summaries <> '[]' then
        perform recall._embed_summaries(p_job.user_id, v_summaries, v_settings);
        v_more := v_more or exists (
            select from recall._unembedded_summaries(p_job.user_id, v_settings) as u
             where u.summary_id::text <> all (array(
                       select e.item ->> 'summary_id'
                         from jsonb_array_elements(v_summaries) as e (item))));
    end if;

    if v_more or v_memories <> '[]'
                 and recall._has_unembedded(p_job.user_id, v_settings.embedding_model) then
        perform recall._enqueue_job(p_job.user_id, 'embed', p_job.session_id, p_job.dedupe_key);
    end if;
    return true;
end;
$function$;

comment on function recall._finish_embed(recall.jobs, jsonb) is
    'Store the vectors of a leased embed job; enqueues again when more texts wait.';

-- Store the late vector of a memory that is active and has none of the model yet.
-- Since the input was read, the memory may have ended or got its vector from another call. The
-- caller has locked the user's row.
create or replace function recall._embed_if_wanted(
    p_job       recall.jobs,
    p_memory_id uuid,
    p_embedding halfvec,
    p_settings  recall.settings
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
begin
    if p_embedding is not null and exists (
        select from recall.memory_store as m
         where m.user_id   = p_job.user_id
           and m.memory_id = p_memory_id
           and m.ended_at is null
           and not exists (
                   select from recall.memory_embedding as e
                    where e.user_id         = p_job.user_id
                      and e.memory_id       = p_memory_id
                      and e.embedding_model = p_settings.embedding_model)
    ) then
        perform recall._embed_memory(p_job.user_id, p_memory_id, p_embedding,
                                     p_settings.embedding_model, p_settings, p_job.job_id);
    end if;
end;
$function$;

comment on function recall._embed_if_wanted(recall.jobs, uuid, halfvec, recall.settings) is
    'Store the late vector of a memory that is active and has none of the model yet.';

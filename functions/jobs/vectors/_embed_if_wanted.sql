-- Store the n-th vector of a job as that of a memory which is active and has none of the model yet.
-- The worker's token count takes the place of an estimate, not that of a count that a caller gave.
-- Since the input was read, the memory may have ended or got its vector from another call. The
-- caller has locked the user's row.
create or replace function recall._embed_if_wanted(
    p_job       recall.jobs,
    p_memory_id uuid,
    p_place     integer,
    p_settings  recall.settings
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_embedding constant recall.memory_embedding.embedding%type := p_job.vectors[p_place];
begin
    if v_embedding is not null and exists (
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
        update recall.memory_store as m
           set token_count = recall._counted_tokens(p_job, p_place, m.content)
         where m.user_id   = p_job.user_id
           and m.memory_id = p_memory_id
           and m.token_count = recall._estimate_tokens(m.content)
           and m.token_count > recall._counted_tokens(p_job, p_place, m.content);
        perform recall._embed_memory(p_job.user_id, p_memory_id, v_embedding,
                                     p_settings.embedding_model, p_settings, p_job.job_id);
    end if;
end;
$function$;

comment on function recall._embed_if_wanted(recall.jobs, uuid, integer, recall.settings) is
    'Store the late vector of a memory that is active and has none of the model yet.';

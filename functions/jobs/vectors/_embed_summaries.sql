-- Store late vectors of a user's live summaries.
-- Skip a summary that was replaced meanwhile, or that has its vector already.
create or replace function recall._embed_summaries(
    p_user_id  uuid,
    p_texts    jsonb,
    p_vectors  recall.jobs.vectors%type,
    p_settings recall.settings
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    update recall.session_summaries as s
       set embedding       = v.embedding,
           embedding_model = p_settings.embedding_model
      from recall._text_vectors(p_texts, p_vectors, 'summaries') as v
     where s.user_id    = p_user_id
       and s.summary_id = v.id::uuid
       and s.ended_at is null
       and s.embedding_model is distinct from p_settings.embedding_model;
end;
$function$;

comment on function recall._embed_summaries(uuid, jsonb, recall.jobs.vectors%type,
    recall.settings) is
    'Store late vectors of a user''s live summaries.';

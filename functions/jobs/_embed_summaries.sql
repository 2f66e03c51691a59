-- recall._embed_summaries(user, vectors, settings)
-- A summary that was replaced meanwhile, or got its vector elsewhere, is passed by.
create or replace function recall._embed_summaries(
    p_user_id  uuid,
    p_vectors  jsonb,
    p_settings recall.settings
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
begin
    update recall.session_summaries as s
       set embedding       = v.embedding,
           embedding_model = p_settings.embedding_model
      from (
            select (e.item ->> 'summary_id')::uuid as summary_id,
                   recall._embedding_from_json(e.item -> 'embedding',
                                               'summary ' || (e.item ->> 'summary_id'))
                       as embedding
              from jsonb_array_elements(p_vectors) as e (item)
           ) as v
     where s.user_id    = p_user_id
       and s.summary_id = v.summary_id
       and s.ended_at is null
       and s.embedding_model is distinct from p_settings.embedding_model
       and v.embedding is not null;
end;
$function$;

comment on function recall._embed_summaries(uuid, jsonb, recall.settings) is
    'Store late vectors of a user''s live summaries.';

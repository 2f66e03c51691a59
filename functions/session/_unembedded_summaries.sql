-- Return live summaries without a vector of the model, at most settings.embed_batch.
-- Each call is planned for one partition, because a job reads many partitioned tables.
create or replace function recall._unembedded_summaries(
    p_user_id  uuid,
    p_settings recall.settings
)
returns table (
    summary_id uuid,
    content    text
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
begin
    if p_settings.has_sealed_users and not recall._has_vectors(p_user_id) then
        return;
    end if;
    return query
    select s.summary_id, s.content
      from recall.session_summaries as s
     where s.user_id = p_user_id
       and s.ended_at is null
       and s.embedding_model is distinct from p_settings.embedding_model
       and s.next_embedding_model is distinct from p_settings.embedding_model
     order by s.summary_id
     limit p_settings.embed_batch;
end;
$function$;

comment on function recall._unembedded_summaries(uuid, recall.settings) is
    'Live summaries of a user without a vector of the settings'' model.';

-- Store the vectors of a job of a change of the embedding model, beside the old ones.
-- Rows that ended, moved or left since the input was read are skipped. A message gets its row even
-- without a vector, so that its words are found after the switch. Memories are not compared for
-- duplicates: those were settled when they were written.
-- Locks   the user, the sessions of the messages, the rows.
create or replace function recall._finish_migration_job(
    p_job      recall.jobs,
    p_settings recall.settings
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_user_id   constant uuid     := p_job.user_id;
    v_model     constant text     := p_job.payload ->> 'mode';
    v_done      constant jsonb    := coalesce(p_job.work #> '{made,done}', '[]');
    v_vectors   constant recall.memory_embedding.embedding%type[] := p_job.vectors;
    v_migration recall.embedding_migrations;
    v_sessions  uuid[];
begin
    perform recall._lock_user_and_bump_revision(v_user_id);
    v_migration := recall._live_migration();
    if v_migration.to_model is distinct from v_model
       or v_migration.state not in ('running', 'paused', 'switched')
       or not recall._takes_part(v_user_id) then
        return;
    end if;

    insert into recall.memory_embedding (user_id, memory_id, embedding_model, embedding)
    select v_user_id, m.memory_id, v_model, v.embedding
      from recall._text_vectors(v_done, v_vectors, 'memories') as v
      join recall.memory_store as m on m.user_id = v_user_id and m.memory_id = v.id::uuid
     where m.ended_at is null
       and v.embedding is not null
     order by m.memory_id
    on conflict do nothing;
    insert into recall.memory_embedding_ended (user_id, memory_id, embedding_model, embedding,
                                               ended_at)
    select distinct on (o.memory_id) v_user_id, o.memory_id, v_model, v.embedding, o.ended_at
      from recall._text_vectors(v_done, v_vectors, 'memories') as v
      join recall.memory_embedding_ended as o
        on o.user_id = v_user_id and o.memory_id = v.id::uuid
     where v.embedding is not null
     order by o.memory_id
    on conflict do nothing;

    v_sessions := array(
        select distinct split_part(v.id, ':', 1)::uuid
          from recall._text_vectors(v_done, v_vectors, 'messages') as v);
    if v_sessions <> '{}' then
        perform
           from recall.sessions as s
          where s.user_id    = v_user_id
            and s.session_id = any (v_sessions)
          order by s.session_id
            for share;
        -- A row without a model, or of an older one, becomes one of the current model, which the
        -- switch hides.
        update recall.message_search as m
           set embedding       = null,
               embedding_model = p_settings.embedding_model
          from recall._text_vectors(v_done, v_vectors, 'messages') as v
         where m.user_id          = v_user_id
           and m.session_id       = split_part(v.id, ':', 1)::uuid
           and m.turn_index       = split_part(v.id, ':', 2)::integer
           and m.embedding_model <> all (array[p_settings.embedding_model, v_model])
           and p_settings.embedding_model <> v_model;
        insert into recall.message_search (user_id, session_id, turn_index, message_id, role,
                                           created_at, search_vector, embedding, embedding_model)
        select m.user_id, m.session_id, m.turn_index, m.message_id, m.role, m.created_at,
               m.search_vector, v.embedding, v_model
          from recall._text_vectors(v_done, v_vectors, 'messages') as v
          join recall.message_search as m
            on m.user_id    = v_user_id
           and m.session_id = split_part(v.id, ':', 1)::uuid
           and m.turn_index = split_part(v.id, ':', 2)::integer
         where m.embedding_model <> v_model
        on conflict do nothing;
    end if;

    update recall.session_summaries as s
       set next_embedding       = v.embedding,
           next_embedding_model = v_model
      from recall._text_vectors(v_done, v_vectors, 'summaries') as v
     where s.user_id    = v_user_id
       and s.summary_id = v.id::uuid
       and s.ended_at is null
       and s.embedding_model is distinct from v_model
       and v.embedding is not null;

    -- Another job, when this one made progress and texts are left.
    if v_migration.state <> 'paused' and jsonb_array_length(v_done) > 0
       and array_remove(v_vectors, null) <> '{}'
       and exists (select from recall._unmigrated_texts(v_user_id, v_model, 1)) then
        perform recall._enqueue_job(v_user_id, 'embed', null, 'migration', p_job.payload);
    end if;
    -- The count is for the progress bar, so a job does not wait for a row that is locked.
    update recall.embedding_migrations as m
       set embedded = m.embedded + jsonb_array_length(v_done)
     where m.migration_id = (
               select l.migration_id
                 from recall.embedding_migrations as l
                where l.migration_id = v_migration.migration_id
                  for update skip locked);
end;
$function$;

comment on function recall._finish_migration_job(recall.jobs, recall.settings) is
    'Store the vectors of a job of a change of the embedding model, beside the old ones.';

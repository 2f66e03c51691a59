-- Enqueue the `embed` jobs that one user needs, and return how many.
-- Sessions with vectors of another model are indexed again from the first such message. The caller
-- has locked the user's row.
create or replace function recall._enqueue_embeddings(
    p_user_id       uuid,
    p_run_at        timestamptz,
    p_with_sessions boolean
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_settings recall.settings := recall._settings(p_user_id);
    v_session  uuid;
    v_count    integer         := 0;
begin
    if (recall._has_unembedded(p_user_id, v_settings.embedding_model)
        or p_with_sessions
           and exists (select from recall._unembedded_summaries(p_user_id, v_settings) as u))
       and recall._enqueue_job(p_user_id, 'embed', null, 'memories', '{}', p_run_at,
                               v_settings.job_max_attempts)
           is not null then
        v_count := 1;
    end if;
    update recall.memory_store as m
       set embedding_due = false
     where m.user_id = p_user_id
       and m.embedding_due;
    update recall.users as u
       set embedding_due = false
     where u.user_id = p_user_id
       and u.embedding_due;
    if not p_with_sessions or not v_settings.embed_messages then
        return v_count;
    end if;

    update recall.sessions as s
       set indexed_through_turn = least(s.indexed_through_turn, o.first_turn - 1)
      from (
            select i.session_id, min(i.turn_index) as first_turn
              from recall.message_search as i
             where i.user_id         = p_user_id
               and i.embedding_model <> v_settings.embedding_model
               and not exists (
                       select from recall.message_search as c
                        where c.user_id         = p_user_id
                          and c.session_id      = i.session_id
                          and c.turn_index      = i.turn_index
                          and c.embedding_model = v_settings.embedding_model)
             group by i.session_id
           ) as o
     where s.user_id    = p_user_id
       and s.session_id = o.session_id;
    for v_session in
        select s.session_id
          from recall.sessions as s
         where s.user_id              = p_user_id
           and s.indexed_through_turn < s.turn_count
    loop
        if recall._enqueue_job(p_user_id, 'embed', v_session, v_session::text, '{}', p_run_at,
                               v_settings.job_max_attempts)
           is not null then
            v_count := v_count + 1;
        end if;
    end loop;
    return v_count;
end;
$function$;

comment on function recall._enqueue_embeddings(uuid, timestamptz, boolean) is
    'Enqueue jobs for the vectors that one user''s memories, and messages, lack.';

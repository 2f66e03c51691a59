-- Copy the newest live summary of the parent into a session that continues it.
-- The copy covers no turn of the new session.
create or replace function recall._inherit_summary(
    p_user_id   uuid,
    p_parent_id uuid,
    p_child_id  uuid
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_summary_id uuid        := recall.uuidv7();
    v_now        timestamptz := clock_timestamp();
begin
    insert into recall.session_summaries (
        user_id, session_id, summary_id, kind, from_turn, to_turn, content, token_count,
        embedding, embedding_model, created_at, made_by, next_embedding, next_embedding_model)
    select p_user_id, p_child_id, v_summary_id, 'compaction', 0, 0, s.content, s.token_count,
           s.embedding, s.embedding_model, v_now, s.made_by, s.next_embedding,
           s.next_embedding_model
      from recall.session_summaries as s
     where s.user_id    = p_user_id
       and s.session_id = p_parent_id
       and s.ended_at is null
     order by s.to_turn desc, s.kind
     limit 1;
end;
$function$;

comment on function recall._inherit_summary(uuid, uuid, uuid) is
    'Copy the parent''s newest live summary into a session that continues it.';

-- Store a session's new summary of a kind and end the live one before it.
-- A summary without a vector enqueues an embed job.
create or replace function recall._write_summary(
    p_session       recall.sessions,
    p_kind          text,
    p_from_turn     integer,
    p_to_turn       integer,
    p_content       text,
    p_embedding     recall.memory_embedding.embedding%type,
    p_source_tokens bigint default null,
    p_made_by       jsonb  default null
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_id        uuid        := recall.uuidv7();
    v_now       timestamptz := clock_timestamp();
    v_settings  recall.settings := recall._settings(p_session.user_id);
    v_content   text        := btrim(recall._masked(p_content, v_settings));
begin
    update recall.session_summaries as s
       set ended_at = greatest(v_now, s.created_at)  -- the clock may have been set back
     where s.user_id    = p_session.user_id
       and s.session_id = p_session.session_id
       and s.kind       = p_kind
       and s.ended_at is null;

    insert into recall.session_summaries (
        user_id, session_id, summary_id, kind, from_turn, to_turn, content, token_count,
        embedding, embedding_model, created_at, source_tokens, made_by)
    values (
        p_session.user_id, p_session.session_id, v_id, p_kind, p_from_turn, p_to_turn, v_content,
        case when recall._is_sealed(v_content)
                  then greatest(1, recall._text_length(v_content) / 3)
             else recall._estimate_tokens(v_content) end,
        p_embedding, case when p_embedding is not null then v_settings.embedding_model end, v_now,
        p_source_tokens, p_made_by);
    if p_embedding is null then
        perform recall._enqueue_job(p_session.user_id, 'embed', p_session.session_id,
                                    p_session.session_id::text);
    end if;
end;
$function$;

comment on function recall._write_summary(recall.sessions, text, integer, integer, text,
    recall.memory_embedding.embedding%type, bigint, jsonb) is
    'Store a session''s new summary of a kind and end the one before.';

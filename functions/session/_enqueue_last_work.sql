-- Enqueue the last extraction and the summary of a session that ends.
create or replace function recall._enqueue_last_work(
    p_session   recall.sessions,
    p_settings  recall.settings,
    p_now       timestamptz,
    p_summarize boolean
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_session.turn_count > p_session.extracted_through_turn then
        perform recall._enqueue_extraction(p_session, p_now);
    end if;
    if p_summarize and p_session.turn_count > 0
       and recall._summaries_mode(p_session, p_settings) = 'llm' then
        perform recall._enqueue_job(p_session.user_id, 'summarize', p_session.session_id,
                                    p_session.session_id::text);
    end if;
end;
$function$;

comment on function recall._enqueue_last_work(recall.sessions, recall.settings, timestamptz,
    boolean) is 'Enqueue the last extraction and the summary of a session that ends.';

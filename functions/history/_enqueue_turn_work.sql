-- Enqueue the work of an append: at most one extraction and one embedding job per session.
-- The extraction is due after enough user turns or an idle pause; claim_jobs defers it during the
-- conversation, which saves the append an update. Verbatim extraction is due at once. A ready job
-- takes over a changed mode, without what the other mode has made. A session past its share of the
-- history budget gets a compaction where summaries are llm. An infinite idle time gives the last
-- day that the time types of clients hold.
create or replace function recall._enqueue_turn_work(
    p_session  recall.sessions,
    p_settings recall.settings,
    p_now      timestamptz,
    p_last_at  timestamptz
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_ids     uuid[];
    v_ready   integer;
    v_is_late boolean;
    v_key     text    := p_session.session_id::text;
    v_mode    text    := recall._extraction_mode(p_session, p_settings);
    v_waiting integer := p_session.user_turn_count - p_session.extracted_user_turns;
    v_is_due  boolean := v_mode = 'verbatim'
                         or v_mode = 'llm' and v_waiting >= p_settings.extract_after_turns;
    v_wanted  text[]  := array_remove(array[
        case when v_mode <> 'none' and v_waiting > 0 then 'extract' end,
        case when p_settings.embed_messages then 'embed' end,
        case when recall._needs_compaction(p_session, p_settings)
                  and recall._summaries_mode(p_session, p_settings) = 'llm'
             then 'compact' end], null);
begin
    -- Usually all jobs exist already. A look-up takes 10 µs, an insert with a conflict 50.
    select count(*),
           bool_or(j.kind = 'extract'
                   and (v_is_due and j.run_at > p_now and j.last_error is null
                        or coalesce(j.payload ->> 'mode', 'llm') <> v_mode))
      into v_ready, v_is_late
      from recall.jobs as j
     where j.user_id    = p_session.user_id
       and j.kind       = any (v_wanted)
       and j.dedupe_key = v_key
       and j.state      = 'ready';

    if v_ready < cardinality(v_wanted) then
        v_ids := recall._uuids(3);
        insert into recall.jobs (user_id, job_id, kind, session_id, dedupe_key, payload, run_at,
                                 max_attempts, created_at)
        select p_session.user_id, v_ids[w.place], w.kind, p_session.session_id, v_key,
               case when w.kind = 'extract' then jsonb_build_object('mode', v_mode) else '{}' end,
               case when w.kind = 'extract' and not v_is_due
                    then least(greatest(p_now, p_last_at + p_settings.extract_after_idle),
                               '9999-12-31 00:00Z')
                    else p_now end,
               p_settings.job_max_attempts, p_now
          from unnest(v_wanted) with ordinality as w (kind, place)
        on conflict (user_id, kind, dedupe_key) where state = 'ready' do nothing;
    end if;

    -- A job that waits for a retry or a cost limit (last_error) keeps its time.
    if v_is_late then
        update recall.jobs as j
           set run_at  = case when v_is_due and j.last_error is null then least(j.run_at, p_now)
                              else j.run_at end,
               payload = j.payload || jsonb_build_object('mode', v_mode),
               work    = case when j.payload ->> 'mode' = v_mode then j.work end,
               vectors = case when j.payload ->> 'mode' = v_mode then j.vectors end
         where j.user_id    = p_session.user_id
           and j.kind       = 'extract'
           and j.dedupe_key = v_key
           and j.state      = 'ready';
    end if;
    -- With extraction, the extraction job enqueues the rolling summary.
    if v_mode = 'none' and p_session.user_turn_count >= p_settings.summarize_after_turns
       and recall._summaries_mode(p_session, p_settings) = 'llm' then
        perform recall._enqueue_due_summary(p_session, p_session.turn_count, p_settings);
    end if;
end;
$function$;

comment on function recall._enqueue_turn_work(recall.sessions, recall.settings, timestamptz,
    timestamptz) is 'Enqueue the extraction, the embedding and the compaction of new turns.';

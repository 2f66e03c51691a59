-- recall._enqueue_turn_work(session, settings, now, last message, waiting turns, active tokens)
-- What an append leaves behind: one extraction and one embedding job of the session, however many
-- turns wait. The extraction is due when enough user turns wait, else after an idle pause;
-- claim_jobs postpones it while the conversation goes on, which spares the append an update.
-- Without a model (verbatim) there is nothing to save up for: it is due at once, and what waited
-- for a model before the mode was changed waits no more. A session past its share of the history
-- budget leaves a compaction, too, which wants a model.
create or replace function recall._enqueue_turn_work(
    p_session       recall.sessions,
    p_settings      recall.settings,
    p_now           timestamptz,
    p_last_at       timestamptz,
    p_waiting       integer,
    p_active_tokens bigint
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_ids    uuid[]  := recall._uuids(3);
    v_key    text    := p_session.session_id::text;
    v_mode   text    := recall._extraction_mode(p_session, p_settings);
    v_is_due boolean := v_mode = 'verbatim'
                        or v_mode = 'llm' and p_waiting >= p_settings.extract_after_turns;
begin
    insert into recall.jobs (user_id, job_id, kind, session_id, dedupe_key, payload, run_at,
                             max_attempts, created_at)
    select p_session.user_id, w.job_id, w.kind, p_session.session_id, v_key, w.payload, w.run_at,
           p_settings.job_max_attempts, p_now
      from (values
               (v_ids[1], 'extract', jsonb_build_object('mode', v_mode),
                case when v_is_due then p_now
                     else greatest(p_now, p_last_at + p_settings.extract_after_idle) end,
                v_mode <> 'none' and p_waiting > 0),
               (v_ids[2], 'embed', '{}', p_now, p_settings.embed_messages),
               (v_ids[3], 'compact', '{}', p_now,
                v_mode = 'llm'
                and p_active_tokens > p_settings.compaction_threshold
                                      * recall._history_budget(p_session, p_settings))
           ) as w (job_id, kind, payload, run_at, is_wanted)
     where w.is_wanted
    on conflict (user_id, kind, dedupe_key) where state = 'ready' do nothing;

    if v_is_due then
        update recall.jobs as j
           set run_at  = least(j.run_at, p_now),
               payload = jsonb_build_object('mode', v_mode)
         where j.user_id    = p_session.user_id
           and j.kind       = 'extract'
           and j.dedupe_key = v_key
           and j.state      = 'ready'
           and (j.run_at > p_now or j.payload ->> 'mode' <> v_mode);
    end if;
end;
$function$;

comment on function recall._enqueue_turn_work(recall.sessions, recall.settings, timestamptz,
    timestamptz, integer, bigint) is
    'Leave the extraction, the embedding and the compaction of new turns to a worker.';

-- Return the present mode of a leased job when it differs from the job's; NULL when the mode holds.
-- Settings and metadata of the session may have changed since the job was enqueued. Rolling
-- summaries and compactions have the mode llm. A job under another key than the session's id was
-- asked for by a caller of enqueue_job: it keeps the mode that it names, except where this is none.
-- Raises  RC001.
create or replace function recall._changed_mode(
    p_job recall.jobs
)
returns text
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_is_extraction constant boolean := p_job.kind = 'extract';
    v_mode     constant text := coalesce(
        case when v_is_extraction then p_job.payload ->> 'mode' end, 'llm');
    v_session  recall.sessions;
    v_settings recall.settings;
    v_present  text;
begin
    if p_job.kind <> all ('{extract,summarize,compact}'::text[]) then
        return null;
    end if;
    v_session  := recall._read_session(p_job.user_id, p_job.session_id);
    v_settings := recall._settings(p_job.user_id);
    v_present  := recall._extraction_mode(v_session, v_settings);
    if not v_is_extraction then
        v_present := coalesce(v_settings.summaries, v_present);
    end if;

    if v_present = v_mode
       or v_present <> 'none'
          and (p_job.payload ? 'mode' or not v_is_extraction)
          and p_job.dedupe_key is distinct from p_job.session_id::text then
        return null;
    end if;
    return case when v_is_extraction then v_present else 'none' end;
end;
$function$;

comment on function recall._changed_mode(recall.jobs) is
    'Present mode of a leased job when it differs from the job''s: llm, verbatim or none; else '
    'NULL.';

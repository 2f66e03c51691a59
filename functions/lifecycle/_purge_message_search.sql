-- recall._purge_message_search(now, limit, until) -> how many rows
-- Turns that a summary stands for stay findable for settings.message_search_retention; per user.
-- The live summary of a compaction says when to look.
-- Locks   the summaries, as far as they are free.
create or replace function recall._purge_message_search(
    p_now   timestamptz,
    p_limit integer,
    p_until timestamptz
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path from current
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
as $function$
declare
    v_summary recall.session_summaries;
    v_before  timestamptz;
    v_rows    integer;
    v_count   integer := 0;
begin
    for v_summary in
        select c.*
          from recall.session_summaries as c
         where c.search_purge_at <= p_now
         order by c.search_purge_at
         limit p_limit
           for no key update skip locked
    loop
        exit when v_count >= p_limit or clock_timestamp() >= p_until and v_count > 0;
        v_before := p_now - (recall._settings(v_summary.user_id)).message_search_retention;

        delete from recall.message_search as i
         where i.user_id     = v_summary.user_id
           and i.session_id  = v_summary.session_id
           and i.turn_index <= v_summary.to_turn
           and i.created_at  < v_before;
        get diagnostics v_rows = row_count;
        v_count := v_count + v_rows;

        update recall.session_summaries as c
           set search_purge_at = (
                   select min(i.created_at) + (p_now - v_before) + interval '1 microsecond'
                     from recall.message_search as i
                    where i.user_id     = v_summary.user_id
                      and i.session_id  = v_summary.session_id
                      and i.turn_index <= v_summary.to_turn
                      and c.ended_at is null)
         where c.user_id    = v_summary.user_id
           and c.session_id = v_summary.session_id
           and c.summary_id = v_summary.summary_id;
    end loop;
    return v_count;
end;
$function$;

comment on function recall._purge_message_search(timestamptz, integer, timestamptz) is
    'Delete from message_search what has been compacted for long.';

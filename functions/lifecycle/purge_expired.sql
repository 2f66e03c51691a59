-- recall.purge_expired(limit, as_of) -> (done, more)
-- What is kept for a time only: receipts of appends (receipt_ttl), vectors of ended memories
-- (ended_vector_retention), what makes compacted turns findable (message_search_retention), daily
-- spending (phase_retention), how well contexts used their budgets (a day), and system prompts that
-- no session uses any more. Rows of one kind after the other; done counts all.
-- Locks   the rows it deletes, and sessions as far as they are free.
create or replace function recall.purge_expired(
    p_limit integer     default 5000,
    p_as_of timestamptz default null
)
returns table (done integer, more boolean)
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
as $function$
declare
    v_start    timestamptz := clock_timestamp();
    v_now      timestamptz := coalesce(p_as_of, v_start);
    v_settings recall.settings;
    v_until    timestamptz;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);
    select s.* into v_settings from recall.settings as s;
    v_until := v_start + v_settings.maintenance_lock_time;
    done    := 0;
    more    := false;

    for v_kind in 1 .. 7 loop
        more := done >= p_limit or clock_timestamp() >= v_until and done > 0;
        exit when more;
        done := done + case v_kind
            when 1 then recall._purge_rows('recall.append_receipts', 'created_at',
                                           v_now - v_settings.receipt_ttl, p_limit)
            when 2 then recall._purge_ended_vectors(v_now, p_limit - done, v_until)
            when 3 then recall._purge_message_search(v_now, p_limit - done, v_until)
            when 4 then recall._purge_rows('recall.model_spending', 'day',
                                           v_now - v_settings.phase_retention, p_limit - done)
            when 5 then recall._purge_rows('recall.model_spending_totals', 'day',
                                           v_now - v_settings.phase_retention, p_limit - done)
            when 6 then recall._purge_rows('recall.context_efficiency', 'measured_at',
                                           v_now - interval '1 day', p_limit - done)
            else recall._purge_prompts(v_now, p_limit - done)
        end;
    end loop;
    more := done > 0 and (more or done >= p_limit);
    return next;
end;
$function$;

comment on function recall.purge_expired(integer, timestamptz) is
    'Delete receipts, vectors of ended memories, search rows of compacted turns, old daily '
    'spending and unused system prompts, one batch a call.';

-- Delete one batch of rows whose retention has ended.
-- Limits are receipt_ttl, ended_vector_retention, message_search_retention, phase_retention (daily
-- spending), and a day for packing efficiencies. It also deletes system prompts that no session
-- uses, and history of users with a shorter history_retention. done counts rows; `more` is also
-- true while due rows are locked.
-- Locks   the rows it deletes; users and sessions as far as they are free.
create or replace function recall.purge_expired(
    p_limit integer     default 5000,
    p_as_of timestamptz default null
)
returns table (done integer, more boolean)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_start    timestamptz := clock_timestamp();
    v_now      timestamptz := coalesce(p_as_of, v_start);
    v_settings recall.settings;
    v_until    timestamptz;
    v_rest     integer;
    v_rows     integer;
    v_held     boolean;
    v_left     boolean     := false;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);
    select s.* into v_settings from recall.settings as s;
    v_until := v_start + v_settings.maintenance_lock_time;
    done    := 0;
    more    := false;

    for v_kind in 1 .. 8 loop
        more := done >= p_limit or clock_timestamp() >= v_until and done > 0;
        exit when more;
        v_held := false;
        v_rest := p_limit - done;
        case v_kind
            when 1 then
                v_rows := recall._purge_rows('recall.append_receipts', 'created_at',
                                             v_now - v_settings.receipt_ttl, v_rest);
            when 2 then
                select p.* into v_rows, v_held
                  from recall._purge_ended_vectors(v_now, v_rest, v_until) as p;
            when 3 then
                select p.* into v_rows, v_held
                  from recall._purge_message_search(v_now, v_rest, v_until) as p;
            when 4 then
                v_rows := recall._purge_rows('recall.model_spending', 'day',
                                             v_now - v_settings.phase_retention, v_rest);
            when 5 then
                v_rows := recall._purge_rows('recall.model_spending_totals', 'day',
                                             v_now - v_settings.phase_retention, v_rest);
            when 6 then
                v_rows := recall._purge_rows('recall.context_efficiency', 'measured_at',
                                             v_now - interval '1 day', v_rest);
            when 7 then
                select p.* into v_rows, v_held from recall._purge_prompts(v_now, v_rest) as p;
            else
                select p.* into v_rows, v_held
                  from recall._purge_history(v_now, v_rest, v_until) as p;
        end case;
        done   := done + v_rows;
        v_left := v_left or v_held;
    end loop;
    more := v_left or done > 0 and (more or done >= p_limit);
    return next;
end;
$function$;

comment on function recall.purge_expired(integer, timestamptz) is
    'Delete one batch of rows past their retention: receipts of appends, vectors of ended '
    'memories, search rows of compacted turns, old daily spending, packing efficiencies, unused '
    'system prompts, and history past a user''s own retention. done counts rows; more is true '
    'while some remain.';

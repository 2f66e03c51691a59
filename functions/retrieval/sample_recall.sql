-- Measure which share of the nearest vectors the approximate searches find.
-- Above exact_search_limit, a search compares only candidates with the nearest sign bits. Random
-- stored vectors of such users serve as queries, so no search pays for the measurement. A sample is
-- the share of the ten exactly nearest among the candidates; nothing of a user is stored. A day has
-- settings.recall_samples for memories and as many for messages.
-- Cost    one exact scan of the user's vectors a sample.
create or replace function recall.sample_recall(
    p_limit integer     default 100,
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
    v_kind     text;
    v_wanted   integer;
    v_vector   record;
    v_share    real;
begin
    perform recall._check_limit(p_limit);
    select s.* into v_settings from recall.settings as s;
    delete from recall.recall_samples as r
     where r.measured_at <= v_now - interval '7 days'
        or r.measured_at > v_now;
    done := 0;
    more := false;

    foreach v_kind in array array['memories', 'messages'] loop
        -- 20 hours, since a daily run may start a little earlier than the previous one.
        v_wanted := v_settings.recall_samples - (
            select count(*)
              from recall.recall_samples as r
             where r.kind        = v_kind
               and r.measured_at > v_now - interval '20 hours');
        continue when v_wanted <= 0;
        for v_vector in
            select * from recall._drawn_vectors(v_kind, v_settings)
        loop
            more := done >= p_limit
                    or done > 0 and clock_timestamp() >= v_start + v_settings.maintenance_lock_time;
            exit when more or v_wanted = 0;
            v_share := recall._recall_of_candidates(
                v_vector.user_id, v_vector.memory_id, v_vector.session_id, v_vector.turn_index,
                v_vector.embedding);
            continue when v_share is null;
            insert into recall.recall_samples (measured_at, kind, share)
            values (v_now, v_kind, v_share);
            done     := done + 1;
            v_wanted := v_wanted - 1;
        end loop;
        exit when more;
    end loop;
    return next;
end;
$function$;

comment on function recall.sample_recall(integer, timestamptz) is
    'Measure the recall of the approximate searches, one batch a call: the share of the ten '
    'exactly nearest vectors among their candidates, for random stored vectors of users with more '
    'than exact_search_limit memories or messages. done counts samples; more is true while some '
    'remain for the day. metrics() and health() report the result.';

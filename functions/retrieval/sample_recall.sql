-- Measure on stored vectors what share of the nearest the approximate searches find.
-- Above exact_search_limit a search compares candidates only: those with the nearest sign bits.
-- Here random stored vectors of such users stand for queries, so that no search pays for it: of
-- their ten nearest by an exact scan, the share among the candidates. Kept are this share and the
-- time, nothing of a user. A day has settings.recall_samples of memories, and of messages.
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
set search_path from current
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
        -- Less than a day, since a run may begin a little earlier than the one before.
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
    'Measure, one batch a call, how much of an exact search the approximate one finds: the share '
    'of the ten nearest vectors among its candidates, for random stored vectors of users with more '
    'than exact_search_limit memories or messages. metrics() and health() tell it.';

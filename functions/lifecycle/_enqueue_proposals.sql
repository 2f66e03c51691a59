-- Enqueue one batch of merge or pattern jobs.
-- It scans flagged users in key order without a lock. Each batch continues behind the last user of
-- the previous one, so that each user gets a turn. A user who is locked, or has jobs left for the
-- next batch, stays flagged, as `more` reports. With extraction `verbatim` it proposes nothing.
-- done counts jobs.
-- Locks   users, as far as they are free, until settings.maintenance_lock_time has passed.
create or replace function recall._enqueue_proposals(
    p_kind  text,
    p_limit integer,
    p_as_of timestamptz
)
returns table (done integer, more boolean)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_now      timestamptz := coalesce(p_as_of, clock_timestamp());
    v_until    timestamptz;
    v_task     text        := case p_kind when 'merge' then 'enqueue_merges'
                                          else 'enqueue_patterns' end;
    v_last     uuid;
    v_looked   uuid;
    v_users    uuid[];
    v_settings recall.settings;
    v_user     uuid;
    v_jobs     integer;
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);
    done := 0;
    select t.last_user into v_last from recall.maintenance_tasks as t where t.task = v_task;
    v_users := recall._users_with_proposals(p_kind, v_last, null, p_limit);
    if v_last is not null and cardinality(v_users) < p_limit then
        v_users := v_users || recall._users_with_proposals(p_kind, null, v_last,
                                                           p_limit - cardinality(v_users));
    end if;

    select clock_timestamp() + s.maintenance_lock_time into v_until from recall.settings as s;
    foreach v_user in array v_users loop
        exit when done >= p_limit or clock_timestamp() >= v_until and v_looked is not null;
        perform
           from recall.users as u
          where u.user_id = v_user
            and case p_kind when 'merge' then u.merge_due else u.pattern_due end
            for no key update skip locked;
        continue when not found;

        v_looked   := v_user;
        v_settings := recall._settings(v_user);
        v_jobs     := case
            when v_settings.extraction = 'verbatim' then 0
            when p_kind = 'merge'
                then recall._propose_merges(v_user, p_limit - done, v_now, v_settings)
            else recall._propose_patterns(v_user, p_limit - done, v_now, v_settings)
        end;
        done := done + v_jobs;

        if done < p_limit then
            update recall.users as u
               set merge_due   = u.merge_due and p_kind <> 'merge',
                   pattern_due = u.pattern_due and p_kind <> 'pattern'
             where u.user_id = v_user;
        end if;
    end loop;

    if v_looked is not null then
        update recall.maintenance_tasks as t
           set last_user = v_looked
         where t.task = any (array(
                   select f.task from recall.maintenance_tasks as f
                    where f.task = v_task for no key update skip locked));
    end if;
    more := recall._users_with_proposals(p_kind, null, null, 1) <> '{}';
    return next;
end;
$function$;

comment on function recall._enqueue_proposals(text, integer, timestamptz) is
    'Enqueue one batch of merge or pattern jobs.';

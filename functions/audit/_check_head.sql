-- Compare the end of a user's events with the head in the user's row and a head kept outside.
-- event_missing, event_inserted and head_changed refer to the row. chain_shortened and
-- chain_rewritten refer to the outside head: its event is missing or differs.
-- A database writer can make a new chain, but none with that hash.
create or replace function recall._check_head(
    p_user_id uuid,
    p_head    jsonb
)
returns table (
    finding   text,
    event_no  bigint,
    memory_id uuid,
    detail    text
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_user recall.users := recall._read_user(p_user_id);
    v_last bigint;
    v_hash bytea;
    v_kept bigint       := (p_head ->> 'event_count')::bigint;
begin
    select e.event_no, e.event_hash
      into v_last, v_hash
      from recall.memory_events as e
     where e.user_id = p_user_id
     order by e.event_no desc
     limit 1;
    v_last := coalesce(v_last, 0);
    v_hash := coalesce(v_hash, '');

    return query
    select v.finding, v.event_no, null::uuid, v.detail
      from (
            values (v_last < v_user.event_count, 'event_missing', v_last + 1,
                    format('events %s to %s are gone', v_last + 1, v_user.event_count)),
                   (v_last > coalesce(v_user.event_count, 0), 'event_inserted',
                    coalesce(v_user.event_count, 0) + 1,
                    'the user''s row ends the chain before it'),
                   (v_last = v_user.event_count and v_hash <> v_user.event_hash, 'head_changed',
                    v_last, 'the user''s row has another hash than the last event'),
                   (v_last < v_kept, 'chain_shortened', v_last + 1,
                    format('there were %s events on %s', v_kept, p_head ->> 'at')
                    || (select coalesce(min(format('; the user was forgotten on %s', r.erased_at)),
                                        '')
                          from recall.erasures as r
                         where v_last < v_kept
                           and r.digest = sha256(r.salt || uuid_send(p_user_id)))),
                   (v_last >= v_kept and v_kept > 0 and not exists (
                        select from recall.memory_events as e
                         where e.user_id    = p_user_id
                           and e.event_no   = v_kept
                           and e.event_hash = decode(p_head ->> 'event_hash', 'hex')),
                    'chain_rewritten', v_kept,
                    format('the event was another one on %s', p_head ->> 'at'))
           ) as v (is_so, finding, event_no, detail)
     where v.is_so;
end;
$function$;

comment on function recall._check_head(uuid, jsonb) is
    'Differences between the end of a user''s events and the head in the user''s row, or a head '
    'kept outside.';

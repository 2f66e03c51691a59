-- List memories of selection all, top or given in the order of packing.
-- all: newest first, so that the oldest are left out when not all fit. top: most important first,
-- then last accessed, or created if never accessed. Past accesses are not recorded, so with p_as_of
-- it is creation alone. given: in the caller's order. No query is compared: the score is the
-- importance.
create or replace function recall._listed_memories(
    p_user_id    uuid,
    p_selection  text,
    p_limit      integer,
    p_filter     jsonb,
    p_as_of      timestamptz,
    p_session_id uuid,
    p_settings   recall.settings,
    p_ids        uuid[] default null
)
returns setof recall.found_memory
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
set enable_seqscan = off
set jit = off
as $function$
declare
    v_filter     constant recall.memory_filter := recall._stale_filter(
        recall._read_filter(p_filter - 'stale', false),
        case when p_selection <> 'given'
             then recall._filter_value(p_filter, 'stale', 'boolean')::boolean end,
        p_as_of, p_settings);
    v_is_now     constant boolean := p_as_of is null and not v_filter.include_ended
                                     and v_filter.valid_at is null;
    v_is_top     constant boolean := p_selection = 'top';
    v_sessions   constant uuid[]  := recall._session_chain(p_user_id, p_session_id);
    v_ids        uuid[];
    v_candidates recall.memory_candidate[];
    v_largest    integer;
begin
    if p_selection is null or p_selection not in ('all', 'top', 'given') then
        return;
    end if;

    with found as materialized (
        select m.memory_id, m.importance, m.access_count, m.last_accessed_at, m.created_at,
               m.observed_at
          from recall.memory_store as m
         where v_is_now
           and m.user_id = p_user_id
           and m.ended_at is null
           and (m.expires_at is null or m.expires_at > now())
           and (m.session_id is null or m.session_id = any (v_sessions))
           and recall._memory_matches(row(m.*), v_filter)
           and recall._staleness_matches(row(m.*), v_filter)
           and (p_selection <> 'given' or m.memory_id = any (p_ids))
         union all
        select m.memory_id, m.importance, m.access_count, m.last_accessed_at, m.created_at,
               m.observed_at
          from recall.memory_store as m
         where not v_is_now
           and m.user_id = p_user_id
           and (m.session_id is null or m.session_id = any (v_sessions))
           and recall._memory_visible(row(m.*), v_filter, p_as_of)
           and recall._memory_matches(row(m.*), v_filter)
           and recall._staleness_matches(row(m.*), v_filter)
           and (p_selection <> 'given' or m.memory_id = any (p_ids))
    ),
    placed as (
        select f.memory_id,
               row_number() over (
                   order by case when p_selection = 'given'
                                 then array_position(p_ids, f.memory_id) end,
                            case when v_is_top then f.importance end desc,
                            case when not v_is_top then f.observed_at
                                 when p_as_of is null
                                     then coalesce(f.last_accessed_at, f.created_at)
                                 else f.created_at end desc,
                            f.memory_id desc) as place
          from found as f
    )
    select array_agg(p.memory_id order by p.place),
           array_agg(row(p.memory_id, null, null, null, null)::recall.memory_candidate),
           (select max(f.access_count) from found as f)
      into v_ids, v_candidates, v_largest
      from placed as p
     where p.place <= p_limit;

    return query
    select r.*
      from unnest(v_ids) with ordinality as i (memory_id, place)
      join recall._rank_memories(p_user_id, v_candidates, v_largest, p_limit,
                                 coalesce(p_as_of, now()),
                                 recall._score_weights(p_settings, false, false), null,
                                 p_settings) as r
        on r.memory_id = i.memory_id
     order by i.place;
end;
$function$;

comment on function recall._listed_memories(uuid, text, integer, jsonb, timestamptz, uuid,
    recall.settings, uuid[]) is
    'Memories of a context that are selected without a query: all, the most important, or given '
    'ones.';

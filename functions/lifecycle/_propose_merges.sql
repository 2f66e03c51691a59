-- Enqueue merge jobs for one user, the largest set of a tag and kind first.
-- A memory is in one open merge job at a time, so that no two models consolidate it. The caller has
-- locked the user's row.
create or replace function recall._propose_merges(
    p_user_id  uuid,
    p_limit    integer,
    p_now      timestamptz,
    p_settings recall.settings
)
returns integer
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_taken uuid[]  := recall._open_proposals(p_user_id, 'merge');
    v_jobs  integer := 0;
    v_tag   text;
    v_kind  text;
    v_seen  uuid[];
    v_fresh uuid[];
    v_ids   uuid[];
    v_tags  jsonb;
begin
    for v_tag, v_kind, v_fresh, v_seen in
        select s.tag, s.kind, s.fresh, s.seen
          from recall._merge_sets(p_user_id, p_now, p_settings) as s
    loop
        exit when v_jobs >= p_limit;
        v_fresh := recall._uuids_without(v_fresh, v_taken);
        v_ids   := v_fresh || recall._uuids_without(v_seen, v_taken);
        continue when v_fresh = '{}' or cardinality(v_ids) <= p_settings.merge_above;

        v_ids := v_ids[1:p_settings.merge_batch];
        -- The tags that all of these memories have.
        select coalesce(jsonb_agg(s.tag order by s.tag), '[]')
          into v_tags
          from (
                select t.tag
                  from recall.memory_store as m
                 cross join unnest(m.tags) as t (tag)
                 where m.user_id   = p_user_id
                   and m.memory_id = any (v_ids)
                 group by t.tag
                having count(distinct m.memory_id) = cardinality(v_ids)
               ) as s;
        if recall._propose_job(
               p_user_id, 'merge', md5(v_kind || ' ' || v_tag), v_ids,
               jsonb_build_object('tag', v_tag, 'kind', v_kind),
               jsonb_build_object('for', 'merge', 'tags', v_tags)) then
            v_taken := v_taken || v_ids;
            v_jobs  := v_jobs + 1;
        end if;
    end loop;
    return v_jobs;
end;
$function$;

comment on function recall._propose_merges(uuid, integer, timestamptz, recall.settings) is
    'Enqueue merge jobs for one user. Returns how many.';

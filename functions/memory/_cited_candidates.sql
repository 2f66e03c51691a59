-- Limit the provenance of candidates to that of the turns they cite.
-- Citing a turn can only lower trust. Ids of other users' messages and unknown ids have no effect.
create or replace function recall._cited_candidates(
    p_user_id    uuid,
    p_session    recall.sessions,
    p_candidates jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_ids   uuid[];
    v_roles jsonb;
begin
    select array_agg(distinct t.id::uuid)
      into v_ids
      from jsonb_array_elements(p_candidates) as c (candidate)
     cross join lateral jsonb_array_elements_text(
               coalesce(nullif(c.candidate -> 'source_turn_ids', 'null'), '[]')) as t (id);
    if v_ids is null then
        return p_candidates;
    end if;

    -- Most turns are of this session, whose times limit the partitions to read.
    select jsonb_object_agg(h.message_id, h.role)
      into v_roles
      from recall.conversation_history as h
     where h.user_id    = p_user_id
       and h.session_id = p_session.session_id
       and h.created_at between p_session.created_at and p_session.last_message_at
       and h.message_id = any (v_ids);
    if v_roles is null or (select count(*) from jsonb_object_keys(v_roles)) < cardinality(v_ids)
    then
        select coalesce(v_roles, '{}') || coalesce(jsonb_object_agg(h.message_id, h.role), '{}')
          into v_roles
          from recall.conversation_history as h
         where h.user_id    = p_user_id
           and h.message_id = any (v_ids)
           and h.session_id is distinct from p_session.session_id;
    end if;

    return (
        select jsonb_agg(recall._credited_candidate(c.candidate, r.roles) order by c.ordinal)
          from jsonb_array_elements(p_candidates) with ordinality as c (candidate, ordinal)
         cross join lateral (
                select array_agg(v_roles ->> t.id) filter (where v_roles ? t.id)
                  from jsonb_array_elements_text(
                           coalesce(nullif(c.candidate -> 'source_turn_ids', 'null'), '[]'))
                           as t (id)
               ) as r (roles));
end;
$function$;

comment on function recall._cited_candidates(uuid, recall.sessions, jsonb) is
    'Candidates with a provenance no better than that of the turns they cite.';

-- Return the memories that a user's ready and running jobs of a kind name.
create or replace function recall._open_proposals(
    p_user_id uuid,
    p_kind    text
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
begin
    return array(
        select i.id::uuid
          from recall.jobs as j
         cross join lateral jsonb_path_query(j.payload, '$.memory_ids[*]') as e (item)
         cross join lateral (select e.item #>> '{}') as i (id)
         where j.user_id = p_user_id
           and j.kind    = p_kind
           and j.state  <> 'dead'
           and pg_input_is_valid(i.id, 'uuid'));
end;
$function$;

comment on function recall._open_proposals(uuid, text) is
    'Memories named by a user''s ready and running jobs of a kind.';

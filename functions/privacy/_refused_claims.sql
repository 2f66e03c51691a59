-- Return claims against memories that a person has refused.
-- A refused claim no longer names what it contradicted; only the audit does.
create or replace function recall._refused_claims(
    p_user_id    uuid,
    p_memory_ids uuid[]
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path from current
set plan_cache_mode = force_custom_plan
as $function$
begin
    return array(
        select e.memory_id
          from recall.memory_events as e
         where e.user_id = p_user_id
           and e.event   = 'dispute_refused'
           and e.detail ->> 'disputes' = any (p_memory_ids::text[]));
end;
$function$;

comment on function recall._refused_claims(uuid, uuid[]) is
    'Refused disputes against these memories.';

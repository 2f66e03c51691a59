-- Restore memories that revoked memories had superseded, latest first.
-- A memory is restored if its text and slot are free and nothing else follows it. Sources of a
-- consolidation come back one by one.
create or replace function recall._restore_displaced(
    p_user_id uuid,
    p_revoked uuid[]
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_memory recall.memory_store;
begin
    for v_memory in
        select m.*
          from recall.memory_store as m
         where m.user_id       = p_user_id
           and m.superseded_by = any (p_revoked)
           and m.memory_id <> all (p_revoked)
           and m.end_reason in ('superseded', 'merged')
         order by m.ended_at desc, m.memory_id
    loop
        continue when v_memory.end_reason = 'superseded'
            and (recall._end_of_chain(p_user_id, v_memory.memory_id)).ended_at is null;
        begin
            perform recall.restore_memory(p_user_id, v_memory.memory_id);
        exception when sqlstate 'RC003' then
            -- Another active memory has its text or its slot by now.
            null;
        end;
    end loop;
end;
$function$;

comment on function recall._restore_displaced(uuid, uuid[]) is
    'Restore what revoked memories had superseded, where text and slot are free.';

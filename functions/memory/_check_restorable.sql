-- Check that the text of an ended row may become active again.
-- p_reverted is the active row that ends to free its text and slot.
-- Raises  RC003 it is active, or its text or slot is taken, RC006 disputed or revoked.
create or replace function recall._check_restorable(
    p_memory   recall.memory_store,
    p_reverted uuid default null
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_taken uuid;
    v_what  text;
begin
    if p_memory.ended_at is null then
        raise exception using
            errcode = 'RC003',
            message = format('memory %s is active', p_memory.memory_id),
            hint    = 'There is nothing to restore.';
    elsif p_memory.end_reason in ('disputed', 'revoked') then
        raise exception using
            errcode = 'RC006',
            message = format('memory %s is %s', p_memory.memory_id, p_memory.end_reason),
            hint    = case p_memory.end_reason
                          when 'disputed' then 'recall.resolve_dispute decides about it.'
                          else 'Its source was revoked; recall.remember writes a text anew.'
                      end;
    end if;

    select m.memory_id, 'text'
      into v_taken, v_what
      from recall.memory_store as m
     where m.user_id      = p_memory.user_id
       and m.content_hash = p_memory.content_hash
       and m.is_active
       and m.memory_id is distinct from p_reverted;
    if not found then
        select m.memory_id, 'slot'
          into v_taken, v_what
          from recall.memory_store as m
         where m.user_id = p_memory.user_id
           and m.slot    = p_memory.slot
           and m.is_active
           and m.memory_id is distinct from p_reverted;
    end if;
    if found then
        raise exception using
            errcode = 'RC003',
            message = format('the %s of memory %s is taken by memory %s', v_what,
                             p_memory.memory_id, v_taken),
            hint    = 'Retract that one first, or edit it with recall.supersede_memory.';
    end if;
end;
$function$;

comment on function recall._check_restorable(recall.memory_store, uuid) is
    'Reject restoring a memory that is active, disputed, revoked, or whose text or slot is taken.';

-- Read the messages of ranked turns by their whole key.
create or replace function recall._read_turns(
    p_user_id uuid,
    p_turns   recall.found_turn[]
)
returns setof recall.found_message
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_from  timestamptz;
    v_until timestamptz;
begin
    -- NULL bounds would prune no partition.
    if p_turns is null then
        return;
    end if;

    select min(t.created_at), max(t.created_at)
      into v_from, v_until
      from unnest(p_turns) as t;

    return query
    select h.message_id, t.session_id, t.turn_index, h.role::text,
           recall._content_text(h.content, h.content_parts), t.created_at, t.score, t.similarity,
           t.lexical, h.name, t.own_part, t.neighbor_part, t.session_part, t.memory_part,
           h.token_count, t.speaker_part, t.feedback_part
      from unnest(p_turns) with ordinality as t
      join recall.conversation_history as h
        on h.user_id    = p_user_id
       and h.session_id = t.session_id
       and h.turn_index = t.turn_index
       and h.created_at = t.created_at
       and h.created_at between v_from and v_until
     order by t.ordinality;
end;
$function$;

comment on function recall._read_turns(uuid, recall.found_turn[]) is
    'Ranked turns with their messages.';

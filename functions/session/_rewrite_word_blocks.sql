-- Write those blocks of message_words anew that hold any of some turns, after a change of these.
-- The caller has locked the session or the user.
create or replace function recall._rewrite_word_blocks(
    p_user_id      uuid,
    p_session_id   uuid,
    p_from_turn    integer,
    p_through_turn integer
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_from    integer;
    v_through integer;
begin
    select min(b.before_turn) + 1, max(b.through_turn)
      into v_from, v_through
      from recall.message_words as b
     where b.user_id      = p_user_id
       and b.session_id   = p_session_id
       and b.through_turn >= p_from_turn
       and b.before_turn  < p_through_turn;
    if v_from is not null then
        perform recall._write_word_blocks(p_user_id, p_session_id, v_from, v_through);
    end if;
end;
$function$;

comment on function recall._rewrite_word_blocks(uuid, uuid, integer, integer) is
    'Write those blocks of message_words anew that hold any of some turns of a session.';

-- Move first_retained_turn of a session, and delete what is about the turns before it.
-- p_tokens counts those of the turns that were active. The caller has locked the user and the
-- session.
create or replace function recall._forget_turns(
    p_user_id    uuid,
    p_session_id uuid,
    p_last_turn  integer,
    p_tokens     bigint
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $function$
begin
    update recall.sessions as s
       set first_retained_turn = p_last_turn + 1,
           active_tokens       = s.active_tokens - p_tokens
     where s.user_id    = p_user_id
       and s.session_id = p_session_id;
    perform recall._discard_work(p_user_id, p_session_id);
    delete from recall.message_search as i
     where i.user_id     = p_user_id
       and i.session_id  = p_session_id
       and i.turn_index <= p_last_turn;
    perform recall._rewrite_word_blocks(p_user_id, p_session_id, 1, p_last_turn);
    delete from recall.message_annotations as a
     where a.user_id     = p_user_id
       and a.session_id  = p_session_id
       and a.turn_index <= p_last_turn;
end;
$function$;

comment on function recall._forget_turns(uuid, uuid, integer, bigint) is
    'Move first_retained_turn of a session, and delete what is about the turns before it.';

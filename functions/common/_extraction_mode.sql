-- recall._extraction_mode(user, session) -> llm, verbatim or none
-- A session's metadata ("extraction") goes before the user's override, that before the settings.
create or replace function recall._extraction_mode(
    p_user_id    uuid,
    p_session_id uuid
)
returns text
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_mode text;
begin
    select s.metadata ->> 'extraction'
      into v_mode
      from recall.sessions as s
     where s.user_id    = p_user_id
       and s.session_id = p_session_id;

    if v_mode in ('llm', 'verbatim', 'none') then
        return v_mode;
    end if;
    return (recall._settings(p_user_id)).extraction;
end;
$function$;

comment on function recall._extraction_mode(uuid, uuid) is
    'How memories are drawn from a session: llm, verbatim or none.';

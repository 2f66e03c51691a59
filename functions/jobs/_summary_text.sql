-- recall._summary_text(session, kind) -> the live summary's text, or NULL
create or replace function recall._summary_text(
    p_session recall.sessions,
    p_kind    text
)
returns text
language sql
stable
parallel safe
begin atomic
    select s.content
      from recall.session_summaries as s
     where s.user_id    = (p_session).user_id
       and s.session_id = (p_session).session_id
       and s.kind       = p_kind
       and s.ended_at is null;
end;

comment on function recall._summary_text(recall.sessions, text) is
    'Text of a session''s live summary of a kind; NULL when there is none.';

-- Format a turn as a line of the recalled block, with its heading; NULL for an empty text.
-- The heading, "2026-03-01, in "Trip":", is the day (UTC) and the title of the session, if any. It
-- appears once above all lines of that day and session.
create or replace function recall._quote_line(
    p_created_at  timestamptz,
    p_role        text,
    p_name        text,
    p_title       text,
    p_content     text,
    out o_heading text,
    out o_line    text,
    out o_quoted  text
)
language sql
stable
parallel safe
as $function$
    select to_char(p_created_at at time zone 'UTC', 'YYYY-MM-DD')
           || coalesce(', in "' || recall._plain_text(nullif(btrim(p_title), '')) || '"', '')
           || ':',
           '- ' || recall._plain_text(coalesce(nullif(btrim(p_name), ''), p_role))
           || ': "' || q.quoted || '"',
           q.quoted
      from (
            select recall._plain_text(
                       case when length(t.content) > m.characters
                            then left(t.content, m.characters) || '…'
                            else t.content end)
              from (select btrim(p_content)) as t (content)
             cross join (values (600)) as m (characters)
             where t.content collate pg_c_utf8 ~ '\S'
           ) as q (quoted);
$function$;

comment on function recall._quote_line(timestamptz, text, text, text, text) is
    'A turn as a line of the recalled block, its quoted text, and its heading.';

-- Format a memory as a line of the block, "- [KIND] text (2026-03-01)".
-- The date has day resolution (UTC), so that the same memory gives the same bytes. Format bullets
-- writes "• text", and "– text" for an episode. STABLE, as to_char is: otherwise it would not
-- inline, and each line would be a call.
create or replace function recall._memory_line(
    p_kind        text,
    p_text        text,
    p_observed_at timestamptz,
    p_format      text default 'typed'
)
returns text
language sql
stable
parallel safe
return case
    when p_format = 'bullets' then case when p_kind = 'episode' then '– ' else '• ' end || p_text
    else '- [' || upper(p_kind collate "C") || '] ' || p_text
         || to_char(p_observed_at at time zone 'UTC', ' "("YYYY-MM-DD")"')
end;

comment on function recall._memory_line(text, text, timestamptz, text) is
    'A memory as a line of the memory block.';

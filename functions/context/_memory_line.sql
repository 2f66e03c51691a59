-- recall._memory_line(kind, text, observed_at) -> "- [KIND] text (2026-03-01)"
-- The date at day resolution (UTC), so that the same memory always gives the same bytes.
create or replace function recall._memory_line(
    p_kind        text,
    p_text        text,
    p_observed_at timestamptz
)
returns text
language sql
immutable
parallel safe
return '- [' || upper(p_kind) || '] ' || p_text
       || to_char(p_observed_at at time zone 'UTC', ' "("YYYY-MM-DD")"');

comment on function recall._memory_line(text, text, timestamptz) is
    'A memory as a line of format typed.';

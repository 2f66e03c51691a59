-- Return an error text that quotes no row, since everybody may read it.
-- Messages of these classes name server conditions: locks, disk, limits, constraints. Other
-- messages may quote a user's text, so only the error code and the PL/pgSQL line are returned.
create or replace function recall._failure_text(
    p_sqlstate text,
    p_message  text,
    p_context  text
)
returns text
language sql
immutable
parallel safe
return case
    when left(p_sqlstate, 2) in ('08', '23', '25', '40', '42', '53', '54', '55', '57', '58', 'XX')
        then p_message
    else concat_ws(' at ', 'error ' || p_sqlstate,
                   substring(p_context from 'PL/pgSQL function (\S+\([^)]*\) line \d+)'))
end;

comment on function recall._failure_text(text, text, text) is
    'An error text that quotes no row: the message, or the error code with its position in '
    'PL/pgSQL.';

-- recall._failure_text(sqlstate, message, context) -> what may be noted of an error for all to read
-- Messages of these classes name what the server has or lacks: locks, disk, limits, constraints.
-- Others may quote a value out of a row, so a user's text: of them the place, for whoever mends it.
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
    'An error in words that quote no row: the message, or its place.';

-- Return the spaces that a text keeps, as the inside of a bracket expression.
create or replace function recall._spaces()
returns text
language sql
immutable
parallel safe
return ' \t\n\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000';

comment on function recall._spaces() is
    'Spaces, tab and line feed as the inside of a bracket expression.';

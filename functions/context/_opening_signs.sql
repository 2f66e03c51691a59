-- Return the characters that a model may read as <, as the inside of a bracket expression.
create or replace function recall._opening_signs()
returns text
language sql
immutable
parallel safe
return '<\u02c2\u1438\u2039\u2329\u276c\u276e\u27e8\u3008\ufe64\uff1c';

comment on function recall._opening_signs() is
    'Less-than sign and its look-alikes as the inside of a bracket expression.';

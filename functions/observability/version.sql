-- Return the version of the installed schema.
create or replace function recall.version()
returns text
language sql
immutable
parallel safe
return '0.1.0';

comment on function recall.version() is 'Version of the installed schema (semantic versioning).';

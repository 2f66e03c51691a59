-- Return the version of the installed schema, the same text as that of the driver.
-- Development versions end in .devN, and precede their release.
create or replace function recall.version()
returns text
language sql
immutable
parallel safe
return '0.2.0.dev0';

comment on function recall.version() is
    'Version of the installed schema: MAJOR.MINOR.PATCH, with .devN before its release.';

-- Return the suffix of this database's job names in pg_cron.
-- pg_cron 1.4 truncates a name after 63 bytes; the longest task name leaves 29 of them.
create or replace function recall._cron_suffix()
returns text
language sql
stable
parallel safe
return '@' || case
    when octet_length(current_database()) <= 29 then current_database()::text
    else left(md5(current_database()), 29)
end;

comment on function recall._cron_suffix() is
    'Suffix of the names of pg_cron jobs that run maintenance in this database.';

-- recall._cron_suffix() -> what the names of this database's jobs of pg_cron end in
-- pg_cron 1.4 cuts a name after 63 bytes, and the longest task leaves 29 of them.
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
    'Ending of the names of pg_cron jobs that run maintenance here.';

-- Remove pgrecall and everything it remembers from this database.
-- The extensions vector and pg_trgm stay, and so do the roles, since other databases of the cluster
-- may use them; when none does:
--     drop role recall_owner, recall_writer, recall_reader, recall_worker, recall_admin;
-- (first `drop owned by recall_owner;` here, if the extensions live in a schema of their own).
\set ON_ERROR_STOP on
begin;
set local client_min_messages = warning;
set local search_path to pg_catalog, pg_temp;
do $uninstall$
declare
    v_suffix text;
begin
    perform pg_advisory_xact_lock(hashtextextended('pgrecall.install', 0));

    -- Jobs of pg_cron survive a DROP SCHEMA and would fail for ever. Their names end as
    -- recall._cron_suffix says, which may be gone already.
    v_suffix := '@' || case when octet_length(current_database()) <= 29
                            then current_database()::text
                            else left(md5(current_database()), 29) end;
    if to_regclass('cron.job') is not null then
        execute $sql$
            select cron.unschedule(j.jobid)
              from cron.job as j
             where starts_with(j.jobname, 'recall_')
               and right(j.jobname, length($1)) = $1
        $sql$ using v_suffix;
    elsif exists (select from pg_catalog.pg_settings where name = 'cron.database_name') then
        raise warning 'pg_cron lives in another database; if it runs maintenance of this one, run '
                      'there: select cron.unschedule(j.jobid) from cron.job as j where '
                      'starts_with(j.jobname, ''recall_'') and right(j.jobname, %) = %;',
                      length(v_suffix), quote_literal(v_suffix);
    end if;

    drop schema if exists recall cascade;
end;
$uninstall$;
commit;

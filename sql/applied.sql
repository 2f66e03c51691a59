-- Compare the migrations of this release with those that the database has recorded.
-- The setting recall.due_NNNN tells install.sql whether to run a migration. A new installation runs
-- none, since its tables have the newest form; record.sql records them all.
do $applied$
declare
    v_is_upgrade constant boolean := current_setting('recall.is_upgrade')::boolean;
    v_release    constant text    := recall.version();
    v_newest     text;
    v_migration  record;
begin
    for v_migration in
        select left(split_part(l.line, ' ', 1), 4) as number
          from regexp_split_to_table(current_setting('recall.migrations'), '\n') as l (line)
         where l.line <> ''
    loop
        perform set_config('recall.due_' || v_migration.number, 'false', true);
    end loop;
    if not v_is_upgrade then
        return;
    end if;

    -- Development versions precede their release: 0.1.0, 0.2.0.dev0, 0.2.0.
    select v.version
      into v_newest
      from (
            select v_release as version
             union
            select m.version from recall.migrations as m
             where m.version ~ '^\d+\.\d+\.\d+(\.dev\d+)?$'
           ) as v
     order by string_to_array(case when v.version like '%.dev%'
                                   then replace(v.version, '.dev', '.')
                                   else v.version || '.2147483647' end, '.')::integer[] desc
     limit 1;
    if v_newest <> v_release then
        raise exception using
            errcode = 'RC007',
            message = format('pgrecall %s is installed here, and a downgrade to %s is not possible',
                             v_newest, v_release),
            hint    = format('Install %s or later; or restore a backup that was made with %s.',
                             v_newest, v_release);
    end if;

    for v_migration in
        with listed as (
            select split_part(l.line, ' ', 1) as name,
                   decode(split_part(l.line, ' ', 2), 'hex') as checksum
              from regexp_split_to_table(current_setting('recall.migrations'), '\n') as l (line)
             where l.line <> ''
        ), applied as (
            select m.version as name, m.checksum
              from recall.migrations as m
             where m.version ~ '^\d{4}_'
        )
        select coalesce(l.name, a.name) as name, l.name is not null as is_listed,
               a.name is not null as is_applied, l.checksum = a.checksum as is_same,
               (select min(b.name collate "C")
                  from applied as b
                 where b.name collate "C" > l.name) as applied_later
          from listed as l
          full join applied as a on a.name = l.name
         order by coalesce(l.name, a.name) collate "C"
    loop
        if not v_migration.is_listed then
            raise exception using
                errcode = 'RC007',
                message = format('migration %s was applied here, and pgrecall %s does not have it',
                                 v_migration.name, v_release),
                hint    = 'Install the release that applied it, or a later one.';
        end if;
        if v_migration.is_applied and not v_migration.is_same then
            raise exception using
                errcode = 'RC007',
                message = format('migration %s has changed since it was applied here',
                                 v_migration.name),
                hint    = 'Install a release as it was published: a released migration never '
                          'changes.';
        end if;
        if not v_migration.is_applied and v_migration.applied_later is not null then
            raise exception using
                errcode = 'RC007',
                message = format('migration %s was not applied here, although the later %s was',
                                 v_migration.name, v_migration.applied_later),
                hint    = format('Restore a backup from before %s, and upgrade that.',
                                 v_migration.applied_later);
        end if;
        if not v_migration.is_applied then
            perform set_config('recall.due_' || left(v_migration.name, 4), 'true', true);
        end if;
    end loop;
end;
$applied$;

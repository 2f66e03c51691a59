-- Refuse a first installation whose roles another database uses, unless its installer consents.
-- Roles belong to the cluster: a reader of the other database could read here, too. Upgrades,
-- copies and restored databases have users already, so they only warn.
do $sharing$
declare
    v_prefix  constant text := current_setting('recall.role_prefix');
    v_key     constant integer := hashtext(v_prefix);
    v_others  text[];
    v_message text;
    v_until   timestamptz := clock_timestamp() + coalesce(
                  nullif(current_setting('lock_timeout')::interval, '0'), '1 minute');
begin
    if current_setting('recall.share_roles')::boolean then
        return;
    end if;

    -- Advisory locks apply to one database, but pg_locks shows those of all. Each first installer
    -- takes its own, then checks for others: the second of two always sees the first.
    while to_regclass('recall.settings') is null loop
        begin
            perform pg_advisory_xact_lock(1919247212, v_key);
            select array_agg(distinct d.datname)
              into v_others
              from pg_catalog.pg_locks as l
              join pg_catalog.pg_database as d on d.oid = l.database
             where l.locktype = 'advisory'
               and l.classid  = 1919247212
               and l.objid    = (v_key::bigint & 4294967295)::oid
               and l.objsubid = 2
               and l.granted
               and d.datname <> current_database();
            exit when v_others is null;
            raise lock_not_available;
        exception when lock_not_available then -- which releases the lock
            if clock_timestamp() > v_until then
                raise exception using
                    errcode = 'RC007',
                    message = format('an installer in database %s holds the roles %s_*',
                                     array_to_string(v_others, ', '), v_prefix),
                    hint    = 'Try again when it has ended, or choose other roles: '
                              'set recall.role_prefix = ''…'';';
            end if;
            perform pg_sleep(0.05 + random() / 10);
        end;
    end loop;

    v_others := recall._databases_sharing_roles(v_prefix);
    if v_others is null then
        return;
    end if;

    v_message := format('the roles %s_* are in use in database %s', v_prefix,
                        array_to_string(v_others[:5], ', ')
                        || case when cardinality(v_others) > 5
                                then format(' and %s more', cardinality(v_others) - 5)
                                else '' end);
    if to_regclass('recall.settings') is null then
        raise exception using
            errcode = 'RC007',
            message = v_message,
            detail  = 'Their members would get the same rights here.',
            hint    = 'Choose roles of this database''s own: set recall.role_prefix = ''…''; or '
                      'accept it: set recall.share_roles = on;';
    end if;
    raise warning using
        message = v_message,
        detail  = 'Their members have the same rights here.',
        hint    = 'Install again with roles of this database''s own: set recall.role_prefix = '
                  '''…''; or accept it: set recall.share_roles = on;';
end;
$sharing$;

-- Create or check the settings row.
-- Sizes are custom settings, so that every client can set them (PGOPTIONS, SET, the driver). On an
-- installed schema an unset size means the installed one; changing it raises an error. roles.sql
-- has determined the roles.
do $settings$
declare
    v_settings   recall.settings;
    v_name       text;
    v_value      text;
    v_dimensions integer;
    v_partitions integer;
    v_months     integer;
    v_prefix     constant text := current_setting('recall.role_prefix');
    v_share      constant boolean := current_setting('recall.share_roles')::boolean;
    v_owner      constant text := nullif(current_setting('recall.owner', true), '');
    v_config     record;
begin
    foreach v_name in array array['embedding_dimensions', 'hash_partitions',
                                  'history_months_ahead'] loop
        v_value := nullif(current_setting('recall.' || v_name, true), '');
        continue when v_value is null;

        if v_value !~ '^[0-9]{1,6}$'
           or v_value::integer not between (case v_name when 'hash_partitions' then 0 else 1 end)
              and (
                  case v_name
                      when 'embedding_dimensions' then 16000
                      when 'hash_partitions' then 1024
                      else 120
                  end) then
            raise exception using
                errcode = 'RC007',
                message = format('recall.%s is %s', v_name, quote_literal(v_value)),
                hint    = 'embedding_dimensions: 1 to 16000, hash_partitions: 0 to 1024, '
                          'history_months_ahead: 1 to 120.';
        end if;

        case v_name
            when 'embedding_dimensions' then v_dimensions := v_value;
            when 'hash_partitions' then v_partitions := v_value;
            else v_months := v_value;
        end case;
    end loop;

    select s.* into v_settings from recall.settings as s;

    if not found then
        insert into recall.settings (embedding_dimensions, hash_partitions, history_months_ahead,
                                     role_prefix, share_roles, owner)
        values (coalesce(v_dimensions, 1536), coalesce(v_partitions, 8), coalesce(v_months, 3),
                v_prefix, v_share, v_owner);
        return;
    end if;

    if v_dimensions <> v_settings.embedding_dimensions
       or v_partitions <> v_settings.hash_partitions then
        raise exception using
            errcode = 'RC007',
            message = format('installed with %s dimensions and %s hash partitions, not %s and %s',
                             v_settings.embedding_dimensions, v_settings.hash_partitions,
                             coalesce(v_dimensions, v_settings.embedding_dimensions),
                             coalesce(v_partitions, v_settings.hash_partitions)),
            hint    = case
                when v_dimensions <> v_settings.embedding_dimensions
                then format('Leave the settings out to upgrade. To change the model: pgrecall '
                            'embeddings migrate --to MODEL --dimensions %s', v_dimensions)
                else 'Leave the settings out to upgrade; install into a new database to change '
                     'them.' end;
    end if;

    update recall.settings as s
       set history_months_ahead = coalesce(v_months, s.history_months_ahead),
           role_prefix          = v_prefix,
           share_roles          = v_share,
           owner                = coalesce(v_owner, s.owner)
     where s.history_months_ahead <> v_months
        or s.role_prefix <> v_prefix
        or s.share_roles <> v_share
        or s.owner is distinct from coalesce(v_owner, s.owner);

    -- Functions of older releases searched the schemas of the extensions, too: a configuration of
    -- theirs needs its schema now.
    for v_config in
        select c.oid::regconfig::text as qualified, quote_ident(c.cfgname) as name
          from pg_catalog.pg_ts_config as c
         where c.cfgnamespace in (
                   select e.extnamespace from pg_catalog.pg_extension as e
                    where e.extname in ('vector', 'pg_trgm'))
           and not pg_input_is_valid(quote_ident(c.cfgname), 'regconfig')
    loop
        update recall.settings as s
           set language = v_config.qualified
         where s.language = v_config.name;
        update recall.users as u
           set overrides = u.overrides || jsonb_build_object('language', v_config.qualified)
         where u.overrides ->> 'language' = v_config.name;
    end loop;
end;
$settings$;

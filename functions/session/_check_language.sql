-- Check that a language is the name of a text search configuration.
-- Settings hold the name, since pg_upgrade refuses tables with OIDs of configurations. A name of
-- three parts is rejected first, since the input function of the type would raise.
-- Raises  RC003.
create or replace function recall._check_language(
    p_language jsonb
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_name constant text := p_language #>> '{}';
begin
    if v_name is null then
        return;
    end if;
    if jsonb_typeof(p_language) = 'string'
       and v_name ~ '^ *("[^"]+"|[^". 0-9-][^". ]*)(\.("[^"]+"|[^". ]+))? *$' then
        if pg_input_is_valid(v_name, 'regconfig') then
            return;
        end if;
    end if;
    raise exception using
        errcode = 'RC003',
        message = format('language is %s', left(p_language::text, 80)),
        hint    = 'Pass the name of a text search configuration of this database, such as english, '
                  'simple or public.my_words: select cfgname from pg_ts_config.';
end;
$function$;

comment on function recall._check_language(jsonb) is
    'Reject a language that is not the name of a text search configuration (RC003).';

-- Check that a language is the name of a text search configuration.
-- By its name: the number of a text search configuration may be nobody's, or another's after a
-- restore. A name of three parts makes the type's input function raise, so it is refused before.
-- Raises  RC003.
create or replace function recall._check_language(
    p_language jsonb
)
returns void
language plpgsql
stable
parallel safe
set search_path from current
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
    'Refuse a language that is no name of a text search configuration (RC003).';

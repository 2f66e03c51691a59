-- Return the patterns of some classes of secrets as JSON for a driver.
create or replace function recall._pattern_list(
    p_classes text[]
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return (
        select jsonb_agg(jsonb_build_object('class', p.class, 'mark', p.mark, 'needs', p.needs,
                                            'pattern', p.pattern) order by p.place)
          from recall._secret_patterns() with ordinality
                   as p (class, mark, needs, pattern, place)
         where p.class = any (p_classes));
end;
$function$;

comment on function recall._pattern_list(text[]) is
    'Class, mark, needs and pattern of secrets as JSON: see _secret_patterns.';

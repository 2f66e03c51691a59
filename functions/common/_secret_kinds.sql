-- List the patterns that may match a text: those of which it has what they need.
-- A long text is searched for two dozen needs at once, and only then for each of those that are in
-- it: each of the 240 takes 1 ms per MB, as does an expression for all the two dozen.
create or replace function recall._secret_kinds(
    p_text    text,
    p_classes text[]
)
returns table (
    class   text,
    mark    text,
    pattern text
)
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_lowered constant text collate "C" := lower(p_text collate "C");
    v_needs   text[];
begin
    if length(p_text) < 20000 then
        return query
        select p.class, p.mark, p.pattern
          from recall._secret_patterns() as p
         where p.class = any (p_classes)
           and recall._has_any(v_lowered, p.needs);
        return;
    end if;

    with needs as (
        select n.need, row_number() over (order by length(n.need), n.need) / 24 as part
          from (
                select distinct unnest(p.needs) as need
                  from recall._secret_patterns() as p
                 where p.class = any (p_classes)) as n
    ), parts as materialized (
        select array_agg(n.need) as needs
          from needs as n
         group by n.part
        having v_lowered ~ string_agg(regexp_replace(n.need, '([^[:alnum:]])', '\\\1', 'g'), '|')
    )
    select array_agg(n.need)
      into v_needs
      from parts as p
     cross join unnest(p.needs) as n (need)
     where strpos(v_lowered, n.need) > 0;
    return query
    select p.class, p.mark, p.pattern
      from recall._secret_patterns() as p
     where p.class = any (p_classes)
       and p.needs && v_needs;
end;
$function$;

comment on function recall._secret_kinds(text, text[]) is
    'The patterns of secrets that may match a text, by what each of them needs.';

-- Sort the items of plain lists, and return the words without commas.
-- "French and Dutch" equals "Dutch and French". A list has single words, follows a verb in the
-- third person or a preposition, and ends the text or a part of it. In "cold tea and coffee" and
-- "tea and coffee machines" the order carries meaning.
create or replace function recall._sort_lists(
    p_words text[]
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_signs constant text[] := '{",",and,und,et,y,e,i}'::text[];
    v_words text[] := '{}'::text[];
    v_items text[];
    v_at    integer := 1;
    v_next  integer;
begin
    while v_at <= cardinality(p_words) loop
        v_items := p_words[v_at : v_at];
        v_next  := v_at + 1;
        while p_words[v_next] = any (v_signs) and v_next < cardinality(p_words) loop
            if p_words[v_next] = ',' and p_words[v_next + 1] = any (v_signs) then
                v_next := v_next + 1;
            end if;
            v_items := v_items || p_words[v_next + 1];
            v_next  := v_next + 2;
        end loop;
        if cardinality(v_items) > 1
           and (p_words[v_at - 1] ~ '[^s'']s$'
                or p_words[v_at - 1] = any ('{in,at,to,with,for,from,of,about,are}'))
           and (v_next > cardinality(p_words)
                or p_words[v_next] = any ('{in,on,at,with,for,from,since,because,every}')) then
            v_words := v_words || array(select i.item from unnest(v_items) as i (item) order by 1);
            v_at    := v_next;
        else
            v_words := v_words || p_words[v_at];
            v_at    := v_at + 1;
        end if;
    end loop;
    return array_remove(v_words, ',');
end;
$function$;

comment on function recall._sort_lists(text[]) is
    'Words of a text without commas, the items of plain lists sorted.';

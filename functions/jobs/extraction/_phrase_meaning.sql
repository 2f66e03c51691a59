-- Find the longest known phrase at the beginning or end of a clause: its meaning and length.
create or replace function recall._phrase_meaning(
    p_words text[],
    p_place text,
    out o_meaning text,
    out o_length  integer
)
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_count constant integer := least(8, cardinality(p_words));
    v_parts text[] := '{}'::text[];
begin
    for v_length in 1 .. v_count loop
        v_parts := v_parts || array_to_string(
            case when p_place = 'first' then p_words[: v_length]
                 else p_words[cardinality(p_words) - v_length + 1 :] end, ' ');
    end loop;

    select p.meaning, array_position(v_parts, p.phrase)
      into o_meaning, o_length
      from recall.verbatim_phrases as p
     where p.place  = p_place
       and p.phrase = any (v_parts)
     order by 2 desc
     limit 1;
end;
$function$;

comment on function recall._phrase_meaning(text[], text) is
    'Meaning and length of the longest known phrase at the beginning (first) or end (last) of a '
    'clause.';

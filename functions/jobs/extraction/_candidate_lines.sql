-- Return the first candidates as lines of a prompt, each above the memories most similar to it.
create or replace function recall._candidate_lines(
    p_open      jsonb,
    p_count     integer,
    p_shown     integer,
    p_is_sealed boolean
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return (
        select jsonb_path_query_array(jsonb_agg(
                   case when l.place = 1 and l.below = 0 then l.pieces
                        else jsonb '["\n"]' || l.pieces end order by l.place, l.below), '$[*][*]')
          from (
                select o.place, 0 as below, jsonb_build_array(
                           format('%s. ', o.place),
                           recall._prompt_piece(o.item ->> 'content', 500, p_is_sealed, true),
                           format(' (%s)', o.item ->> 'kind')) as pieces
                  from jsonb_array_elements(p_open) with ordinality as o (item, place)
                 where o.place <= p_count
                 union all
                select o.place, n.below, jsonb_build_array(
                           format('   %s) ', n.below),
                           recall._prompt_piece(n.memory ->> 'content', 500, p_is_sealed, true,
                                                n.memory -> 'memory_id'),
                           format(' (%s, %s)', n.memory ->> 'kind',
                                  left(n.memory ->> 'observed_at', 10)))
                  from jsonb_array_elements(p_open) with ordinality as o (item, place)
                 cross join lateral jsonb_array_elements(o.item -> 'neighbors')
                                    with ordinality as n (memory, below)
                 where o.place <= p_count
                   and n.below <= p_shown
               ) as l);
end;
$function$;

comment on function recall._candidate_lines(jsonb, integer, integer, boolean) is
    'Candidates and the memories most similar to them, as lines of a prompt in pieces.';

-- Return sets of episodes that are likely about one matter, each episode in one set at most.
-- A set begins with the pair of the highest score. It then adds the episode with the highest sum of
-- scores among those linked to all members, or strongly to one: two wordings with nothing in common
-- may belong to one matter through a third. The mean score stays at settings.pattern_deviations or
-- more, and that of each addition at half of it.
create or replace function recall._similar_episodes(
    p_user_id  uuid,
    p_now      timestamptz,
    p_taken    uuid[],
    p_settings recall.settings
)
returns table (memory_ids uuid[])
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_most   constant integer := 20;
    v_least  constant real    := p_settings.pattern_deviations;
    v_ids    uuid[]           := recall._recent_episodes(p_user_id, p_now, p_taken, p_settings);
    v_count  integer          := cardinality(v_ids);
    v_scores real[];
    v_links  varbit[];
    v_strong varbit[];
    v_free   varbit;
    v_open   varbit;
    v_all    varbit;
    v_any    varbit;
    v_more   varbit;
    v_pair   record;
    v_set    integer[];
    v_sum    double precision;
    v_next   record;
    v_index  integer;
begin
    if v_count < p_settings.pattern_episodes then
        return;
    end if;

    v_scores := recall._episode_links(p_user_id, v_ids, p_settings);
    with rows as (
        select (s.place - 1) / v_count as index,
               string_agg(case when s.score >= v_least - 1.5 then '1' else '0' end, ''
                          order by s.place)::varbit as links,
               string_agg(case when s.score >= v_least then '1' else '0' end, ''
                          order by s.place)::varbit as strong
          from unnest(v_scores) with ordinality as s (score, place)
         group by (s.place - 1) / v_count
    )
    select array_agg(r.links order by r.index), array_agg(r.strong order by r.index)
      into v_links, v_strong
      from rows as r;
    v_free   := repeat('1', v_count)::varbit;

    for v_pair in
        select p.one::integer, p.other::integer, p.score
          from (
                select (s.place - 1) / v_count + 1 as one, (s.place - 1) % v_count + 1 as other,
                       s.score
                  from unnest(v_scores) with ordinality as s (score, place)
                 where s.score >= v_least
               ) as p
         where p.one < p.other
         order by p.score desc, p.one, p.other
    loop
        continue when get_bit(v_free, v_pair.one - 1) = 0 or get_bit(v_free, v_pair.other - 1) = 0;
        v_set  := array[v_pair.one, v_pair.other];
        v_sum  := v_pair.score;
        v_open := set_bit(set_bit(v_free, v_pair.one - 1, 0), v_pair.other - 1, 0);
        v_all  := v_links[v_pair.one] & v_links[v_pair.other];
        v_any  := v_strong[v_pair.one] | v_strong[v_pair.other];
        v_more := v_open & (v_all | v_any);
        while position(b'1' in v_more) > 0 and cardinality(v_set) < v_most loop
            select c.index,
                   (select sum(v_scores[(c.index - 1) * v_count + s.index])
                      from unnest(v_set) as s (index)) as score
              into v_next
              from generate_series(1, v_count) as c (index)
             where get_bit(v_more, c.index - 1) = 1
             order by score desc, c.index
             limit 1;
            exit when 2 * v_next.score < v_least * cardinality(v_set)
                   or cardinality(v_set) >= p_settings.pattern_episodes
                      and 2 * (v_sum + v_next.score)
                          < v_least * cardinality(v_set) * (cardinality(v_set) + 1);
            v_set  := v_set || v_next.index;
            v_sum  := v_sum + v_next.score;
            v_open := set_bit(v_open, v_next.index - 1, 0);
            v_all  := v_all & v_links[v_next.index];
            v_any  := v_any | v_strong[v_next.index];
            v_more := v_open & (v_all | v_any);
        end loop;
        continue when cardinality(v_set) < p_settings.pattern_episodes
                   or 2 * v_sum < v_least * cardinality(v_set) * (cardinality(v_set) - 1);

        foreach v_index in array v_set loop
            v_free := set_bit(v_free, v_index - 1, 0);
        end loop;
        memory_ids := array(
            select v_ids[s.index] from unnest(v_set) as s (index) order by s.index desc);
        return next;
    end loop;
end;
$function$;

comment on function recall._similar_episodes(uuid, timestamptz, uuid[], recall.settings) is
    'Sets of a user''s recent episodes that are likely about one matter, oldest episode first.';

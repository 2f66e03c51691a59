-- recall._similar_episodes(user, now, taken, settings) -> sets of episodes, pairwise similar
-- Latest first, each in one set at most. A set begins with an episode, a similar one and a third
-- that is similar to both, and takes in what is similar to all that it has; so three that are
-- pairwise similar are always found, the largest set not always. Links stand as bits, one a pair.
-- Cost: n² / 2 comparisons of the last settings.pattern_candidates episodes.
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
set search_path from current
as $function$
declare
    v_most  constant integer := 20;
    v_ids   uuid[]           := recall._recent_episodes(p_user_id, p_now, p_taken, p_settings);
    v_links varbit[]         := recall._episode_links(p_user_id, v_ids, p_settings);
    v_count integer          := cardinality(v_ids);
    v_free  varbit           := repeat('1', v_count)::varbit;
    v_near  varbit;
    v_more  varbit;
    v_set   integer[];
    v_place integer;
begin
    for v_first in 1 .. v_count loop
        continue when get_bit(v_free, v_first - 1) = 0;
        v_near := v_links[v_first] & v_free;

        for v_second in v_first + 1 .. v_count loop
            continue when get_bit(v_near, v_second - 1) = 0;
            v_set  := array[v_first, v_second];
            v_more := v_near & v_links[v_second];
            loop
                v_place := position(b'1' in v_more);
                exit when v_place = 0 or cardinality(v_set) >= v_most;
                v_set  := v_set || v_place;
                v_more := v_more & v_links[v_place];
            end loop;
            continue when cardinality(v_set) < p_settings.pattern_episodes;

            foreach v_place in array v_set loop
                v_free := set_bit(v_free, v_place - 1, 0);
            end loop;
            memory_ids := array(
                select v_ids[s.place] from unnest(v_set) as s (place) order by s.place desc);
            return next;
            exit;
        end loop;
    end loop;
end;
$function$;

comment on function recall._similar_episodes(uuid, timestamptz, uuid[], recall.settings) is
    'Sets of a user''s recent episodes in which each two are similar, oldest episode first.';

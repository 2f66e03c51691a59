-- Return the first messages that fit a token budget as lines of a prompt; their number and tokens.
-- Exchanges are kept together; an exchange begins with a user message. If the first one alone is
-- too long, the middle of its messages is cut, then its last turns. At least one message is always
-- taken.
create or replace function recall._leading_turns(
    p_messages  jsonb,
    p_limits    jsonb,
    p_room      integer,
    p_is_sealed boolean,
    out o_pieces jsonb,
    out o_taken  integer,
    out o_tokens integer
)
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_shortest constant integer := 60;
    v_count    integer := jsonb_array_length(p_messages);
    v_limits   jsonb   := p_limits;
    v_limit    integer := (select max(l.value::integer) from jsonb_each(p_limits) as l);
    v_is_first boolean := true;
    v_whole    integer;
    v_end      integer;
begin
    loop
        with lines as materialized (
            select e.place, l.o_pieces, sum(l.o_tokens) over (order by e.place) as tokens
              from jsonb_array_elements(p_messages) with ordinality as e (message, place)
             cross join lateral recall._message_line(e.message, v_limits, p_is_sealed) as l
             where e.place <= v_count
        ),
        taken as (
            select count(*)::integer as number from lines as l where l.tokens <= p_room
        )
        select t.number,
               jsonb_path_query_array(
                   jsonb_agg(case when l.place = 1 then l.o_pieces
                                  else jsonb '["\n"]' || l.o_pieces end
                             order by l.place), '$[*][*]'),
               max(l.tokens)
          into o_taken, o_pieces, o_tokens
          from taken as t
          join lines as l on l.place <= greatest(t.number, 1)
         group by t.number;
        exit when o_taken >= v_count;

        if v_is_first then
            -- Stop after the last whole exchange that fits; else shorten the first one.
            select max(e.place - 1) filter (where e.place - 1 <= o_taken), min(e.place - 1)
              into v_whole, v_end
              from jsonb_array_elements(p_messages) with ordinality as e (message, place)
             where e.message ->> 'role' = 'user'
               and e.place > 1;
            v_is_first := false;
            v_count := coalesce(v_whole, v_end, v_count);
        elsif v_limit <= v_shortest then
            exit;
        end if;
        if v_whole is null then
            v_limit  := v_limit / 2;
            v_limits := (select jsonb_object_agg(l.key, least(l.value::integer, v_limit))
                           from jsonb_each(p_limits) as l);
        end if;
    end loop;
    o_taken := greatest(1, least(o_taken, v_count));
end;
$function$;

comment on function recall._leading_turns(jsonb, jsonb, integer, boolean) is
    'First messages that fit a token budget, as lines of a prompt in pieces; their number and '
    'their tokens.';

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
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_shortest constant integer := 60;
    v_count    integer := jsonb_array_length(p_messages);
    v_limits   jsonb   := p_limits;
    v_limit    integer := (select max(l.value::integer) from jsonb_each(p_limits) as l);
    v_is_first boolean := true;
    v_whole    integer;
    v_end      integer;
    v_message  jsonb;
    v_role     text;
    v_body     text;
    v_line     record;
    v_piece    jsonb;
    v_tokens   integer;
    v_pieces   jsonb[];
begin
    loop
        o_taken  := 0;
        o_tokens := 0;
        v_pieces := '{}'::jsonb[];
        for v_message in
            select e.message
              from jsonb_array_elements(p_messages) with ordinality as e (message, place)
             where e.place <= v_count
        loop
            v_role := v_message ->> 'role';
            v_body := v_message ->> 'text';
            if not p_is_sealed
               and recall._text_length(v_body) <= coalesce((v_limits ->> v_role)::integer, 1200)
               and v_message ? 'token_count' and not v_message ?| '{name,tool_calls}'
               and recall._prompt_text(v_body) = v_body then
                -- Most messages need nothing of _message_line but the indent, and take a third of
                -- the time here.
                v_tokens := o_tokens + (v_message ->> 'token_count')::integer + 8;
                if strpos(v_body, E'\n') > 0 then
                    v_tokens := v_tokens + length(v_body) - length(replace(v_body, E'\n', ''));
                    v_body   := replace(v_body, E'\n', E'\n  ');
                end if;
                v_piece  := to_jsonb(format(
                    '%s[%s] %s: %s', case when o_taken > 0 then E'\n' end,
                    v_message ->> 'turn_index', v_role, v_body));
            else
                v_line   := recall._message_line(v_message, v_limits, p_is_sealed);
                v_tokens := o_tokens + v_line.o_tokens;
                v_piece  := case when o_taken = 0 then v_line.o_pieces
                                 else jsonb '["\n"]' || v_line.o_pieces end;
            end if;
            exit when v_tokens > p_room and o_taken > 0;
            v_pieces := array_append(v_pieces, v_piece);
            o_tokens := v_tokens;
            exit when v_tokens > p_room;
            o_taken  := o_taken + 1;
        end loop;
        o_pieces := jsonb_path_query_array(to_jsonb(v_pieces), '$[*][*]');
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

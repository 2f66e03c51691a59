-- Return the first lines of a prompt that fit a token budget, joined; their number and tokens.
create or replace function recall._leading_lines(
    p_lines jsonb,
    p_room  integer,
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
    v_line   jsonb;
    v_tokens integer;
begin
    o_pieces := '[]';
    o_taken  := 0;
    o_tokens := 0;
    for v_line in select e.line from jsonb_array_elements(p_lines) as e (line) loop
        v_tokens := o_tokens + recall._pieces_tokens(v_line) + 1;
        exit when v_tokens > p_room;
        o_pieces := o_pieces || case when o_taken = 0 then jsonb '[]' else jsonb '["\n"]' end
                    || v_line;
        o_taken  := o_taken + 1;
        o_tokens := v_tokens;
    end loop;
end;
$function$;

comment on function recall._leading_lines(jsonb, integer) is
    'First lines of a prompt, each a list of pieces, that fit a token budget; their number and '
    'their tokens.';

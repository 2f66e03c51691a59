-- Replace the middle of a text by a mark, so that at most p_tokens tokens remain.
-- Tokens are estimated and rounded up.
create or replace function recall._shortened_text(
    p_text   text,
    p_tokens bigint
)
returns text
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_mark  constant text := E'\n[… the middle is left out …]\n';
    v_left  constant bigint := p_tokens - recall._estimate_tokens(v_mark);
    v_least integer := 0;
    -- Except in degenerate texts, a token has at most 16 characters.
    v_most  integer := least(length(p_text), greatest(0, v_left) * 16);
    v_half  integer;
begin
    while v_least < v_most loop
        v_half := (v_least + v_most + 1) / 2;
        if recall._estimate_tokens(left(p_text, (v_half + 1) / 2))
           + recall._estimate_tokens(right(p_text, v_half / 2)) <= v_left then
            v_least := v_half;
        else
            v_most := v_half - 1;
        end if;
    end loop;
    return left(p_text, (v_least + 1) / 2) || v_mark || right(p_text, v_least / 2);
end;
$function$;

comment on function recall._shortened_text(text, bigint) is
    'A text without its middle, of at most so many estimated tokens.';

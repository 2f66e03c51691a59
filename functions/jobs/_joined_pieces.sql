-- Return the pieces of a prompt as the content of a message: a text, or segments with ciphertexts.
create or replace function recall._joined_pieces(
    p_pieces jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    if jsonb_path_exists(p_pieces, '$[*] ? (@.type() == "object")') then
        return (
            select jsonb_agg(case jsonb_typeof(e.piece)
                                 when 'string' then jsonb_build_object('text', e.piece)
                                 else e.piece end order by e.place)
              from jsonb_array_elements(p_pieces) with ordinality as e (piece, place));
    end if;
    return (
        select to_jsonb(string_agg(e.piece, '' order by e.place))
          from jsonb_array_elements_text(p_pieces) with ordinality as e (piece, place));
end;
$function$;

comment on function recall._joined_pieces(jsonb) is
    'Content of a message: a text, or segments (text, or ciphertext with max_characters and '
    'one_line) when the worker has to decrypt some.';

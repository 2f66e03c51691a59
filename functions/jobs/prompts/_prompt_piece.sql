-- Convert a text to a piece of a prompt: cut its middle when too long, and neutralize it.
-- Further lines are indented, or joined with p_is_line. For an encrypted user the piece holds the
-- ciphertext, and the worker decrypts it (or rejects other text) and applies the same rules.
create or replace function recall._prompt_piece(
    p_text      text,
    p_limit     integer,
    p_is_sealed boolean,
    p_is_line   boolean default false,
    p_row       jsonb   default null
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_text text collate pg_c_utf8 := p_text;
begin
    if p_is_sealed and p_text <> '' then
        return jsonb_build_object('ciphertext', p_text, 'max_characters', p_limit,
                                  'one_line', p_is_line)
               || case when p_row is null then jsonb '{}'
                       else jsonb_build_object('row', p_row) end;
    end if;
    if length(v_text) > p_limit then
        v_text := left(v_text, p_limit * 2 / 3) || ' … ' || right(v_text, p_limit / 3);
    end if;
    v_text := recall._prompt_text(v_text);
    v_text := case when p_is_line then btrim(regexp_replace(v_text, '\s+', ' ', 'g'))
                   else replace(v_text, E'\n', E'\n  ') end;
    return to_jsonb(coalesce(v_text, ''));
end;
$function$;

comment on function recall._prompt_piece(text, integer, boolean, boolean, jsonb) is
    'A text as a piece of a prompt, shortened and harmless; or a ciphertext with instructions '
    'for the worker.';

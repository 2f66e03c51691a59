-- Join parts of a prompt, each a list of pieces, with line breaks; leave out empty parts.
create or replace function recall._prompt_parts(
    p_parts jsonb[]
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_pieces jsonb := jsonb '[]';
    v_part   jsonb;
begin
    foreach v_part in array p_parts loop
        continue when v_part = '[]';
        v_pieces := v_pieces
                    || case when v_pieces = '[]' then jsonb '[]' else jsonb '["\n"]' end
                    || v_part;
    end loop;
    return v_pieces;
end;
$function$;

comment on function recall._prompt_parts(jsonb[]) is
    'Parts of a prompt, each a list of pieces, as one list with line breaks between them.';

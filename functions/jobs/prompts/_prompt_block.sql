-- Enclose pieces in tags as a part of a prompt; return no part for no pieces.
create or replace function recall._prompt_block(
    p_tag    text,
    p_pieces jsonb
)
returns jsonb
language sql
immutable
parallel safe
return case when p_pieces is null or p_pieces in ('[]', '[""]') then jsonb '[]'
            else jsonb_build_array(format(E'<%s>\n', p_tag)) || p_pieces
                 || jsonb_build_array(format(E'\n</%s>', p_tag)) end;

comment on function recall._prompt_block(text, jsonb) is
    'Pieces of a prompt between tags; empty when there are no pieces.';

-- Reduce a text to one line without anything that could act as prompt injection.
-- Control and invisible characters go, and delimiters and tokens are escaped. A line break between
-- becomes a space. pgrecall._plain does the same.
create or replace function recall._plain_text(
    p_text text
)
returns text
language sql
immutable
parallel safe
return case
    when p_text collate "C" !~ ('[\u0001-\u001f\u007f-\u009f\u2028\u2029' || recall._invisible()
                                || recall._opening_signs() || '[\uff3b\u3010]')
        then p_text
    else recall._neutralized(
        regexp_replace(p_text collate "C", '[\u0001-\u001f\u007f-\u009f\u2028\u2029]+', ' ', 'g'),
        '&lt;', '&#91;')
end;

comment on function recall._plain_text(text) is
    'A stored text as one line without control, bidirectional or invisible characters, and with '
    'delimiters escaped.';

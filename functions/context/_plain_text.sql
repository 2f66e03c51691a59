-- recall._plain_text(text) -> the text on one line, with nothing that could act in a prompt
-- Control and bidirectional characters go, white space collapses, and what would open or close
-- one of our blocks is defused.
create or replace function recall._plain_text(
    p_text text
)
returns text
language sql
immutable
parallel safe
return case
    when p_text !~ '[\u0001-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff<]'
        then p_text
    else regexp_replace(
             regexp_replace(
                 regexp_replace(p_text,
                                '[\u0001-\u001f\u007f-\u009f\u2028\u2029]+', ' ', 'g'),
                 '[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]', '', 'g'),
             '<(\s*/?\s*(memories|working_memory|summary|recalled))', '&lt;\1', 'gi')
end;

comment on function recall._plain_text(text) is
    'A stored text as one harmless line: no control or bidirectional characters, no delimiters.';

-- Return the characters that are not displayed, as the inside of a bracket expression.
-- Bidirectional and other format characters, fillers, tags and variation selectors can hide a whole
-- sentence. pgrecall._plain has the same list in Python.
create or replace function recall._invisible()
returns text
language sql
immutable
parallel safe
return '\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e'
       '\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f'
       '\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff';

comment on function recall._invisible() is
    'Invisible characters as the inside of a bracket expression: for prompts, content and hashes.';

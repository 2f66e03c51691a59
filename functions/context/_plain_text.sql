-- recall._plain_text(text) -> the text on one line, with nothing that could act in a prompt
-- Control, bidirectional and invisible characters go (also the tags U+E0000 to U+E007F and the
-- variation selectors, in which a whole sentence can hide), white space collapses, and what would
-- open or close one of our blocks, or looks like a chat template's token (<|im_start|>, <<SYS>>,
-- </s>, [INST], <system>), is defused. The driver has the same for what it opens itself.
create or replace function recall._plain_text(
    p_text text
)
returns text
language sql
immutable
parallel safe
return case
    when p_text !~ ('[\u0001-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-'
                    '\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufe64\ufeff'
                    '\uff1c\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff<[]')
        then p_text
    else regexp_replace(regexp_replace(regexp_replace(regexp_replace(p_text,
             '[\u0001-\u001f\u007f-\u009f\u2028\u2029]+', ' ', 'g'),
             '[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-'
             '\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb'
             '\U000e0000-\U000e0fff]', '', 'g'),
             '[<\ufe64\uff1c]([ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]*(?:'
             '[|\uff5c]|<?/?SYS>|'
             '/?[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]*(?:'
             'memories|working_memory|summary|recalled|(?:s|bos|eos|unk|pad|(?:start|end)_of_turn|'
             'system|developer|user|assistant|human|model|tools?|tool_[a-z]+|functions?|'
             'function_[a-z]+|invoke|instructions?|think|thinking)(?![a-z0-9_.@:-]))))',
             '&lt;\1', 'gi'),
             '\[([ \u00a0]*/?[ \u00a0]*(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|'
             'TOOL_RESULTS|TOOL_CONTENT)[ \u00a0]*\])', '&#91;\1', 'gi')
end;

comment on function recall._plain_text(text) is
    'A stored text as one harmless line: no control, bidirectional or invisible characters, no '
    'delimiters.';

-- Reduce a text to one line without anything that could act as prompt injection.
-- Control and invisible characters go, white space collapses. It escapes our own delimiters and
-- tokens of chat templates (<|im_start|>, <<SYS>>, </s>, [INST], <system>, <system-reminder>), also
-- in full-width letters. pgrecall._plain does the same.
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
    -- In collation "C" the flag i folds ASCII only; a Turkish collation lowercases I differently.
    else regexp_replace(regexp_replace(regexp_replace(regexp_replace(p_text collate "C",
             '[\u0001-\u001f\u007f-\u009f\u2028\u2029]+', ' ', 'g'),
             '[' || recall._invisible() || ']', '', 'g'),
             '[' || recall._opening_signs() || ']('
             '[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]*(?:'
             '[|\uff5c]|<?/?SYS>|'
             '[/\uff0f]?[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]*(?:'
             '[\uff21-\uff3a\uff41-\uff5a]|'
             'memories|working_memory|summary|recalled|system[-_]|'
             '(?:s|bos|eos|unk|pad|(?:start|end)_of_turn|'
             '(?:system|developer|user|assistant|human|model)(?:[-_](?:prompt|message|turn'
             '|reminder))?|tools?|tool_[a-z]+|functions?|'
             'function_[a-z]+|invoke|instructions?|think|thinking)(?![a-z0-9_.@:-]))))',
             '&lt;\1', 'gi'),
             '[[\uff3b\u3010]([ \u00a0]*[/\uff0f]?[ \u00a0]*(?:[\uff21-\uff3a\uff41-\uff5a]'
             '|(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT)'
             '[ \u00a0]*[]\uff3d\u3011]))', '&#91;\1', 'gi')
end;

comment on function recall._plain_text(text) is
    'A stored text as one line without control, bidirectional or invisible characters, and with '
    'delimiters escaped.';

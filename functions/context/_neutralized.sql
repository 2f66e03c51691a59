-- Replace the first sign of each delimiter of ours and of each token of a chat template.
-- Tokens are <|im_start|>, <<SYS>>, </s>, [INST], <system>, <system-reminder> and so on, also in
-- full-width letters. Invisible characters could split one, so they go first. The lookaheads
-- consume nothing: a token inside of another one is found, too. pgrecall._plain does the same.
create or replace function recall._neutralized(
    p_text      text,
    p_less_than text,
    p_bracket   text
)
returns text
language sql
immutable
parallel safe
-- In collation "C" the flag i folds ASCII only; a Turkish collation lowercases I differently.
return regexp_replace(regexp_replace(regexp_replace(p_text collate "C",
    '[' || recall._invisible() || ']', '', 'g'),
    '[' || recall._opening_signs() || '](?=[/\uff0f' || recall._spaces() || ']*(?:'
    '[|\uff5c\uff21-\uff3a\uff41-\uff5a]|<?/?SYS>|'
    'memories|working_memory|summary|recalled|system[-_]|'
    '(?:conversation|profile|candidates|episodes|known)(?![a-z0-9_])|'
    '(?:s|bos|eos|unk|pad|(?:start|end)_of_turn|'
    '(?:system|developer|user|assistant|human|model)(?:[-_](?:prompt|message|turn'
    '|reminder))?|tools?|tool_[a-z]+|functions?|'
    'function_[a-z]+|invoke|instructions?|think|thinking)(?![a-z0-9_.@:-])))',
    p_less_than, 'gi'),
    '[[\uff3b\u3010](?=[/\uff0f' || recall._spaces() || ']*(?:[\uff21-\uff3a\uff41-\uff5a]'
    '|(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT)'
    '[' || recall._spaces() || ']*[]\uff3d\u3011]))',
    p_bracket, 'gi');

comment on function recall._neutralized(text, text, text) is
    'A text without invisible characters, in which p_less_than and p_bracket replace the first '
    'signs of delimiters and of tokens of chat templates.';

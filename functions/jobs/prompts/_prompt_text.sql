-- Neutralize a text for the prompt of a job: as recall._plain_text, but with its line breaks.
-- A punctuation mark replaces each sign. So a quote of the text differs from the stored one by
-- punctuation and white space only, and no text grows. "[3] user" would begin a message of a
-- prompt. pgrecall._plain does the same for encrypted users.
create or replace function recall._prompt_text(
    p_text text
)
returns text
language sql
immutable
parallel safe
return case
    when p_text collate "C" !~ ('[\u0001-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029'
                                || recall._invisible() || recall._opening_signs()
                                || '[\uff3b\u3010]')
        then p_text
    else regexp_replace(
        recall._neutralized(
            regexp_replace(p_text collate "C",
                           '[\u0001-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]+', ' ', 'g'),
            '(', '('),
        '[[\uff3b\u3010](?=[' || recall._spaces() || ']*[0-9\uff10-\uff19]+['
        || recall._spaces() || ']*[]\uff3d\u3011][' || recall._spaces() || ']*(?:'
        '(?:system|developer|user|assistant|tool|function)(?![a-z0-9_])'
        '|[\uff21-\uff3a\uff41-\uff5a]))', '(', 'gi')
end;

comment on function recall._prompt_text(text) is
    'A text for a prompt of a job, without what could act in it; line breaks stay.';

-- Return the pattern of how names of keys end, such as api_key.
create or replace function recall._secret_key_names()
returns text
language sql
immutable
parallel safe
return '(?:(?:' || array_to_string(recall._secret_key_words(), '|')
       || ')[_-]?(?:key|secret|token)|id[_-]?token)';

comment on function recall._secret_key_names() is
    'How the names of members and variables end that hold keys, secrets or tokens.';

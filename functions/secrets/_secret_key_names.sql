-- Return the pattern for the ends of key names, such as api_key.
create or replace function recall._secret_key_names()
returns text
language sql
immutable
parallel safe
return '(?:(?:' || array_to_string(recall._secret_key_words(), '|')
       || ')[_-]?(?:key|secret|token)|id[_-]?token)';

comment on function recall._secret_key_names() is
    'Pattern for the ends of member and variable names that contain keys, secrets or tokens.';

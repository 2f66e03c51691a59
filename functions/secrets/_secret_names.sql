-- Return the pattern of how names of secrets end, such as db_password or api_key.
create or replace function recall._secret_names()
returns text
language sql
immutable
parallel safe
return '(?:' || recall._secret_pass_names() || '|' || recall._secret_key_names() || ')';

comment on function recall._secret_names() is
    'How the names of members and variables end that are secrets, whatever they look like.';

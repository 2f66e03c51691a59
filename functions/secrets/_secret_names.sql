-- Return the pattern for the ends of names of secrets, such as db_password or api_key.
create or replace function recall._secret_names()
returns text
language sql
immutable
parallel safe
return '(?:' || recall._secret_pass_names() || '|' || recall._secret_key_names() || ')';

comment on function recall._secret_names() is
    'Pattern for the ends of member and variable names whose values are always secret.';

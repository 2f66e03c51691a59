-- List the words that turn "key", "secret" or "token" into the name of a secret (api in api_key).
create or replace function recall._secret_key_words()
returns text[]
language sql
immutable
parallel safe
return string_to_array(
    'api app secret access account signing private encryption master fernet subscription service '
    'deploy webhook client jwt session consumer shared oauth refresh auth security bot bearer '
    'personal registry vault okta gitlab github npm', ' ');

comment on function recall._secret_key_words() is
    'The words that names of keys, secrets and tokens begin with.';

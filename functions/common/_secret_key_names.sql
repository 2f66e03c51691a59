-- Return the pattern of how names of keys end, such as api_key.
create or replace function recall._secret_key_names()
returns text
language sql
immutable
parallel safe
return '(?:(?:api|app|secret|access|account|'
       'signing|private|encryption|master|fernet|subscription|service|deploy|webhook|client|jwt|'
       'session|consumer|shared|oauth|refresh|auth|security|bot|bearer|personal|registry|vault|'
       'okta|gitlab|github|npm)[_-]?(?:key|secret|token)|id[_-]?token)';

comment on function recall._secret_key_names() is
    'How the names of members and variables end that hold keys, secrets or tokens.';

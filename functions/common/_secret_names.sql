-- Return the pattern of how names of secrets end, such as db_password.
create or replace function recall._secret_names()
returns text
language sql
immutable
parallel safe
return '(?:pass(?:word|wd|phrase|code)|pwd|[_-]pass|id[_-]?token|(?:api|app|secret|access|account|'
       'signing|private|encryption|master|fernet|subscription|service|deploy|webhook|client|jwt|'
       'session|consumer|shared|oauth|refresh|auth|security|bot|bearer|personal|registry|vault|'
       'okta|gitlab|github|npm)[_-]?(?:key|secret|token))';

comment on function recall._secret_names() is
    'How the names of members and variables end that are secrets, whatever they look like.';

-- recall._secret_names() -> pattern of the names under which a JSON object keeps a secret
create or replace function recall._secret_names()
returns text
language sql
immutable
parallel safe
return '[\w.-]*(?:pass(?:word|wd|phrase)|pwd|(?:api|secret|access|account|signing|private)'
       '[_-]?key|(?:client|webhook)[_-]?secret|(?:access|refresh|auth|id|private|session|security|'
       'bot)[_-]?token)|secret|authorization|(?:set-)?cookie';

comment on function recall._secret_names() is
    'What a member of a JSON object is called that is a secret, whatever it looks like.';

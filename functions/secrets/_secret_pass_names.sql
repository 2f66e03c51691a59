-- Return the pattern of how names of passwords end, such as db_password.
create or replace function recall._secret_pass_names()
returns text
language sql
immutable
parallel safe
return '(?:pass(?:word|wd|phrase|code)|pwd|[_-]pass)';

comment on function recall._secret_pass_names() is
    'How the names of members and variables end that hold passwords.';

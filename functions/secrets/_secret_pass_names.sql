-- Return the pattern for the ends of password names, such as db_password.
create or replace function recall._secret_pass_names()
returns text
language sql
immutable
parallel safe
return '(?:pass(?:word|wd|phrase|code)|pwd|[_-]pass)';

comment on function recall._secret_pass_names() is
    'Pattern for the ends of member and variable names that contain passwords.';

-- Build the regular expression of a secret from a template.
-- @START@ begins a word, also after a JSON escape ("\nsk-…"). @APART@ is for forms that base64
-- could contain by chance. @PASS@ and @KEY@ end the name of a secret, @IS@ assigns a value, @ANY@
-- is a character of an unquoted value.
create or replace function recall._secret_pattern(
    p_is_cased boolean,
    p_before   text,
    p_secret   text
)
returns text
language sql
immutable
parallel safe
-- PostgreSQL puts the loop of x{9,} first and is in nine states at once; x{9}x* needs one.
return regexp_replace(
           replace(replace(replace(replace(replace(replace(
               case when p_is_cased then '' else '(?i)' end
                   || '(' || p_before || ')(' || p_secret || ')',
               '@PASS@', recall._secret_pass_names()),
               '@KEY@', recall._secret_key_names()),
               '@IS@', '(?:''?\s*(?::\s*[a-z]+\s*=|:=|=>|[:=])|%3[ad]|\\+u003[ad])\s*'),
               '@ANY@', '[^\s"''\\&,;<>{}\[\]]'),
               '@START@', '(?:\m|\\[bfnrt]|\\u[0-9a-fA-F]{4})'),
               '@APART@', '(?:^|[\s"''`=:,;(<>{}\[|@*]|\\[bfnrt"]|\\u[0-9a-fA-F]{4})'),
           '(\[(?:\\.|[^\]\\])*\]|\\.|[^])])\{(\d+),\}', '\1{\2}\1*', 'g');

comment on function recall._secret_pattern(boolean, text, text) is
    'The regular expression of a secret, built from its prefix and its form.';

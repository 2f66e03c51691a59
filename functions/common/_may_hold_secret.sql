-- recall._may_hold_secret(text) -> is it worth a closer look?
-- One pass over the text that most texts do not survive; the patterns are many.
create or replace function recall._may_hold_secret(
    p_text text
)
returns boolean
language sql
immutable
parallel safe
return p_text ~ (
    '(?i)\d(?:[ ./()-]{0,2}\d){8}|sk-|_(?:live|test|pat)_|whsec_|a[ksbc][ic]a|gh[pousr]_|glpat-|'
    'xox|xapp-|hooks\.slack|aiza|ya29\.|gocspx-|hf_|gsk_|npm_|pypi-|sg\.|xai-|r8_|pplx-|dop_v1_|'
    'dapi|shp|-key-|eyj|bearer|authorization|cookie|private|pass|pwd|key|secret|token|sig=|'
    'signature|x-amz|auth=|@|[a-z]{2}\d{2}');

comment on function recall._may_hold_secret(text) is
    'Whether a text has anything of what secrets are recognized by.';

-- recall._secret_patterns() -> class, mark, pattern
-- What a secret looks like. Group 1 of a pattern is what stands before the secret and stays (may
-- be empty); the rest of the match goes. A word also begins behind an escape of JSON ("\nsk-…"),
-- which a lookbehind would find ten times more slowly. No match ends inside such an escape or
-- crosses a quote, so that a masked JSON text is still one; none takes a mark again. Numbers with
-- check digits (cards, IBANs; group 1 empty) are candidates: see _is_secret_number.
create or replace function recall._secret_patterns()
returns table (
    class   text,
    mark    text,
    pattern text
)
language sql
immutable
parallel safe
begin atomic
    select p.class, format('[secret: %s]', replace(p.class, '_', ' ')),
           replace(replace(replace(p.pattern, '@KEY@', k.names), '@NEW@', '(?!\[secret: )'),
                   '@START@', '(?:\m|\\[bfnrt]|\\u[0-9a-fA-F]{4})')
      from (select '(?:pass(?:word|wd|phrase)|pwd|(?:api|secret|access|account|signing|private|'
                   'shared[_-]?access|secret[_-]?access)[_-]?key|client[_-]?secret|'
                   'webhook[_-]?secret|(?:access|refresh|auth|id|private|session|security|bot)'
                   '[_-]?token)') as k (names)
     cross join (values
            ('private_key',
             '()-----BEGIN (?:[A-Z0-9]+ ){0,3}?PRIVATE KEY(?: BLOCK)?-----[^"]*?'
             '-----END (?:[A-Z0-9]+ ){0,3}?PRIVATE KEY(?: BLOCK)?-----'),
            ('private_key',
             '()-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s-]|\\[nr])*'),
            ('private_key', '(@START@)AGE-SECRET-KEY-1[A-Z0-9]{30,}'),
            ('api_key',
             '(@START@)(?:sk-(?=[\w-]*\d)[\w-]{16,}|[srp]k_(?:live|test)_\w{10,}|whsec_\w{16,}|'
             'A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}\M|gh[pousr]_\w{20,}|github_pat_\w{20,}|'
             'glpat-[\w-]{16,}|xox[a-z]-[\w-]{10,}|xapp-[\w-]{10,}|AIza[\w-]{30,}|'
             'ya29\.[\w-]{16,}|GOCSPX-[\w-]{16,}|hf_\w{20,}|gsk_\w{20,}|npm_\w{30,}|'
             'pypi-[\w-]{30,}|SG\.[\w-]{16,}\.[\w-]{16,}|xai-\w{20,}|r8_\w{20,}|pplx-\w{20,}|'
             'dop_v1_\w{30,}|dapi[0-9a-f]{32}|shp(?:at|ca|pa|ss)_[0-9a-f]{32}|SK[0-9a-f]{32}\M|'
             '\d{8,10}:AA[\w-]{30,})'),
            ('api_key', '(hooks\.slack\.com/services/)@NEW@[\w/]{10,}'),
            ('token', '(@START@)eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)*'),
            ('token',
             '(?i)(authorization\\*["'']?\s*[:=]\s*\\*["'']?(?:bearer|basic|token|digest|apikey|'
             'bot|negotiate)\s+)@NEW@[^\s"''\\,]+'),
            ('token',
             '(?i)(@START@(?:bearer|authorization\s*:)\s+)@NEW@(?=[\w.~+/=-]*\d)[\w.~+/=-]{16,}'),
            ('token', '(?i)(@START@cookie\\*["'']?\s*[:=]\s*\\*["'']?)@NEW@'
             '[\w.-]+=[^\s"''\\;]*(?:;\s*[\w.-]+=[^\s"''\\;]*)*'),
            ('password',
             '(?i)([a-z][a-z0-9+.-]*:(?:\\{0,8}/){2}[^\s/:@"''\\]*:)@NEW@[^\s/@"''\\]+(?=@)'),
            ('password',
             '(?i)("(?:[\w.-]*@KEY@|secret|authorization)"\s*(?::\s*\[?|,\s*"value"\s*:)\s*")@NEW@'
             '(?:[^"\\]|\\.)+'),
            ('password',
             '(?i)(\\"(?:[\w.-]*@KEY@|secret|authorization)\\"\s*'
             '(?::\s*\[?|,\s*\\"value\\"\s*:)\s*\\")@NEW@'
             '(?:[^"\\]|\\\\\\?.)+'),
            ('password',
             '(?i)(\\{2,}"(?:[\w.-]*@KEY@|secret|authorization)\\+"\s*'
             '(?::\s*\[?|,\s*\\+"value\\+"\s*:)\s*\\+")@NEW@(?:[^"\\]|\\+[^"\\])+'),
            ('password', '(?i)(''[\w.-]*@KEY@''\s*:\s*'')@NEW@[^''\\"]+'),
            ('password',
             '(?i)(@START@[\w.-]*@KEY@(?:''?\s*[:=]|%3[ad]|\\{1,8}u003[ad])\s*'
             '(?:''|\\{0,8}"(?![\s,:}\]\\]))?)@NEW@'
             '(?:(?<=")[^"\\\n]+|(?<='')[^"''\\\n]+(?='')|[^\s"''\\&,;<>{}\[\]]{4,})'),
            ('password', '(?i)(<[\w.:-]*@KEY@>)@NEW@[^<>"\\]+(?=<\\{0,8}/)'),
            ('password',
             '(?i)((?:[?&]|&amp;|\\{1,8}u0026|%26|%3f)(?:key|sig|auth|token|secret|'
             'x-amz-(?:signature|credential)|[\w.-]*@KEY@)=)@NEW@[^\s&#"''<>\\]+'),
            ('card', '()(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d-]|\.\d)'),
            ('iban',
             '()\m[A-Z]{2}\d{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)\M'),
            ('email', '()[\w.%+-]+@[\w-]+(?:\.[\w-]+)+'),
            ('phone',
             '()(?<![\w.+-])(?:(?:\+|00)[1-9](?:[ ./()-]{0,2}\d){7,13}|'
             '\(?[2-9]\d{2}\)?[ .-]\d{3}[ .-]\d{4})(?![\w-])')
          ) as p (class, pattern);
end;

comment on function recall._secret_patterns() is
    'What secrets look like, by class: group 1 stays, the rest of the match is the secret.';

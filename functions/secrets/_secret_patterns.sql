-- List the patterns of secrets: class, mark, needs, pattern.
-- Group 1 precedes the secret and stays (may be empty); group 2 is the secret. A text without any
-- of `needs` (in lower case) has no match. tests/secrets/test_secrets.py checks three invariants.
-- Time is linear in the text. Masked JSON text stays JSON text: no match ends inside an escape or
-- crosses a quote. No pattern matches a mark.
create or replace function recall._secret_patterns()
returns table (
    class   text,
    mark    text,
    needs   text[],
    pattern text
)
language sql
immutable
parallel safe
begin atomic
    -- For backtracking matchers, a run that something must follow is bounded, or begins only where
    -- no longer run can begin. Cards and IBANs are candidates, whose check digits _is_secret_number
    -- checks. The planner evaluates _secret_pattern once per statement.
    -- Many small patterns rather than a few large ones: PostgreSQL rebuilds the states of an
    -- expression for each match, so the time grows with its length (a token among 40 prefixes takes
    -- 60 µs, among ten 15 µs). Optional characters are nested, as in (x(x)?)?, because x{0,2} would
    -- be in several states at once.
    select p.class, '[secret: ' || replace(p.class, '_', ' ') || ']', p.needs, p.pattern
      from (values
            ('private_key', string_to_array(
             'private', ' '),
             recall._secret_pattern(true,
             '',
             '-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----'
             '(?:(?:\s|\\+[nr])+[A-Za-z-]+: [^"\\\n]+)*(?:(?:\s|\\+[nr])*[A-Za-z0-9+/=]{16,})*'
             '(?:(?:' || repeat('(?:(?:\s|\\+[nr])', 4) || repeat(')?', 4) || '[A-Za-z0-9+/=]*){3}'
             '-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----)?')),
            ('private_key', string_to_array(
             'age-secret-key-', ' '),
             recall._secret_pattern(true,
             '',
             'AGE-SECRET-KEY-1[A-Z0-9]{30,}')),
            ('api_key', string_to_array(
             'sk-', ' '),
             recall._secret_pattern(true,
             '(?<![\w-])|\\[bfnrt]|\\u[0-9a-fA-F]{4}',
             'sk-[A-Za-z_-]*\d[\w-]{10,}')),

            -- Prefixes, grouped by character set.
            ('api_key', string_to_array(
             '_live _test _prod', ' '),
             recall._secret_pattern(true,
             '@START@',
             '(?:[srp]k|shippo|duffel)_(?:live|test|prod)_[\w=-]{10,}')),
            ('api_key', string_to_array(
             'xox xapp- flwseck', ' '),
             recall._secret_pattern(true,
             '@START@',
             '(?:xox[a-z](?:\.xox[a-z])?-|xapp-|FLWSECK-|FLWSECK_TEST-)[\w-]{10,}')),
            ('api_key', string_to_array(
             'aiza ya29. gocspx- 1//0 tvly- nvapi- sq0 pypi- tt3 gr1348941', ' '),
             recall._secret_pattern(true,
             '@START@',
             '(?:AIza|ya29\.|GOCSPX-|1//0|tvly-|nvapi-|sq0[a-z]{3}-|pypi-|AT[A-Z]TT3|GR1348941)'
             '[\w.=-]{16,}')),
            ('api_key', string_to_array(
             'dckr_ glpat- gldt- glrt- glptt- glcbt- glft- glimt- glagent- gloas- glsoat-'
             ' glffct- sb_secret_', ' '),
             recall._secret_pattern(true,
             '@START@',
             '(?:dckr_[a-z]+_|gl(?:pat|dt|rt|ptt|cbt|ft|imt|agent|oas|soat|ffct)-|sb_secret_)'
             '[\w.=-]{16,}')),
            ('api_key', string_to_array(
             'figd_ cfpat- pmak- tfp_ fio-u- hvb. hvr. hvs. hrku- fo1_ tskey- pscale_ tk-us-', ' '),
             recall._secret_pattern(true,
             '@START@',
             '(?:figd_|CFPAT-|PMAK-|tfp_|fio-u-|hv[brs]\.|HRKU-AA|fo1_|tskey-[a-z]+-|'
             'pscale_[a-z]+_|tk-us-)[\w.=-]{16,}')),
            ('api_key', string_to_array(
             'whsec_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ pcsk_ glsa_ glc_', ' '),
             recall._secret_pattern(true,
             '@START@',
             '(?:whsec_|gh[pousr]_|github_pat_|pcsk_|gl(?:c|sa)_)[\w+/=]{16,}')),
            ('api_key', string_to_array(
             'lsv2_ lin_ ccipat_ sgp_ sntry phx_ phs_', ' '),
             recall._secret_pattern(true,
             '@START@',
             '(?:lsv2_|lin_[a-z]+_|CCIPAT_|sgp_|sntry[su]_|ph[xs]_)[\w+/=]{16,}')),
            ('api_key', string_to_array(
             'nfp_ napi_ rnd_ rdme_ sm_ dop_v1_ doo_v1_ dor_v1_ fm1 fm2', ' '),
             recall._secret_pattern(true,
             '@START@',
             '(?:nfp_|napi_|rnd_|rdme_|sm_[a-z]{3}_|do[opr]_v1_|fm[12][ar]?_)[\w+/=]{16,}')),
            ('api_key', string_to_array(
             'hf_ api_org_ gsk_ r8_ npm_ xai- pplx- csk-', ' '),
             recall._secret_pattern(true,
             '@START@',
             '(?:(?:hf|api_org|gsk|r8|npm)_|xai-|pplx-|csk-)[A-Za-z0-9]{20,}')),
            ('api_key', string_to_array(
             'ezak eztk ntn_ pnu_ clojars_ ico- atbb re_', ' '),
             recall._secret_pattern(true,
             '@START@',
             '(?:(?:ntn|pnu|CLOJARS)_|EZ[AT]K|ico-|ATBB|re_[A-Za-z0-9]{8}_)[A-Za-z0-9]{20,}')),
            ('api_key', string_to_array(
             'secret_ oy2 api-', ' '),
             recall._secret_pattern(true,
             '@START@',
             '(?:secret_|oy2)[A-Za-z0-9]{43}\M|API-[A-Z0-9]{26}\M')),
            ('api_key', string_to_array(
             'sk_ fc- rubygems_ atta sbp_ bkua_ pul- sqa_ sqp_ squ_ s-s4t2 dapi shpat_ shpca_'
             ' shppa_ shpss_', ' '),
             recall._secret_pattern(true,
             '@START@',
             '(?:(?:sk|rubygems|sbp|bkua|sq[apu]|shp(?:at|ca|pa|ss))_|fc-|ATTA|pul-|s-s4t2[a-z]+-|'
             'dapi)[0-9a-f]{32,}')),

            -- Forms that base64 could contain by chance: only after a space or punctuation.
            ('api_key', string_to_array(
             'a3t akia asia abia acca key- sk 4b1d', ' '),
             recall._secret_pattern(true,
             '@APART@',
             '(?:A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]|SK[0-9a-f]{17}|key-[0-9a-f]{17}|'
             '4b1d\w{23})\w{15}\M')),
            ('api_key', string_to_array(
             'a3- -us _mmk 1/ 2/ access-', ' '),
             recall._secret_pattern(true,
             '@APART@',
             'A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){3,6}|[0-9a-f]{32}-us\d\d?\M|'
             '\w{6}_[A-Za-z0-9]{29}_mmk\M|'
             '[12]/\d{10,20}(?:/\d{10,20})?:[0-9a-f]{32}|access-(?:sandbox|development|'
             'production)-[0-9a-f-]{36}')),
            ('api_key', string_to_array(
             'ops_eyj p8e- absk akcp cmvmd nrak- nrii- nriq- nrra- sha256~ xkeysib- aqvn ltai eaa',
             ' '),
             recall._secret_pattern(true,
             '@APART@',
             '(?:ops_eyJ|p8e-|ABSK|AKCp|cmVmd|NR(?:AK|II|IQ|RA)-|sha256~|xkeysib-|AQVN|'
             'LTAI(?=\w{20}\M)|EAA[A-Z](?=\w{30}))[\w+/=.~-]{16,}')),
            ('api_key', string_to_array(
             ':aa atlasv1 q~ v1.0- dp. dt0c', ' '),
             recall._secret_pattern(true,
             '@APART@',
             '(?:\d{8,10}:AA|\w{14}\.atlasv1\.|[\w~.]{3}\dQ~|v1\.0-[0-9a-f]{24}-|'
             'dp\.[a-z]+\.(?:[\w-]+\.)?|dt0c\d\d\.[A-Z0-9]{24}\.)[\w+/=.~-]{16,}')),
            ('api_key', string_to_array(
             'pat sat. sk. sg.', ' '),
             recall._secret_pattern(true,
             '@APART@',
             '(?:pat\w{14}\.|[ps]at\.[\w-]{22}\.|sk\.eyJ[\w-]+\.|SG\.[\w-]{16,}\.)'
             '[\w+/=.~-]{16,}')),

            -- Discord bot token: user, time and hash.
            ('api_key', string_to_array(
             'mt nj nt nz od ot', ' '),
             recall._secret_pattern(true,
             '@APART@',
             '[MNO][A-Za-z0-9]{22,28}\.[\w-]{6}\.[\w-]{27,}')),
            ('api_key', string_to_array(
             'hooks.slack discord webhook.office telegram', ' '),
             recall._secret_pattern(true,
             'hooks\.slack\.com/[a-z]+/|discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/|'
             'webhook\.office\.com/webhookb2/[\w@-]+/IncomingWebhook/|'
             'api\.telegram\.org/(?:file/)?bot',
             '[\w/:-]{10,}')),
            ('token', string_to_array(
             'eyj zxlk', ' '),
             recall._secret_pattern(true,
             '(?<![\w-])|\\[bfnrt]|\\u[0-9a-fA-F]{4}',
             'eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)*|ZXlK[A-Za-z0-9+/]{40,}=*')),
            ('token', string_to_array(
             'signature response', ' '),
             recall._secret_pattern(false,
             '\m(?:signature=|response=\\*")',
             '[0-9a-f]{32,}')),
            ('token', string_to_array(
             'authorization', ' '),
             recall._secret_pattern(false,
             'authorization\\*["'']?\s*[:=]\s*\\*["'']?(?:bearer|basic|token|digest|apikey|'
             'api-key|key|bot|'
             'ssws|negotiate|hmac|genie-?key|aws4-hmac-sha256)\s+',
             '[^\s"''\\,\[][^\s"''\\,]*')),
            ('token', string_to_array(
             'bearer authorization', ' '),
             recall._secret_pattern(false,
             '@START@(?:bearer|authorization\s*:(?:\s+[a-z][\w-]*)?)\s+',
             '(?=[a-z_.~+/=-]*\d)[\w.~+/=-]{16,}')),
            ('token', string_to_array(
             'cookie', ' '),
             recall._secret_pattern(false,
             '@START@cookie\\*["'']?\s*[:=]\s*\\*["'']?',
             '[\w.-]+=[^\s"''\\;]+(?:;\s*[\w.-]+=[^\s"''\\;]*)*')),
            ('password', string_to_array(
             '@', ' '),
             recall._secret_pattern(false,
             ':(?:\\*/){2}[^\s/:@"''\\]*:',
             '[^\s/?#@"''\\]+(?=@)')),
            ('password', string_to_array(
             '@', ' '),
             recall._secret_pattern(false,
             ':(?:\\*/){2}[^\s/:@"''\\]*:',
             '\d{0,5}[^\s\d/?#@"''\\][^\s@"''\\]{0,60}(?=@)')),
            ('password', string_to_array(
             'word" wd" phrase" passcode" pwd" pass"', ' '),
             recall._secret_pattern(false,
             '"[\w.-]*@PASS@"\s*(?::\s*\[?|,\s*"value"\s*:)\s*"',
             '(?:[^"\\\[]|\\.|\[(?!s))(?:[^"\\]|\\.)*')),
            ('password', string_to_array(
             'key" secret" token" authorization"', ' '),
             recall._secret_pattern(false,
             '"(?:[\w.-]*@KEY@|secret|authorization)"\s*(?::\s*\[?|,\s*"value"\s*:)\s*"',
             '(?:[^"\\\[]|\\.|\[(?!s))(?:[^"\\]|\\.)*')),
            ('password', string_to_array(
             'word\" wd\" phrase\" passcode\" pwd\" pass\"', ' '),
             recall._secret_pattern(false,
             '\\"[\w.-]*@PASS@\\"\s*(?::\s*\[?|,\s*\\"value\\"\s*:)\s*\\"',
             '(?:[^"\\\[]|\\\\\\?.|\[(?!s))(?:[^"\\]|\\\\\\?.)*')),
            ('password', string_to_array(
             'key\" secret\" token\" authorization\"', ' '),
             recall._secret_pattern(false,
             '\\"(?:[\w.-]*@KEY@|secret|authorization)\\"\s*(?::\s*\[?|,\s*\\"value\\"\s*:)\s*\\"',
             '(?:[^"\\\[]|\\\\\\?.|\[(?!s))(?:[^"\\]|\\\\\\?.)*')),
            ('password', string_to_array(
             'word\\ wd\\ phrase\\ passcode\\ pwd\\ pass\\', ' '),
             recall._secret_pattern(false,
             '\\{2,}"[\w.-]*@PASS@\\+"\s*(?::\s*\[?|,\s*\\+"value\\+"\s*:)\s*\\+"',
             '(?:[^"\\\[]|\\+[^"\\]|\[(?!s))(?:[^"\\]|\\+[^"\\])*')),
            ('password', string_to_array(
             'key\\ secret\\ token\\ authorization\\', ' '),
             recall._secret_pattern(false,
             '\\{2,}"(?:[\w.-]*@KEY@|secret|authorization)\\+"\s*(?::\s*\[?|'
             ',\s*\\+"value\\+"\s*:)\s*\\+"',
             '(?:[^"\\\[]|\\+[^"\\]|\[(?!s))(?:[^"\\]|\\+[^"\\])*')),
            ('password', string_to_array(
             'word'' wd'' phrase'' passcode'' pwd'' pass''', ' '),
             recall._secret_pattern(false,
             '@PASS@''\s*(?::|=>)\s*''',
             '[^''\\"\[][^''\\"]*')),
            ('password', string_to_array(
             'key'' secret'' token''', ' '),
             recall._secret_pattern(false,
             '@KEY@''\s*(?::|=>)\s*''',
             '[^''\\"\[][^''\\"]*')),
            ('password', string_to_array(
             'pass pwd', ' '),
             recall._secret_pattern(false,
             '@PASS@@IS@\\*"',
             '[^"\\\s\[\]$<{},:][^"\\\n]{3,}')),
            ('password', string_to_array(
             'pass pwd', ' '),
             recall._secret_pattern(false,
             '@PASS@@IS@''',
             '[^"''\\\n\[$<{][^"''\\\n]{3,}(?='')')),
            ('password', string_to_array(
             'pass pwd', ' '),
             recall._secret_pattern(false,
             '@PASS@@IS@',
             '[a-z]{4,}(?![^\s&"''\\]|\s*=)')),
            ('password', string_to_array(
             'pass pwd', ' '),
             recall._secret_pattern(false,
             '@PASS@@IS@',
             '(?:[a-z_.]{3,}[^\sa-z_."''\\&,;<>{}\[\]()$=?|-]|'
             '(?:[a-z_.]{1,3}[^\sa-z_."''\\&,;<>{}\[\]()$=?|]|[^\sa-z_."''\\&,;<>{}\[\]()$=?|'
             '!%*/~-]|[a-z]{3,}-)@ANY@{3})@ANY@*')),
            ('password', string_to_array(
             'key secret token', ' '),
             recall._secret_pattern(false,
             '@KEY@@IS@\\*"',
             '[^"\\\s\[\]$<{},:][^"\\\n]{3,}')),
            ('password', string_to_array(
             'key secret token', ' '),
             recall._secret_pattern(false,
             '@KEY@@IS@''',
             '[^"''\\\n\[$<{][^"''\\\n]{3,}(?='')')),
            ('password', string_to_array(
             'key secret token', ' '),
             recall._secret_pattern(false,
             '@KEY@@IS@',
             '[a-z]{4,}(?![^\s&"''\\]|\s*=)')),
            ('password', string_to_array(
             'key secret token', ' '),
             recall._secret_pattern(false,
             '@KEY@@IS@',
             '(?:[a-z_.]{3,}[^\sa-z_."''\\&,;<>{}\[\]()$=?|-]|'
             '(?:[a-z_.]{1,3}[^\sa-z_."''\\&,;<>{}\[\]()$=?|]|[^\sa-z_."''\\&,;<>{}\[\]()$=?|'
             '!%*/~-]|[a-z]{3,}-)@ANY@{3})@ANY@*')),

            -- Any name in capitals, or an npm option, with a random-looking value.
            ('password', string_to_array(
             '_token _secret _key _auth "auth \"auth', ' '),
             recall._secret_pattern(true,
             '(?:_(?:TOKEN|SECRET|KEY|AUTH|auth|authToken)["'']?|"auth\\*")\s*[:=]\s*(?:''|\\*")?',
             '(?=[A-Za-z_+/-]*\d)[\w+/=.~-]{12,}')),
            ('password', string_to_array(
             '</', ' '),
             recall._secret_pattern(false,
             '<[\w.:-]*@PASS@>',
             '[^<>"\\\[][^<>"\\]*(?=<\\*/)')),
            ('password', string_to_array(
             '</', ' '),
             recall._secret_pattern(false,
             '<[\w.:-]*@KEY@>',
             '[^<>"\\\[][^<>"\\]*(?=<\\*/)')),
            ('password', string_to_array(
             'key= sig= auth= token= secret= x-amz-', ' '),
             recall._secret_pattern(false,
             '(?:[?&]|&amp;|\\+u0026|%26|%3f)(?:key|sig|auth|token|secret|'
             'x-amz-(?:signature|credential|security-token))=',
             '[^\s&#"''<>\\\[][^\s&#"''<>\\]{5,}')),

            -- Command lines: user and password.
            ('password', string_to_array(
             '-u --user', ' '),
             recall._secret_pattern(false,
             '\s(?:-u|--user)[= ]\s*\\*["'']?[^\s:"''\\]+:',
             '(?=[a-z_.-]*[\d!@#%^&*+])(?!\d+(?!\w))[^\s"''\\$<\[{][^\s"''\\]{3,}(?: [^\s"''\\]+(?'
             '=''|\\*"))?')),

            -- Command lines, .netrc, redis.conf.
            ('password', string_to_array(
             'sshpass requirepass', ' '),
             recall._secret_pattern(false,
             '\m(?:sshpass\s+-p\s*|requirepass\s+)',
             '[^\s"''\\$<\[{(-][^\s"''\\]{3,}')),
            ('password', string_to_array(
             'mysql', ' '),
             recall._secret_pattern(false,
             '\mmysql(?:dump|admin)?\M[^\n"\\|<>]{0,60}\s-p',
             '[^\s"''\\$<\[{(-][^\s"''\\]{3,}')),
            ('password', string_to_array(
             'login', ' '),
             recall._secret_pattern(false,
             '\m(?:machine\s+[^\s"\\]+|default)(?:\s|\\+[nrt])+login\s+[^\s"\\]+(?:\s|'
             '\\+[nrt])+password\s+',
             '[^\s"''\\$<\[{(-][^\s"''\\]{3,}')),
            ('password', string_to_array(
             '--', ' '),
             recall._secret_pattern(false,
             '\s--[a-z-]*(?:password|passwd|token|secret|api-key|access-key)[ =]\s*',
             '[^\s"''\\$<\[{(-][^\s"''\\]{3,}')),

            -- A part of a form; an attribute next to its name.
            ('password', string_to_array(
             'name=', ' '),
             recall._secret_pattern(false,
             '\mname=\\*"@PASS@\\*"(?:\r?\n|(?:\\+r)?\\+n){2}',
             '[^"\r\n\\\[][^"\r\n\\]*')),
            ('password', string_to_array(
             'name=', ' '),
             recall._secret_pattern(false,
             '\mname=\\*"@KEY@\\*"(?:\r?\n|(?:\\+r)?\\+n){2}',
             '[^"\r\n\\\[][^"\r\n\\]*')),
            ('password', string_to_array(
             'key=', ' '),
             recall._secret_pattern(false,
             'key=\\*"[\w.-]*@PASS@\\*"\s+value=\\*"',
             '[^"\r\n\\\[][^"\r\n\\]*')),
            ('password', string_to_array(
             'key=', ' '),
             recall._secret_pattern(false,
             'key=\\*"[\w.-]*@KEY@\\*"\s+value=\\*"',
             '[^"\r\n\\\[][^"\r\n\\]*')),

            -- "my password is …", with letters and other characters.
            ('password', string_to_array(
             'word is|phrase is|code is', '|'),
             recall._secret_pattern(false,
             '\mpass(?:word|phrase|code) is (?:now )?:?\s{0,2}[''`]?',
             '(?=[a-z_-]*[\d!@#$%^&*+])(?=[\d!@#$%^&*+]*[a-z_])[^\s"''`\\,;\[][^\s"''`\\,;]{4,}[^\'
             's"''`\\.,;!?)]')),
            ('password', string_to_array(
             'word for|word of|word to|word on|phrase for|phrase of|phrase to|phrase on|code for|'
             'code of|code to|code on', '|'),
             recall._secret_pattern(false,
             '\mpass(?:word|phrase|code) (?:for|of|to|on) [^.:\n"\\]{1,40} is (?:now )?:?\s{0,2}'
             '[''`]?',
             '(?=[a-z_-]*[\d!@#$%^&*+])(?=[\d!@#$%^&*+]*[a-z_])[^\s"''`\\,;\[][^\s"''`\\,;]{4,}[^\'
             's"''`\\.,;!?)]')),
            ('card', string_to_array(
             '0 1 2 3 4 5 6 7 8 9', ' '),
             recall._secret_pattern(true,
             '',
             '(?<![\d.-])\d(?:[ -]?\d){12}' || repeat('(?:[ -]?\d', 6) || repeat(')?', 6)
             || '(?![\d-]|\.\d)')),
            ('iban', string_to_array(
             '0 1 2 3 4 5 6 7 8 9', ' '),
             recall._secret_pattern(true,
             '',
             '\m[A-Z]{2}\d{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)\M')),
            ('email', string_to_array(
             '@', ' '),
             recall._secret_pattern(true,
             '',
             '(?<![\w.%+-])[\w.%+-]+@[\w-]+(?:\.[\w-]+)+')),
            ('phone', string_to_array(
             '0 1 2 3 4 5 6 7 8 9', ' '),
             recall._secret_pattern(true,
             '',
             '(?<![\w.+-])(?:(?:\+|00)[1-9](?:[ ./()-]{0,2}\d){7,13}|'
             '\(?[2-9]\d{2}\)?[ .-]\d{3}[ .-]\d{4})(?![\w-])'))
           ) as p (class, needs, pattern);
end;

comment on function recall._secret_patterns() is
    'Patterns of secrets by class: group 1 of a pattern stays, group 2 is the secret.';

-- Tell whether a text may contain a secret.
-- One pass excludes most texts, because running all patterns is slow. The expression covers `needs`
-- of every pattern, and slightly more, so that a passphrase is found as fast.
create or replace function recall._may_hold_secret(
    p_text text
)
returns boolean
language sql
immutable
parallel safe
return p_text collate pg_c_utf8 ~ (
    '(?i)\d(?:[ ./()-]{0,2}\d){8}|[srp]k_|hf_|sk-|_(?:live|test|pat|auth)|whsec_|xox|xapp-|'
    'a[ksbc][ic]a|a3t|gh[pousr]_|gl[a-z]{2,5}-|hooks\.slack|discord|webhook\.|aiza|ya29\.|'
    'gocspx-|1//0|api_org_|gsk_|npm_|oy2[a-z\d]{20}|pypi-|sg\.|r8_|pplx-|xai-|csk-|nvapi-|pcsk_|'
    'tvly-|fc-[a-f\d]{8}|lsv2_|flwseck|shippo_|duffel_|sq0|sq[apu]_|ez[at]k|gems_|clojars_|'
    're_[a-z\d]{8}_|gr1348|at[a-z]tt3|atta|atbb|lin_|ntn_|dckr_|sbp_|bkua_|ccipat_|pnu_|sgp_|'
    'pul-[a-f\d]{8}|sntry|figd_|cfpat-|glc_|glsa_|pmak-|ph[sx]_|nfp_|napi_|rnd_|tfp_|rdme_|'
    'sm_[a-z]{3}_|fio-u|s-s4|api-[a-z\d]{20}|hv[brs]\.|do[opr]_v1_|hrku-|fo1_|fm[12]|tskey-|'
    'pscale_|ico-[a-z\d]{20}|tk-us-|dapi|shp|key|a3-|ops_eyj|p8e-|absk|ltai|akcp|cmvmd|q~|4b1d|'
    'v1\.0-[a-f\d]{20}|dp\.[a-z]{2,6}\.|dt0c|eaa[a-z][\w-]{20}|[12]/\d{10}|pat[a-z\d]{14}\.|'
    '[ps]at\.[\w-]{20}|atlasv1|\d-us\d|[a-f]-us\d|_mmk|nr[air][kiaq]-|sha256~|access-[dps]|'
    'xkeysib-|\d:aa|aqvn|[mno][a-z\d]{22,28}\.[\w-]{6}\.|eyj|zxlk|bearer|authorization|cookie|'
    'private|pass|pwd|secret|token|sig=|signature|response=|x-amz|auth=|"auth|@|-u |--user|mysql|'
    '[a-z]{2}\d{2}');

comment on function recall._may_hold_secret(text) is
    'Whether a text contains anything by which secrets are recognized.';

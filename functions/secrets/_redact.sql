-- Replace secrets in a text with readable marks.
-- "my key is sk-…" becomes "my key is [secret: api key]". The function is idempotent. JSON text
-- stays valid JSON. A ciphertext is left alone, because its driver has checked the plaintext.
create or replace function recall._redact(
    p_text    text,
    p_classes text[]
)
returns text
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_text    text collate pg_c_utf8 := p_text;
    -- If a sample from the middle of a long text has a secret, there may be very many.
    v_sample  text collate pg_c_utf8;
    v_masked  text;
    v_class   text collate pg_c_utf8;
    v_mark    text collate pg_c_utf8;
    v_pattern text collate pg_c_utf8;
begin
    if p_text is null or not recall._may_hold_secret(p_text) or recall._is_sealed(p_text) then
        return p_text;
    end if;
    if length(p_text) > 100000 then
        v_sample := substr(p_text, length(p_text) / 2, 2000);
    end if;
    -- PostgreSQL caches 32 compiled patterns; running all of these would evict each other.
    for v_class, v_mark, v_pattern in
        select k.class, k.mark, k.pattern
          from recall._secret_kinds(p_text, p_classes) as k
    loop
        v_masked := case when regexp_match(v_sample, v_pattern) is not null
                         then recall._redact_repeated(v_text, v_class, v_mark,
                                                      v_pattern) end;
        v_text := coalesce(v_masked, v_text);
        if v_class not in ('card', 'iban') then
            -- Without a back reference, PostgreSQL need not determine the bounds of the groups.
            v_text := regexp_replace(
                v_text, v_pattern,
                case when v_pattern like '()%' then '' else '\1' end || v_mark, 'g');
        elsif v_masked is null and v_text ~ v_pattern then
            v_text := recall._redact_numbers(v_text, v_class, v_mark, v_pattern);
        end if;
    end loop;
    return v_text;
end;
$function$;

comment on function recall._redact(text, text[]) is
    'A text with readable marks, such as [secret: api key], in place of secrets.';

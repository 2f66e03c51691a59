-- recall._redact(text, classes) -> the text with readable marks in the place of secrets
-- "my key is sk-…" becomes "my key is [secret: api key]". Stays the same when done again. JSON text
-- stays JSON text; a ciphertext is left alone: its driver has looked.
create or replace function recall._redact(
    p_text    text,
    p_classes text[]
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_text    text collate pg_c_utf8 := p_text;
    v_lowered text collate pg_c_utf8;
    v_kind    record;
begin
    if p_text is null or not recall._may_hold_secret(p_text) or recall._is_sealed(p_text) then
        return p_text;
    end if;
    -- PostgreSQL keeps 32 compiled patterns: to run all of these would drive out each other.
    v_lowered := lower(p_text collate "C");
    for v_kind in
        select p.class, p.mark, p.pattern
          from recall._secret_patterns() as p
         where p.class = any (p_classes)
           and recall._has_any(v_lowered, p.needs)
    loop
        if v_kind.class not in ('card', 'iban') then
            v_text := regexp_replace(v_text, v_kind.pattern, '\1' || v_kind.mark, 'g');
        elsif v_text ~ v_kind.pattern then
            v_text := recall._redact_numbers(v_text, v_kind.class, v_kind.mark, v_kind.pattern);
        end if;
    end loop;
    return v_text;
end;
$function$;

comment on function recall._redact(text, text[]) is
    'A text with readable marks, such as [secret: api key], in the place of secrets.';

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
    v_text  text := p_text;
    v_kind  record;
    v_found text;
begin
    if p_text is null or not recall._may_hold_secret(p_text) or recall._is_sealed(p_text) then
        return p_text;
    end if;
    for v_kind in
        select p.class, p.mark, p.pattern
          from recall._secret_patterns() as p
         where p.class = any (p_classes)
    loop
        if v_kind.class not in ('card', 'iban') then
            v_text := regexp_replace(v_text, v_kind.pattern, '\1' || v_kind.mark, 'g');
            continue;
        end if;
        for v_found in
            select distinct f.found
              from regexp_matches(v_text, replace(v_kind.pattern, '()', '') , 'g') as m (groups)
             cross join unnest(m.groups) as f (found)
             where recall._is_secret_number(v_kind.class, f.found)
        loop
            v_text := replace(v_text, v_found, v_kind.mark);
        end loop;
    end loop;
    return v_text;
end;
$function$;

comment on function recall._redact(text, text[]) is
    'A text with readable marks, such as [secret: api key], in the place of secrets.';

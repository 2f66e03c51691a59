-- recall._redact_bytes(bytes, classes) -> the same bytes, marks in the place of secrets
-- What is no UTF-8 text, or holds a NUL byte, is looked through as the text of its ASCII parts.
-- In server-sent events pieces of secrets are found, too. Without a secret the bytes come back as
-- they were.
create or replace function recall._redact_bytes(
    p_bytes   bytea,
    p_classes text[]
)
returns bytea
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_text   text;
    v_masked text;
begin
    begin
        v_text := convert_from(p_bytes, 'UTF8');
    exception when character_not_in_repertoire then
        -- The sign behind each octal number keeps its digits apart from what follows.
        v_text   := regexp_replace(encode(p_bytes, 'escape'), '(\\[0-7]{3})', E'\\1\uE000', 'g');
        v_masked := recall._redact(v_text, p_classes);
        return case when v_masked = v_text then p_bytes
                    else decode(replace(v_masked, E'\uE000', ''), 'escape') end;
    end;
    v_masked := recall._redact(v_text, p_classes);
    if v_masked ~ '(^|\n)data:' then
        v_masked := recall._mask_event_stream(v_masked, p_classes);
    end if;
    return case when v_masked = v_text then p_bytes else convert_to(v_masked, 'UTF8') end;
end;
$function$;

comment on function recall._redact_bytes(bytea, text[]) is
    'A body with marks in the place of secrets, else byte for byte as it was.';

-- Mask secrets in a body; without a secret return the same bytes.
-- Bytes that are not UTF-8 or contain NUL are checked as the text of their ASCII parts. In
-- server-sent events, secrets split over several events are found, too.
create or replace function recall._redact_bytes(
    p_bytes   bytea,
    p_classes text[]
)
returns bytea
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_text   text;
    v_masked text;
begin
    begin
        v_text := convert_from(p_bytes, 'UTF8');
    exception when character_not_in_repertoire then
        -- The character after each octal number separates its digits from what follows.
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
    'A body with masked secrets; without any, the same bytes.';

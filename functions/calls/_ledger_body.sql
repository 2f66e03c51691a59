-- Mask a body for the call log and cut it to settings.ledger_max_body bytes.
-- Masking comes first, since a cut could leave half a key. A cut body has no JSON, and o_size is
-- its length before the cut.
create or replace function recall._ledger_body(
    p_body     bytea,
    p_json     jsonb,
    p_settings recall.settings,
    out o_body bytea,
    out o_json jsonb,
    out o_size integer
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_classes constant text[] := recall._ledger_classes(p_settings);
begin
    if p_body is not null then
        o_body := recall._redact_bytes(p_body, v_classes);
    end if;
    o_json := recall._mask_json(coalesce(p_json, recall._json_of_bytes(o_body)), v_classes);

    if greatest(octet_length(o_body), octet_length(o_json::text)) > p_settings.ledger_max_body then
        o_body := coalesce(o_body, convert_to(o_json::text, 'UTF8'));
        o_size := octet_length(o_body);
        o_body := substr(o_body, 1, p_settings.ledger_max_body);
        o_json := null;
    end if;
end;
$function$;

comment on function recall._ledger_body(bytea, jsonb, recall.settings) is
    'Body and JSON of a call as the call log stores them: masked, and cut when too large.';

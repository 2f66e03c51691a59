-- recall._harmless_headers(headers, settings) -> those that may be stored
-- Anything that is not on the list stays out, whatever its value. Names in lower case.
create or replace function recall._harmless_headers(
    p_headers  jsonb,
    p_settings recall.settings
)
returns jsonb
language sql
immutable
parallel safe
begin atomic
    select coalesce(jsonb_object_agg(lower(h.key collate "C"), h.value), '{}')
      from jsonb_each(recall._redact_json(p_headers, recall._ledger_classes(p_settings))) as h
     where lower(h.key collate "C") ~ recall._harmless_header_names();
end;

comment on function recall._harmless_headers(jsonb, recall.settings) is
    'Headers of the list that may be stored, names in lower case.';

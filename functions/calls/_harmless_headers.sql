-- Return the headers that the call log may store, with names in lower case.
-- Any header that is not on the list is left out, whatever its value.
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
    'Headers that the call log may store, with names in lower case.';

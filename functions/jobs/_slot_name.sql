-- Normalize a model's name of a slot to lower case and underscores; leave a ciphertext unchanged.
create or replace function recall._slot_name(
    p_slot text
)
returns text
language sql
immutable
parallel safe
return case when recall._is_sealed(p_slot) then p_slot
            else btrim(regexp_replace(lower(recall._clean_line(p_slot, 60) collate pg_c_utf8),
                                      '[^[:alnum:]_]+', '_', 'g'), '_') end;

comment on function recall._slot_name(text) is
    'A model''s name of a slot: lower case, words joined by underscores.';

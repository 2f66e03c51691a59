-- Return the id that is written in place of a name: a UUIDv8; NULL for any other text.
-- recall.user_id makes such ids of names, and refuses them as names.
create or replace function recall._id_in_name(
    p_external_id text
)
returns uuid
language sql
immutable
parallel safe
return case
    when p_external_id collate "C"
         ~* '^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$'
    then p_external_id::uuid
end;

comment on function recall._id_in_name(text) is
    'The UUIDv8 that is written in place of a name; NULL for any other text.';

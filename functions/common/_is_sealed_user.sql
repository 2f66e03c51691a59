-- recall._is_sealed_user(user) -> is what this user has stored as ciphertext only?
create or replace function recall._is_sealed_user(
    p_user_id uuid
)
returns boolean
language sql
stable
parallel safe
return coalesce((recall._read_user(p_user_id)).is_sealed, false);

comment on function recall._is_sealed_user(uuid) is
    'Whether a user is sealed: texts are encrypted by the driver.';

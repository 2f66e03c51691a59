-- Add the id of its row to a piece of a prompt that is a ciphertext.
-- The worker rejects a ciphertext that was encrypted for another row.
create or replace function recall._bound_piece(
    p_piece jsonb,
    p_row   jsonb
)
returns jsonb
language sql
immutable
parallel safe
return case when jsonb_typeof(p_piece) = 'object'
            then p_piece || jsonb_build_object('row', p_row) else p_piece end;

comment on function recall._bound_piece(jsonb, jsonb) is
    'A piece of a prompt; a ciphertext gets the id of the row that it belongs to.';

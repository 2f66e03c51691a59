-- Return a text as an input of an embed request; the worker decrypts a ciphertext.
create or replace function recall._embed_piece(
    p_text      text,
    p_is_sealed boolean
)
returns jsonb
language sql
immutable
parallel safe
return case when p_is_sealed then jsonb_build_object('ciphertext', p_text)
            else to_jsonb(p_text) end;

comment on function recall._embed_piece(text, boolean) is
    'A text as an input of an embed request: a string, or {"ciphertext"} for the worker to '
    'decrypt.';

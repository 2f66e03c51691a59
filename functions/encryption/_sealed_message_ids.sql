-- Return the id that each message must have.
-- For an encrypted user it is the id that the ciphertexts are bound to; otherwise NULL.
create or replace function recall._sealed_message_ids(
    p_user_id  uuid,
    p_messages jsonb
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if not recall._is_sealed_user(p_user_id) then
        return null;
    end if;
    return array(
        select recall._sealed_row(p_user_id, e.message::text)
          from jsonb_array_elements(p_messages) with ordinality as e (message, ordinal)
         order by e.ordinal);
end;
$function$;

comment on function recall._sealed_message_ids(uuid, jsonb) is
    'Ids that the ciphertexts of an encrypted user''s messages are bound to.';

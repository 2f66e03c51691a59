-- recall._sealed_message_ids(user, messages) -> the id that each message must have
-- Of a sealed user's messages it is that which their ciphertexts are bound to; NULL for others.
create or replace function recall._sealed_message_ids(
    p_user_id  uuid,
    p_messages jsonb
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path from current
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
    'Ids of messages to append that the texts of a sealed user are bound to.';

-- recall._sealed_message_ids(user, messages, ids) -> an id for each message
-- Those given; of a sealed user's messages those that their ciphertexts are bound to.
create or replace function recall._sealed_message_ids(
    p_user_id  uuid,
    p_messages jsonb,
    p_ids      uuid[]
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path from current
as $function$
begin
    if not recall._is_sealed_user(p_user_id) then
        return p_ids;
    end if;
    return array(
        select coalesce(recall._sealed_row(p_user_id, e.message::text), p_ids[e.ordinal])
          from jsonb_array_elements(p_messages) with ordinality as e (message, ordinal)
         order by e.ordinal);
end;
$function$;

comment on function recall._sealed_message_ids(uuid, jsonb, uuid[]) is
    'Ids of messages to append: those given, of a sealed user those that the texts are bound to.';

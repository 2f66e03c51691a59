-- Refuse an answer for an encrypted user that holds plaintext.
-- The worker parses the model's answer and encrypts its texts. Only numbers and the enum values of
-- the question's schema stay readable.
-- Raises  RC006
create or replace function recall._refuse_plain_answer(
    p_user_id  uuid,
    p_answer   jsonb,
    p_question jsonb
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_words constant jsonb := jsonb_path_query_array(p_question -> 'schema', '$.**.enum[*]');
begin
    if p_answer ->> 'content' <> '' then
        perform recall._raise_plain_text(p_user_id, 'next_request', '$.content');
    end if;
    if exists (
        select from jsonb_path_query(p_answer -> 'value', '$.** ? (@.type() == "string")')
                    as v (item)
         where v.item <> '""'
           and not v_words @> v.item
           and not recall._is_sealed(v.item #>> '{}')
    ) then
        perform recall._raise_plain_text(p_user_id, 'next_request', '$.value');
    end if;
end;
$function$;

comment on function recall._refuse_plain_answer(uuid, jsonb, jsonb) is
    'Refuse (RC006) an answer for an encrypted user that holds plaintext.';

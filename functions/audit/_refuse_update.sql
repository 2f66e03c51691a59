-- Reject updates of an append-only table (trigger).
-- One exception: reseal_rows exchanges ciphertexts of an encrypted user for others of the same
-- texts; _refuse_plain_update checks that they are ciphertexts.
-- Raises  RC006: the table is append-only.
create or replace function recall._refuse_update()
returns trigger
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_texts constant text[] :=
        array['content', 'content_parts', 'name', 'tool_calls', 'metadata'];
begin
    if tg_table_name like 'conversation_history%'
       and current_setting('recall.resealed_user', true) = old.user_id::text
       and recall._is_sealed_user(old.user_id)
       and to_jsonb(new) - v_texts = to_jsonb(old) - v_texts then
        return new;
    end if;
    raise exception using
        errcode = 'RC006',
        message = format('%I is append-only', tg_table_name),
        hint    = 'recall.annotate_message and recall.retract_turns say more about a message.';
end;
$function$;

comment on function recall._refuse_update() is 'Trigger: reject an update of an append-only table.';

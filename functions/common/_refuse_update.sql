-- recall._refuse_update() -> trigger
-- Raises  RC006, always: the table is append-only.
create or replace function recall._refuse_update()
returns trigger
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
begin
    raise exception using
        errcode = 'RC006',
        message = format('%I is append-only', tg_table_name),
        hint    = 'recall.annotate_message and recall.retract_turns say more about a message.';
end;
$function$;

comment on function recall._refuse_update() is 'Trigger: refuse an update of an append-only table.';

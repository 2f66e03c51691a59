-- recall._insert_messages(rows, retry)
-- Settings say which months exist, in two comparisons; should one have been dropped by hand, the
-- insert fails, the month is made (here or by a neighbor at this moment), and the insert goes
-- again, once. "No partition for this row" is the check violation that has no constraint.
create or replace function recall._insert_messages(
    p_rows  recall.conversation_history[],
    p_retry boolean default true
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_constraint text;
begin
    insert into recall.conversation_history
    select r.* from unnest(p_rows) as r;
exception when check_violation then
    get stacked diagnostics v_constraint = constraint_name;
    if v_constraint <> '' or not p_retry then
        raise;
    end if;
    perform recall._ensure_history_months(p_rows[1].user_id, p_rows, true);
    perform recall._insert_messages(p_rows, false);
end;
$function$;

comment on function recall._insert_messages(recall.conversation_history[], boolean) is
    'Insert the messages of an append, making a month that is missing.';

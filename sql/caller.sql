-- Give the transaction back to the caller: its role, search path and messages.
-- A migration tool records the migration in a table of its own, in the same transaction.
do $caller$
begin
    perform pg_catalog.set_config(s.key, s.value, true)
       from pg_catalog.json_each_text(
                pg_catalog.current_setting('recall.of_caller')::pg_catalog.json) as s;
end;
$caller$;

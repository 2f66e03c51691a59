-- Record the transaction, so that preflight.sql can check that it runs in the same one.
-- In autocommit mode a transaction setting ends with its statement. Then `set local role` and the
-- search path of preflight.sql would be lost, too, before the first function is created.
do $transaction$
begin
    perform pg_catalog.set_config('recall.installation_began',
                                  pg_catalog.format('%s', pg_catalog.now()), true);
end;
$transaction$;

-- List the migrations of this release with the SHA-256 of each file, which psql cannot compute.
-- Made from migrations/ by `make generate`; a line never changes once it is released.
do $migrations$
begin
    perform set_config('recall.migrations', $list$
$list$, true);
end;
$migrations$;

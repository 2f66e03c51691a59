-- Delete a user's rows of a table or partition, with its months; return how many.
create or replace function recall._delete_rows(
    p_user_id uuid,
    p_table   regclass
)
returns bigint
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_rows bigint;
begin
    execute format('delete from %s where user_id = $1', p_table) using p_user_id;
    get diagnostics v_rows = row_count;
    return v_rows;
end;
$function$;

comment on function recall._delete_rows(uuid, regclass) is
    'Delete a user''s rows of a table or partition; the row count.';

-- Delete a user's rows of one table; return how many.
-- It deletes from each partition by name, since a statement on the parent would lock the partitions
-- of all users.
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
    v_leaf  regclass;
    v_rows  bigint;
    v_count bigint := 0;
begin
    for v_leaf in select l.leaf from recall._user_leaves(p_user_id, p_table) as l (leaf) loop
        execute format('delete from only %s where user_id = $1', v_leaf) using p_user_id;
        get diagnostics v_rows = row_count;
        v_count := v_count + v_rows;
    end loop;
    return v_count;
end;
$function$;

comment on function recall._delete_rows(uuid, regclass) is
    'Delete a user''s rows of one table, or of the detached months; the row count.';

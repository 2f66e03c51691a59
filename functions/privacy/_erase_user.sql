-- Erase all rows of a user, and the prompts that only this user's sessions used.
-- Locks   the user, then the unlogged tables, then the prompts.
create or replace function recall._erase_user(
    p_user_id uuid
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_counts  jsonb;
    v_prompts bytea[];
begin
    select d.o_counts, d.o_prompts
      into v_counts, v_prompts
      from recall._delete_user(p_user_id) as d;
    v_counts := v_counts || recall._delete_unlogged(array[p_user_id]);
    return v_counts || jsonb_build_object(
        'system_prompts', recall._collect_system_prompts(v_prompts));
end;
$function$;

comment on function recall._erase_user(uuid) is
    'Erase all rows of a user; the deleted rows by table.';

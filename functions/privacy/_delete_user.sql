-- recall._delete_user(user) -> rows deleted, by table
-- One transaction, whatever it takes: half a user is worse than a long wait, and nobody else waits
-- for it. The user's row goes first, and sessions and jobs next, each with whoever is writing there
-- at this moment; a later statement sees what those left behind. Prompts come last: others may be
-- about to use them.
-- Locks   the user, the sessions, the jobs, the unlogged tables, prompts nobody else uses.
-- Raises  RC007 in a transaction whose snapshot would hide what others have just written.
create or replace function recall._delete_user(
    p_user_id uuid
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_counts jsonb;
    v_table  record;
    v_held   boolean := false;
begin
    perform recall._check_isolation();
    v_counts := jsonb_build_object('users', recall._remove_user(p_user_id));
    for v_table in
        select t.name, t.is_unlogged, c.relname
          from recall._user_tables() as t
          join pg_catalog.pg_class as c on c.oid = t.name
         where c.relname <> 'users'
         order by t.place
    loop
        if v_table.is_unlogged and not v_held then
            v_counts := v_counts || jsonb_build_object(
                'detached', recall._delete_rows(p_user_id, null));
            perform recall._hold_unlogged_tables();
            v_held := true;
        end if;
        v_counts := v_counts || jsonb_build_object(
            v_table.relname, recall._delete_rows(p_user_id, v_table.name));
    end loop;

    update recall.maintenance_tasks as t
       set last_user = null,
           position  = null
     where t.task = any (array(
               select f.task from recall.maintenance_tasks as f
                where f.last_user = p_user_id or strpos(f.position::text, p_user_id::text) > 0
                  for no key update skip locked));
    return v_counts || jsonb_build_object(
        'system_prompts', recall._collect_system_prompts());
end;
$function$;

comment on function recall._delete_user(uuid) is
    'Delete everything of a user; the rows deleted by table.';

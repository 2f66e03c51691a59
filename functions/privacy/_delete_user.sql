-- Delete a user from all logged tables; return the deleted rows by table.
-- One transaction, because a partly deleted user is worse than a long wait. The user's row goes
-- first, then sessions and jobs: concurrent writers finish before, or find nothing. The caller
-- deletes from the unlogged tables as its last step (_delete_unlogged).
-- Locks   the user, the sessions, the jobs, the rest. See docs/architecture.md.
-- Raises  RC007 in a transaction whose snapshot would hide new commits of others, 55P03 another
--         transaction of the user stays open.
create or replace function recall._delete_user(
    p_user_id     uuid,
    out o_counts  jsonb,
    out o_prompts bytea[]
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_before constant text := recall._bound_erasure_wait();
    v_table  regclass;
    v_name   text;
    v_rows   bigint;
begin
    perform recall._check_isolation();
    o_counts := jsonb_build_object('users', recall._remove_user(p_user_id));
    o_prompts := array(
        select distinct s.system_prompt_hash
          from (
                select t.system_prompt_hash
                  from recall.sessions as t
                 where t.user_id = p_user_id
                   for update
               ) as s);
    for v_table, v_name in
        select t.part, c.relname
          from recall._user_partitions(p_user_id) as t
          join pg_catalog.pg_class as c on c.oid = t.name
         where c.relname <> 'users'
           and not t.is_unlogged
         order by t.place
    loop
        o_counts := o_counts || jsonb_build_object(
            v_name, recall._delete_rows(p_user_id, v_table));
    end loop;
    v_rows := 0;
    for v_table in select d.name from recall._detached_tables() as d (name) loop
        v_rows := v_rows + recall._delete_rows(p_user_id, v_table);
    end loop;
    o_counts := o_counts || jsonb_build_object('detached', v_rows);

    update recall.maintenance_tasks as t
       set last_user = null,
           position  = null
     where t.task = any (array(
               select f.task from recall.maintenance_tasks as f
                where f.last_user = p_user_id or strpos(f.position::text, p_user_id::text) > 0
                  for no key update skip locked));
    perform set_config('lock_timeout', v_before, true);
exception when lock_not_available then
    perform recall._raise_open_writer(p_user_id);
end;
$function$;

comment on function recall._delete_user(uuid) is
    'Delete all data of a user except rows of the unlogged tables; the deleted rows by table.';

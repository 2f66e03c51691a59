-- Erase users again after a restore from a backup that is older than their erasure.
-- p_erasures adds erasures that the backup lacks: receipts, or a copy of recall.erasures. A user
-- created again after the erasure has a younger row, and stays.
-- Locks   as forget_user: one user after the other, by user_id, then the unlogged tables once.
--         See docs/architecture.md.
-- Raises  RC003, RC007 not in a transaction that is read committed.
create or replace function recall.replay_erasures(
    p_erasures jsonb default '[]'
)
returns integer
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_user    uuid;
    v_users   uuid[]  := '{}'::uuid[];
    v_prompts bytea[] := '{}'::bytea[];
begin
    perform recall._check_json(p_erasures, 'p_erasures');
    perform recall._add_erasures(coalesce(p_erasures, '[]'));
    for v_user in
        select u.user_id
          from recall.users as u
         where exists (
                select from recall.erasures as e
                 where e.erased_at >= u.created_at
                   and e.digest     = sha256(e.salt || uuid_send(u.user_id)))
         order by u.user_id
    loop
        v_prompts := v_prompts || (recall._delete_user(v_user)).o_prompts;
        v_users   := v_users || v_user;
    end loop;
    if v_users <> '{}' then
        perform recall._delete_unlogged(v_users);
        perform recall._collect_system_prompts(v_prompts);
    end if;
    return cardinality(v_users);
end;
$function$;

comment on function recall.replay_erasures(jsonb) is
    'Erase users again after a restore, by the digests stored here and by those given as receipts '
    'or rows of list_erasures. Returns how many users were erased. RC003: malformed erasures. '
    'RC007: the transaction is not read committed.';

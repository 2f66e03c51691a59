-- Erase users again after a restore from a backup that is older than their erasure.
-- p_erasures adds erasures that the backup lacks: receipts, or a copy of recall.erasures. It finds
-- users with a row, and rows of users who do not exist, which the restore of one table brings back.
-- A user created again after the erasure has a younger row, and stays.
-- Locks   as forget_user: one user after the other, by user_id, then user_locks.
--         See docs/architecture.md.
-- Raises  RC003, RC007 not in a transaction that is read committed, 40001 a user came back
--         meanwhile, 55P03 another transaction of a user stays open.
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
    v_leaf    regclass;
    v_orphans uuid[]  := '{}'::uuid[];
    v_users   uuid[];
    v_user    uuid;
    v_gone    record;
    v_prompts bytea[] := '{}'::bytea[];
begin
    perform recall._check_json(p_erasures, 'p_erasures', 64, 2147483647);
    perform recall._check_isolation();
    perform recall._add_erasures(coalesce(p_erasures, '[]'));
    for v_leaf in select l.leaf from recall._user_leaves() as l (leaf) loop
        v_orphans := v_orphans || recall._orphaned_users(v_leaf);
    end loop;
    v_orphans := array(
        select distinct o.id
          from unnest(v_orphans) as o (id)
         where exists (
                select from recall.erasures as e
                 where e.digest = sha256(e.salt || uuid_send(o.id))));
    v_users := array(
        select u.user_id
          from recall.users as u
         where exists (
                select from recall.erasures as e
                 where e.erased_at >= u.created_at
                   and e.digest     = sha256(e.salt || uuid_send(u.user_id)))
         union
        select o.id from unnest(v_orphans) as o (id)
         order by 1);
    foreach v_user in array v_users loop
        v_gone    := recall._delete_user(v_user);
        v_prompts := v_prompts || v_gone.o_prompts;
        if v_user = any (v_orphans) and v_gone.o_counts ->> 'users' = '1' then
            raise exception using
                errcode = '40001',
                message = format('user %s was created during this call', v_user),
                hint    = 'Repeat the call.';
        end if;
    end loop;
    if v_users <> '{}' then
        perform recall._delete_unlogged(v_users);
    end if;
    if not recall._is_distributed() then
        -- All prompts: a restored table has those of erased users, which no session uses.
        perform recall._delete_unused_prompts(array(
            select distinct p.prompt_hash from recall.system_prompts as p));
    end if;
    perform recall._release_prompts(v_prompts);
    return cardinality(v_users);
end;
$function$;

comment on function recall.replay_erasures(jsonb) is
    'Erase users again after a restore, by the digests stored here and by those given as receipts '
    'or rows of list_erasures. Returns how many users were erased. RC003: malformed erasures. '
    'RC007: the transaction is not read committed.';

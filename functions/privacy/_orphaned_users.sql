-- Return users with rows in a table who do not exist, among at most p_limit of its users.
-- Without a limit it looks at all. A loose scan of the index reads one row of each user. If the
-- table has more users than the limit, it begins anywhere among them. The locks on the table and on
-- the users end with an inner transaction: a caller that goes through all tables would fill the
-- lock table.
create or replace function recall._orphaned_users(
    p_table regclass,
    p_limit integer default null
)
returns uuid[]
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_sort = off
set jit = off
as $function$
declare
    v_first constant text := '(select t.user_id from %1$s as t order by t.user_id limit 1)';
    v_last  constant text := '(select t.user_id from %1$s as t order by t.user_id desc limit 1)';
    v_walk  constant text := $query$
        with recursive walk (id, step) as (
            select (select t.user_id from %1$s as t where t.user_id >= $1
                     order by t.user_id limit 1), 1
             union all
            select (select t.user_id from %1$s as t where t.user_id > w.id
                     order by t.user_id limit 1), w.step + 1
              from walk as w
             where w.id is not null
               and w.step < coalesce($2, w.step + 1)
        )
        select count(w.id),
               coalesce(array_agg(w.id) filter (where w.id is not null and u.id is null), '{}')
          from walk as w
          left join lateral (
                select s.user_id from recall.users as s where s.user_id = w.id limit 1
               ) as u (id) on true
        $query$;
    v_low   bigint;
    v_high  bigint;
    v_start uuid := uuid '00000000-0000-0000-0000-000000000000';
    v_end   uuid;
    v_count integer;
    v_found uuid[];
begin
    if recall._is_distributed() then
        execute format($query$
            select coalesce(array_agg(distinct t.user_id), '{}')
              from %s as t
              left join recall.users as u on u.user_id = t.user_id
             where u.user_id is null
            $query$, p_table) into v_found;
        return v_found;
    end if;
    begin
        execute format(v_walk, p_table) into v_count, v_found using v_start, p_limit;
        if v_count = p_limit then
            execute format('select ' || v_first || ', ' || v_last, p_table) into v_start, v_end;
            v_low   := ('x' || left(replace(v_start::text, '-', ''), 12))::bit(48)::bigint;
            v_high  := ('x' || left(replace(v_end::text, '-', ''), 12))::bit(48)::bigint;
            v_start := (lpad(to_hex(v_low + floor(random() * (v_high - v_low + 1))::bigint), 12,
                             '0') || repeat('0', 20))::uuid;
            execute format(v_walk, p_table) into v_count, v_found using v_start, p_limit;
        end if;
        raise exception using errcode = 'RC000', message = 'the locks end here';
    exception when sqlstate 'RC000' then
        null;
    end;
    return v_found;
end;
$function$;

comment on function recall._orphaned_users(regclass, integer) is
    'Users with rows in a table who do not exist.';

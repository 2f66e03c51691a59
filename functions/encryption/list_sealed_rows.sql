-- List rows whose texts are encrypted with one data encryption key, for a key rotation.
-- The next page starts after {"row_table": …, "row_key": …} of the last row. p_with_late adds the
-- rows that `reseal_rows` must exchange together with the key, in the same transaction; the lock
-- keeps other writers out meanwhile.
-- Locks   the user, when p_with_late is set.
-- Raises  RC003.
create or replace function recall.list_sealed_rows(
    p_user_id   uuid,
    p_key_no    integer,
    p_with_late boolean default false,
    p_after     jsonb   default null,
    p_limit     integer default 200
)
returns table (
    row_table text,
    row_key   jsonb,
    texts     jsonb
)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_after text := p_after ->> 'row_table';
    v_table record;
    v_texts text;
    v_order text;
    v_later text;
    v_count bigint;
    v_left  integer := p_limit;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_after, 'p_after');
    perform recall._check_limit(p_limit);
    if p_key_no is null
       or v_after is not null and v_after not in (select t.name from recall._sealed_tables() as t)
    then
        raise exception using
            errcode = 'RC003',
            message = 'p_key_no is null, or p_after names no table',
            hint    = 'p_after has row_table and row_key of the last row of the previous page.';
    end if;

    if p_with_late then
        perform recall._lock_user_for_update(p_user_id);
    end if;
    for v_table in
        select t.* from recall._sealed_tables() as t
         where v_after is null
            or t.place >= (select a.place from recall._sealed_tables() as a where a.name = v_after)
         order by t.place
    loop
        v_texts := recall._texts_of(v_table.columns);
        v_order := (select string_agg(format('t.%I', k.name), ', ' order by k.place)
                      from unnest(v_table.keys) with ordinality as k (name, place));
        v_later := case when v_table.name = v_after then format(
            'and (%s) > (select %s from jsonb_populate_record(null::recall.%I, $4) as t)',
            v_order, v_order, v_table.name) end;
        return query execute format(
            'select %L::text, %s, %s from recall.%I as t where t.user_id = $1 and ($2 or not (%s))'
            ' and %s::text like $3 %s order by %s limit $5',
            v_table.name, recall._texts_of(v_table.keys), v_texts, v_table.name, v_table.is_late,
            v_texts, v_later, v_order)
          using p_user_id, coalesce(p_with_late, false), '%sealed:v1:' || p_key_no || ':%',
                p_after -> 'row_key', v_left;
        get diagnostics v_count = row_count;
        v_left := v_left - v_count;
        exit when v_left <= 0;
    end loop;
end;
$function$;

comment on function recall.list_sealed_rows(uuid, integer, boolean, jsonb, integer) is
    'Rows of an encrypted user with texts encrypted with one data encryption key: table, key and '
    'ciphertexts, for reseal_rows. RC003: the key number is null, p_after names no table, or a '
    'bad limit.';

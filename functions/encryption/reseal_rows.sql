-- recall.reseal_rows(user, rows, replaced_key) -> how many were exchanged
-- Each of p_rows is one of recall.list_sealed_rows with new_texts: the same texts, sealed by the
-- newest key. Those that have changed since are passed over. With p_replaced_key these are the
-- last: when nothing is sealed by that key any more it goes, in the same transaction; where the
-- audit still has reasons that it sealed it is retired, opens them and seals nothing.
-- Locks   the user, the rows, the user's keys.
-- Raises  RC003, RC006 a readable text, RC007 something is sealed by that key still.
create or replace function recall.reseal_rows(
    p_user_id      uuid,
    p_rows         jsonb,
    p_replaced_key integer default null
)
returns integer
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
as $function$
declare
    v_now   timestamptz := clock_timestamp();
    v_count integer     := 0;
    v_row   record;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_rows, 'p_rows');
    if p_rows is null or jsonb_typeof(p_rows) <> 'array'
       or p_rows <> '[]' and not recall._is_sealed_user(p_user_id) then
        raise exception using
            errcode = 'RC003',
            message = format('p_rows is no list, or user %s is not sealed', p_user_id),
            hint    = 'Pass rows of recall.list_sealed_rows, each with new_texts.';
    end if;

    perform recall._lock_user_and_bump_revision(p_user_id);
    perform set_config('recall.resealed_user', p_user_id::text, true);
    for v_row in
        select r.*
          from jsonb_to_recordset(p_rows)
                   as r (row_table text, row_key jsonb, texts jsonb, new_texts jsonb)
          left join recall._sealed_tables() as t on t.name = r.row_table
         order by t.place, r.row_key
    loop
        v_count := v_count + recall._reseal_row(p_user_id, v_row.row_table, v_row.row_key,
                                                v_row.texts, v_row.new_texts)::integer;
    end loop;
    perform set_config('recall.resealed_user', '', true);
    if p_replaced_key is not null then
        perform recall._replace_user_key(p_user_id, p_replaced_key, v_now);
    end if;
    return v_count;
end;
$function$;

comment on function recall.reseal_rows(uuid, jsonb, integer) is
    'Exchange ciphertexts of a sealed user for those by a newer key; at last without the old key.';

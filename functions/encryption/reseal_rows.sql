-- Exchange ciphertexts for those of the newest data encryption key; return how many rows changed.
-- p_rows are rows of `list_sealed_rows` with new_texts.
-- Rows changed since they were listed are skipped. p_replaced_key ends the rotation in the same
-- transaction: the key is deleted when no text uses it. If audit reasons still use it, it is
-- retired: it decrypts them and encrypts nothing.
-- Locks   the user, the rows, the user's keys.
-- Raises  RC003, RC006 plaintext, RC007 texts still use that key.
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
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now   timestamptz := clock_timestamp();
    v_count integer     := 0;
    v_row   record;
begin
    perform recall._check_user(p_user_id);
    perform recall._check_json(p_rows, 'p_rows', 64, 2147483647);
    if p_rows is null or jsonb_typeof(p_rows) <> 'array'
       or p_rows <> '[]' and not recall._is_sealed_user(p_user_id) then
        raise exception using
            errcode = 'RC003',
            message = format('p_rows is not an array, or user %s is not encrypted', p_user_id),
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
    'Exchange ciphertexts of an encrypted user for those of the newest data encryption key. '
    'Returns how many rows changed. p_replaced_key removes or retires the old key. RC003: '
    'malformed rows. RC006: a plaintext value. RC007: texts still use the old key.';

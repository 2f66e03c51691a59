-- Reject inserted plaintext of an encrypted user, once per statement (AFTER INSERT trigger).
-- The arguments are JSON paths to the texts of a row. A statement writes rows of one user. A driver
-- path that fails to encrypt fails here. Without encrypted users it costs an append 10 µs instead
-- of 60.
-- Raises  RC006
create or replace function recall._refuse_plain_insert()
returns trigger
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_user_id uuid;
    v_sealed  record;
    v_path    text;
begin
    if not (select s.has_sealed_users from recall.settings as s) then
        return null;
    end if;
    v_user_id := (select n.user_id from new_rows as n limit 1);
    v_sealed  := recall._sealed_paths(v_user_id, tg_argv, tg_table_name = 'memory_events');
    if v_sealed.o_paths is null then
        return null;
    end if;
    select p.path
      into v_path
      from new_rows as n
     cross join lateral recall._plain_path(to_jsonb(n), v_sealed.o_paths,
                                          v_sealed.o_keys) as p (path)
     where p.path is not null
     limit 1;
    if v_path is not null then
        perform recall._raise_plain_text(v_user_id, tg_table_name, v_path);
    end if;
    return null;
end;
$function$;

comment on function recall._refuse_plain_insert() is
    'Trigger: reject inserted plaintext of an encrypted user.';

-- Reject updates to plaintext of an encrypted user (AFTER UPDATE trigger on text columns).
-- See recall._refuse_plain_insert.
-- Raises  RC006
create or replace function recall._refuse_plain_update()
returns trigger
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_sealed record;
    v_path   text;
begin
    if not (select s.has_sealed_users from recall.settings as s) then
        return new;
    end if;
    v_sealed := recall._sealed_paths(new.user_id, tg_argv, false);
    if v_sealed.o_paths is null then
        return new;
    end if;
    v_path := recall._plain_path(to_jsonb(new), v_sealed.o_paths, v_sealed.o_keys);
    if v_path is not null then
        perform recall._raise_plain_text(new.user_id, tg_table_name, v_path);
    end if;
    return new;
end;
$function$;

comment on function recall._refuse_plain_update() is
    'Trigger: reject updates to plaintext of an encrypted user.';

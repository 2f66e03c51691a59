-- Delete a session's rows in detached months of the schema; return their count and message ids.
create or replace function recall._delete_detached(
    p_user_id      uuid,
    p_session_id   uuid,
    out o_rows     bigint,
    out o_messages uuid[]
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_leaf         regclass;
    v_has_messages boolean;
    v_rows         bigint;
    v_found        uuid[];
begin
    o_rows     := 0;
    o_messages := '{}'::uuid[];
    for v_leaf, v_has_messages in
        select l.leaf, bool_or(a.attname = 'message_id')
          from recall._detached_tables() as l (leaf)
          join pg_catalog.pg_attribute as a on a.attrelid = l.leaf and not a.attisdropped
         group by l.leaf
        having bool_or(a.attname = 'session_id')
    loop
        if v_has_messages then
            execute format('select coalesce(array_agg(d.message_id), ''{}'') from only %s as d'
                           ' where d.user_id = $1 and d.session_id = $2', v_leaf)
               into v_found
              using p_user_id, p_session_id;
            o_messages := o_messages || v_found;
        end if;
        execute format('delete from only %s where user_id = $1 and session_id = $2', v_leaf)
          using p_user_id, p_session_id;
        get diagnostics v_rows = row_count;
        o_rows := o_rows + v_rows;
    end loop;
end;
$function$;

comment on function recall._delete_detached(uuid, uuid) is
    'Delete a session''s rows in detached months; the row count and the ids of its messages '
    'there.';

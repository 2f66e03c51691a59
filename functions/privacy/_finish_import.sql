-- Check an import as a whole, and derive what the document leaves out.
-- A piece does not know the sessions and memories of the others. Each of theirs was imported or
-- was there, so equal totals mean that the user has no other.
-- Raises  RC003 the parts do not fit together, RC006 the user has other data.
create or replace function recall._finish_import(
    p_user_id  uuid,
    p_document jsonb
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_found jsonb;
begin
    if p_document -> 'version' = '2' then
        v_found := jsonb_build_object(
            'sessions',
            (select count(*) from recall.sessions as s where s.user_id = p_user_id),
            'memory_store',
            (select count(*) from recall.memory_store as m where m.user_id = p_user_id));
        if (p_document -> 'totals' @> v_found) is not true then
            raise exception using
                errcode = 'RC006',
                message = format('user %s has other sessions or memories than the document: %s',
                                 p_user_id, v_found),
                hint    = 'Erase the user with recall.forget_user first, or import into another '
                          'database.';
        end if;
        delete from recall.imports as i
         where i.user_id = p_user_id;
    end if;
    perform recall._check_imported(p_user_id);

    update recall.users as u
       set active_memory_count = (
               select count(*)
                 from recall.memory_store as m
                where m.user_id = p_user_id and m.ended_at is null),
           (item_count, item_bytes) = (
               select count(*), coalesce(sum(i.byte_count), 0)
                 from recall.items as i
                where i.user_id = p_user_id)
     where u.user_id = p_user_id;
    perform recall._log_events(p_user_id, array(
        select c.memory_id
          from recall._check_memories(p_user_id) as c
         where c.finding <> 'memory_missing'), 'imported');
    perform recall._enqueue_embeddings(p_user_id, clock_timestamp(), true);
end;
$function$;

comment on function recall._finish_import(uuid, jsonb) is
    'Check an import as a whole, and derive what the document leaves out (RC003, RC006).';

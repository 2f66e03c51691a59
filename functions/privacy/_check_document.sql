-- Check the format, the user and the applicability of a document for import_user.
-- Raises  RC003 not an export of pgrecall, RC006 of another user, or the user has other data.
create or replace function recall._check_document(
    p_user_id  uuid,
    p_document jsonb
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_tables text[] := array(
        select c.relname::text
          from recall._user_tables() as t
          join pg_catalog.pg_class as c on c.oid = t.name
         where t.is_exported);
    v_wrong  text;
begin
    if p_document ->> 'format' is distinct from 'pgrecall-user'
       or (p_document -> 'version' = '1' or p_document -> 'version' = '2'
           and pg_input_is_valid(p_document ->> 'piece', 'integer')
           and pg_input_is_valid(p_document ->> 'export_id', 'uuid')
           and jsonb_typeof(p_document -> 'is_last') = 'boolean') is not true
       or jsonb_typeof(p_document -> 'tables') is distinct from 'object'
       or jsonb_typeof(p_document -> 'system_prompts') is distinct from 'array' then
        raise exception using
            errcode = 'RC003',
            message = format('p_document is not an export of version 1, nor a piece of one: %s',
                             left(case when jsonb_typeof(p_document) = 'object'
                                       then p_document - '{tables,system_prompts}'::text[]
                                       else p_document end::text, 200)),
            hint    = 'Pass what recall.export_user or recall.export_user_pieces returns.';
    end if;
    if p_document ->> 'user_id' is distinct from p_user_id::text then
        raise exception using
            errcode = 'RC006',
            message = format('the document is of user %s, not of %s',
                             left(p_document ->> 'user_id', 80), p_user_id),
            hint    = 'Import an export for the user whose data it has.';
    end if;

    select format('tables.%s', left(e.key, 80))
      into v_wrong
      from jsonb_each(p_document -> 'tables') as e
     where e.key <> all (v_tables)
        or jsonb_typeof(e.value) <> 'array'
        or exists (select from jsonb_array_elements(e.value) as r (item)
                    where jsonb_typeof(r.item) <> 'object')
     limit 1;
    if found then
        raise exception using
            errcode = 'RC003',
            message = format('p_document: %s is not a list of rows of a user table', v_wrong),
            hint    = 'Pass what recall.export_user returns.';
    end if;

    -- The other pieces are not known here: _finish_import compares the totals.
    if p_document -> 'version' = '1' and (exists (
        select from recall.sessions as s
         where s.user_id = p_user_id
           and not p_document #> '{tables,sessions}'
                   @> jsonb_build_array(jsonb_build_object('session_id', s.session_id))
    ) or exists (
        select from recall.memory_store as m
         where m.user_id = p_user_id
           and not exists (
                   select from jsonb_array_elements(p_document #> '{tables,memory_store}')
                              as r (item)
                    where r.item ->> 'memory_id' = m.memory_id::text)
    )) then
        raise exception using
            errcode = 'RC006',
            message = format('user %s has sessions or memories that the document does not have',
                             p_user_id),
            hint    = 'Erase the user with recall.forget_user first, or import into another '
                      'database.';
    end if;
end;
$function$;

comment on function recall._check_document(uuid, jsonb) is
    'Check a document for import_user (RC003, RC006).';

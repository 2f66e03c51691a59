-- Reject a document with values that its tables cannot hold; the error names row and column.
-- The kinds of JSON values are checked first, since PostgreSQL would store a list as its text.
-- Values are then cast to the column types: a whole table at once, row by row if that fails. Times
-- must lie between the years 1 and 9999, because many clients cannot read others.
-- Raises  RC003.
create or replace function recall._check_import_values(
    p_document jsonb
)
returns void
language plpgsql
stable
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $function$
declare
    v_length constant text := coalesce(p_document ->> 'embedding_dimensions', '0');
    v_table  regclass;
    v_name   text;
    v_rows   jsonb;
    v_wrong  text;
begin
    if not pg_input_is_valid(v_length, 'integer') then
        raise exception using
            errcode = 'RC003',
            message = format('p_document: embedding_dimensions is %s', left(v_length, 80)),
            hint    = 'Pass what recall.export_user returned, as it was.';
    end if;
    for v_table, v_name in
        select t.name, c.relname::text as relname
          from recall._user_tables() as t
          join pg_catalog.pg_class as c on c.oid = t.name
         where t.is_exported
         order by t.place
    loop
        v_rows := coalesce(p_document #> array['tables', v_name], '[]');
        continue when v_rows = '[]';
        v_wrong := recall._wrong_import_value(v_table, v_rows);
        if v_wrong is not null then
            raise exception using
                errcode = 'RC003',
                message = format('p_document: tables.%s%s', v_name, v_wrong),
                hint    = 'Pass what recall.export_user returned, as it was.';
        end if;
    end loop;

    select format('[%s] has content %s and token_count %s', p.place - 1,
                  left(coalesce(p.item -> 'content', 'null')::text, 80),
                  left(coalesce(p.item -> 'token_count', 'null')::text, 80))
      into v_wrong
      from jsonb_array_elements(p_document -> 'system_prompts') with ordinality as p (item, place)
     where jsonb_typeof(p.item -> 'content') is distinct from 'string'
        or jsonb_typeof(coalesce(p.item -> 'token_count', '0')) <> 'number'
        or not pg_input_is_valid(coalesce(p.item ->> 'token_count', '0'), 'integer')
     limit 1;
    if v_wrong is not null then
        raise exception using
            errcode = 'RC003',
            message = format('p_document: system_prompts%s', v_wrong),
            hint    = 'Pass what recall.export_user returned, as it was.';
    end if;
end;
$function$;

comment on function recall._check_import_values(jsonb) is
    'Reject a document with values that its tables cannot hold (RC003).';

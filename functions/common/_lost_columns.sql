-- Name the columns of pgvector's types that existing tables lack, as jobs.vectors; NULL for none.
-- `drop extension vector cascade` drops these columns and their data. The list has every such
-- column of sql/tables. The installer creates this function early, and calls it after the
-- migrations.
create or replace function recall._lost_columns()
returns text
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return (
        select string_agg(format('%s.%s', c.table_name, c.column_name), ', ')
          from (
                values ('item_vectors', 'embedding'),
                       ('jobs', 'vectors'),
                       ('memory_embedding', 'embedding'),
                       ('memory_embedding', 'bits'),
                       ('memory_embedding_ended', 'embedding'),
                       ('message_search', 'embedding'),
                       ('message_search', 'bits'),
                       ('session_summaries', 'embedding'),
                       ('session_summaries', 'next_embedding')
               ) as c (table_name, column_name)
         where to_regclass('recall.' || c.table_name) is not null
           and not exists (
                   select
                     from pg_catalog.pg_attribute as a
                    where a.attrelid = to_regclass('recall.' || c.table_name)
                      and a.attname  = c.column_name));
end;
$function$;

comment on function recall._lost_columns() is
    'The columns of pgvector''s types that existing tables lack; NULL for none.';

-- Add the column of sign bits to the vector tables, at installation.
-- It is part of the primary key's index, so that a search of many vectors first scans a tenth of
-- the bytes, index-only. No further index must be written, planned and locked. It is added late,
-- because a column that a generated column depends on cannot change its type. It is bit varying,
-- since "bit" is one bit, and storage plain, to stay in the row.
create or replace function recall._add_bits()
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
begin
    if exists (
        select
          from pg_catalog.pg_attribute as a
         where a.attrelid = 'recall.memory_embedding'::regclass
           and a.attname  = 'bits'
    ) then
        return;
    end if;

    alter table recall.memory_embedding
        add column bits bit varying storage plain
            generated always as (binary_quantize(embedding)) stored,
        drop constraint memory_embedding_pkey,
        add constraint memory_embedding_pkey
            primary key (user_id, memory_id, embedding_model) include (bits);

    alter table recall.message_search
        add column bits bit varying storage plain
            generated always as (binary_quantize(embedding)) stored,
        drop constraint message_search_pkey,
        add constraint message_search_pkey
            primary key (user_id, session_id, turn_index)
            include (embedding_model, created_at, role, bits);
end;
$function$;

comment on function recall._add_bits() is
    'At installation: add sign bits of vectors to the index of the primary key.';

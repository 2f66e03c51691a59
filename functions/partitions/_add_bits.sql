-- recall._add_bits()
-- At installation: a column with the signs of a vector's numbers, in the primary key's index, so
-- that the first look at very many vectors is an index-only scan of a tenth of the bytes, without
-- one more index to write, to plan and to lock. It comes late, since the type of a column that
-- another is generated from cannot be changed any more; varying, since "bit" is one bit; plain, or
-- it would be moved out of the row.
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
    comment on column recall.memory_embedding.bits is
        'Signs of the vector: a search of very many compares these first.';

    alter table recall.message_search
        add column bits bit varying storage plain
            generated always as (binary_quantize(embedding)) stored,
        drop constraint message_search_pkey,
        add constraint message_search_pkey
            primary key (user_id, session_id, turn_index)
            include (embedding_model, created_at, role, bits);
    comment on column recall.message_search.bits is
        'Signs of the vector: a search of very many compares these first.';
end;
$function$;

comment on function recall._add_bits() is
    'At installation: give vectors their signs, in the index of the primary key.';

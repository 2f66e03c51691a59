-- Create the hash partitions once, and the monthly partitions that are missing.
do $partitions$
begin
    perform recall._create_hash_leaves(s.hash_partitions, s.embedding_dimensions)
       from recall.settings as s;
    perform recall.ensure_partitions();
end;
$partitions$;

comment on column recall.memory_embedding.bits is
    'Signs of the vector: a search of very many compares these first.';
comment on column recall.message_search.bits is
    'Signs of the vector: a search of very many compares these first.';

-- Create the hash partitions once, and the monthly partitions that are missing.
do $partitions$
begin
    perform recall._create_hash_leaves(s.hash_partitions, s.embedding_dimensions)
       from recall.settings as s;
    perform recall.ensure_partitions();
end;
$partitions$;

-- Create the hash partitions once, and the monthly partitions that are missing.
do $partitions$
begin
    if not current_setting('recall.is_upgrade')::boolean then
        perform recall._check_locks(s.hash_partitions, s.history_months_ahead)
           from recall.settings as s;
    end if;
    perform recall._create_hash_leaves(s.hash_partitions, s.embedding_dimensions)
       from recall.settings as s;
    while (select e.more from recall.ensure_partitions() as e) loop
        null;
    end loop;
end;
$partitions$;

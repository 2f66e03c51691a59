-- Refuse an installation whose partitions the server's lock table cannot hold.
-- Every other session would fail with "out of shared memory", while it runs or at its first calls.
-- Raises  RC007.
create or replace function recall._check_locks(
    p_partitions integer,
    p_months     integer
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_locks  constant integer := current_setting('max_locks_per_transaction')::integer;
    v_needed integer;
    v_fits   integer;
begin
    select recall._needed_locks(c.o_relations, c.o_first, c.o_installation)
      into v_needed
      from recall._lock_counts(p_partitions, p_months) as c;
    if v_needed <= v_locks then
        return;
    end if;

    for v_less in reverse p_partitions - 1 .. 1 loop
        select v_less
          into v_fits
          from recall._lock_counts(v_less, p_months) as c
         where recall._needed_locks(c.o_relations, c.o_first, c.o_installation) <= v_locks;
        exit when found;
    end loop;
    raise exception using
        errcode = 'RC007',
        message = format('%s hash partitions and %s months ahead need '
                         'max_locks_per_transaction = %s, and %s is set',
                         p_partitions, p_months, v_needed, v_locks),
        hint    = format('alter system set max_locks_per_transaction = %s; and restart.',
                         32 * ((v_needed + 31) / 32))
                  || coalesce(format(' Or install with fewer: set recall.hash_partitions = %s;',
                                     v_fits), '');
end;
$function$;

comment on function recall._check_locks(integer, integer) is
    'Reject partitions that the server''s lock table cannot hold (RC007).';

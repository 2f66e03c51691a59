-- List the digests of erased users, oldest first.
-- Keep the list outside of the database next to its backups: a backup lacks the erasures that came
-- after it.
-- Raises  RC003.
create or replace function recall.list_erasures(
    p_after_id uuid    default null,
    p_limit    integer default 1000
)
returns table (
    erasure_id uuid,
    salt       bytea,
    digest     bytea,
    erased_at  timestamptz,
    counts     jsonb
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    perform recall._check_limit(p_limit);
    return query
    select e.erasure_id, e.salt, e.digest, e.erased_at, e.counts
      from recall.erasures as e
     where p_after_id is null or e.erasure_id > p_after_id
     order by e.erasure_id
     limit p_limit;
end;
$function$;

comment on function recall.list_erasures(uuid, integer) is
    'List the digests of erased users, oldest first, to be kept outside of the database. The next '
    'page starts after p_after_id. RC003: a bad limit.';

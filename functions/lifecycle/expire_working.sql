-- Delete values of working memory past their lifetime.
-- Readers ignore expired values before that. The call skips locked rows, and `more` reports them.
create or replace function recall.expire_working(
    p_limit integer     default 5000,
    p_as_of timestamptz default null
)
returns table (done integer, more boolean)
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set enable_seqscan = off
set jit = off
as $function$
declare
    v_until timestamptz := coalesce(p_as_of, clock_timestamp());
begin
    perform recall._check_limit(p_limit);
    perform recall._check_as_of(p_as_of);

    if recall._is_distributed() then
        -- Citus neither locks nor counts rows of several users.
        delete from recall.working_memory as w where w.expires_at <= v_until;
        get diagnostics done = row_count;
        more := false;
        return next;
        return;
    end if;

    delete from recall.working_memory as w
     where w.ctid = any (array(
               select d.ctid
                 from recall.working_memory as d
                where d.expires_at <= v_until
                order by d.expires_at
                limit p_limit
                  for update skip locked));

    get diagnostics done = row_count;
    more := exists (select 1 from recall.working_memory as w where w.expires_at <= v_until);
    return next;
end;
$function$;

comment on function recall.expire_working(integer, timestamptz) is
    'Delete values of working memory past their lifetime, one batch a call. done counts values; '
    'more is true while some remain.';

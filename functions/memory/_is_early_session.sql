-- Tell whether a session is among the first p_first of the installation.
-- Cost: none for 0; else a scan that stops at p_first older sessions, early if there are many.
create or replace function recall._is_early_session(
    p_session recall.sessions,
    p_first   integer
)
returns boolean
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_first = 0 or p_session.session_id is null then
        return false;
    end if;
    return not exists (
        select 1 from recall.sessions as s
         where s.created_at < p_session.created_at
        offset p_first - 1);
end;
$function$;

comment on function recall._is_early_session(recall.sessions, integer) is
    'Whether a session is among the first p_first of the installation.';

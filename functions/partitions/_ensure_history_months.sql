-- Create missing months for rows of one user.
-- It is rarely needed: for imports from the past, or a month that maintenance missed. It touches
-- the user's partition only. p_refresh: see _ensure_month.
-- Locks   with p_refresh, or for a missing month: the user's partition against partition changes.
create or replace function recall._ensure_history_months(
    p_user_id uuid,
    p_rows    recall.conversation_history[],
    p_now     timestamptz,
    p_refresh boolean default false
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_leaf constant regclass := coalesce(
        recall._hash_leaf('recall.conversation_history', p_user_id),
        'recall.conversation_history');
    v_at   timestamptz;
begin
    for v_at in
        select min(t.at)
          from unnest(p_rows) as r
         cross join lateral (select least(coalesce(r.created_at, p_now), p_now)) as t (at)
         group by date_trunc('month', t.at, 'UTC')
         order by 1
    loop
        perform recall._ensure_month(v_leaf, v_at, p_refresh);
    end loop;
end;
$function$;

comment on function recall._ensure_history_months(uuid, recall.conversation_history[], timestamptz,
    boolean) is 'Create the missing months of one user''s rows.';

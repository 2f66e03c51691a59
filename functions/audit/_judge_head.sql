-- Check that a head has the form of export_head and belongs to this user.
-- Raises  RC003 a malformed head, RC006 the head of another user.
create or replace function recall._judge_head(
    p_user_id uuid,
    p_head    jsonb
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    perform recall._check_keys(p_head, '{user_id,event_count,event_hash,at}', 'p_head');
    if jsonb_typeof(p_head -> 'event_count') is distinct from 'number'
       or p_head ->> 'event_count' !~ '^[0-9]{1,18}$'
       or coalesce(p_head ->> 'event_hash', '') !~ '^([0-9a-f]{64})?$'
       or (p_head ->> 'event_count' = '0') <> (coalesce(p_head ->> 'event_hash', '') = '') then
        raise exception using
            errcode = 'RC003',
            message = format('p_head is not a head: event_count %s, event_hash %s',
                             coalesce(left(p_head ->> 'event_count', 40), 'null'),
                             coalesce(quote_literal(left(p_head ->> 'event_hash', 80)), 'null')),
            hint    = 'Pass what recall.export_head returned.';
    end if;
    if p_head ->> 'user_id' is distinct from p_user_id::text then
        raise exception using
            errcode = 'RC006',
            message = format('the head is of user %s, not of %s', left(p_head ->> 'user_id', 80),
                             p_user_id),
            hint    = 'A head is of one user''s events.';
    end if;
end;
$function$;

comment on function recall._judge_head(uuid, jsonb) is
    'Reject a malformed head, or the head of another user (RC003, RC006).';

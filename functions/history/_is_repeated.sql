-- Tell whether this append was made before.
-- An erasure of its messages leaves no hash to compare with.
-- Raises  RC008 the same request id for another session, or with other messages or usage.
create or replace function recall._is_repeated(
    p_user_id    uuid,
    p_session_id uuid,
    p_request_id uuid,
    p_messages   jsonb,
    p_usage      jsonb
)
returns boolean
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_session uuid;
    v_is_same boolean;
begin
    select r.session_id,
           case
               when r.payload_digest is not null
                   then r.payload_digest = recall._payload_digest(p_messages, p_usage)
               -- Receipts of release 0.1.0 have a weaker hash, until receipt_ttl deletes them.
               when r.payload_hash is not null
                   then r.payload_hash = jsonb_hash_extended(
                            p_messages,
                            coalesce(jsonb_hash_extended(nullif(p_usage, 'null'), 1), 0))
               else true
           end
      into v_session, v_is_same
      from recall.append_receipts as r
     where r.user_id    = p_user_id
       and r.request_id = p_request_id;
    if v_session <> p_session_id or not v_is_same then
        raise exception using
            errcode = 'RC008',
            message = format('request %s was used before ', p_request_id)
                      || case when v_session <> p_session_id
                              then format('in another session, %s', v_session)
                              else 'with other messages or another usage' end,
            hint    = 'Use a new request id for each append.';
    end if;
    return v_is_same is not null;
end;
$function$;

comment on function recall._is_repeated(uuid, uuid, uuid, jsonb, jsonb) is
    'Whether an append was made before; RC008 if its request id was used otherwise.';

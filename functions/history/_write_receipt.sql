-- recall._write_receipt(user, session, request, ids, messages, usage) -> is it new?
-- A concurrent twin waits here for the first one's commit.
-- Raises  RC008 the same request id with a different payload.
create or replace function recall._write_receipt(
    p_user_id    uuid,
    p_session_id uuid,
    p_request_id uuid,
    p_ids        uuid[],
    p_messages   jsonb,
    p_usage      jsonb
)
returns boolean
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_now  timestamptz := clock_timestamp();
    v_hash bytea       := sha256(convert_to(
        jsonb_build_array(p_session_id, p_messages, p_usage)::text, 'UTF8'));
begin
    insert into recall.append_receipts (user_id, request_id, session_id, payload_hash,
                                        message_ids, created_at)
    values (p_user_id, p_request_id, p_session_id, v_hash, p_ids, v_now)
    on conflict (user_id, request_id) do nothing;
    if found then
        return true;
    end if;

    if exists (
        select from recall.append_receipts as r
         where r.user_id      = p_user_id
           and r.request_id   = p_request_id
           and r.payload_hash <> v_hash
    ) then
        raise exception using
            errcode = 'RC008',
            message = format('request %s came before with a different payload', p_request_id),
            hint    = 'A new append takes a new request id.';
    end if;
    return false;
end;
$function$;

comment on function recall._write_receipt(uuid, uuid, uuid, uuid[], jsonb, jsonb) is
    'Remember a request id; false when it came before with the same payload.';

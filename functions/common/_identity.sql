-- Return the user that this transaction is limited to (recall.user_id), or NULL.
-- The result is text, since callers can set any value: it is compared, never assumed to be a UUID.
create or replace function recall._identity()
returns text
language sql
stable
parallel safe
return case
    when recall._is_distributed() then recall._delegated_identity()
    else nullif(current_setting('recall.user_id', true), '')
end;

comment on function recall._identity() is
    'The user that the transaction is limited to by recall.user_id; NULL for no limit.';

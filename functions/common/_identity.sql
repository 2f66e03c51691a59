-- recall._identity() -> the user of this transaction, as it was set (recall.user_id); NULL: none
-- As text, since who sets it may have set anything: it is compared, never trusted to be a UUID.
create or replace function recall._identity()
returns text
language sql
stable
parallel safe
return nullif(current_setting('recall.user_id', true), '');

comment on function recall._identity() is
    'The user that the transaction is limited to by recall.user_id; NULL when it is not.';

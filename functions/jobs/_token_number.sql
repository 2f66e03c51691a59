-- Return a number of tokens that an endpoint has told; 0 for what is none.
create or replace function recall._token_number(
    p_value jsonb
)
returns integer
language sql
immutable
parallel safe
return case when p_value::text ~ '^[0-9]{1,9}$' then p_value::integer else 0 end;

comment on function recall._token_number(jsonb) is
    'Tokens as an endpoint tells them; 0 when it told none, or nonsense.';

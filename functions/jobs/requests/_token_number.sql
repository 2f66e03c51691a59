-- Convert an endpoint's number of tokens to an integer; 0 when it is not a count.
create or replace function recall._token_number(
    p_value jsonb
)
returns integer
language sql
immutable
parallel safe
return case when p_value::text ~ '^[0-9]{1,9}$' then p_value::integer else 0 end;

comment on function recall._token_number(jsonb) is
    'Tokens that an endpoint reports; 0 when it reports none, or an invalid value.';

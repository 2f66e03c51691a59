-- recall._memory_heading_tokens(options) -> tokens of the memory block without its memories
-- Our own heading has 17 tokens.
create or replace function recall._memory_heading_tokens(
    p_options jsonb
)
returns integer
language sql
immutable
parallel safe
return 16 + case
    when p_options ? 'heading' then recall._estimate_tokens(recall._memory_heading(p_options))
    else 30
end;

comment on function recall._memory_heading_tokens(jsonb) is
    'Tokens of heading and delimiters of the memory block, on the safe side.';

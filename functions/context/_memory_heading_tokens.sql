-- Count the tokens of the memory block without its memories.
-- The default heading has 17 tokens. PL/pgSQL prepares the estimate of a custom heading only when
-- there is one; an inlined function would do so for every context.
create or replace function recall._memory_heading_tokens(
    p_options jsonb
)
returns integer
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    if p_options ? 'heading' then
        return 16 + recall._estimate_tokens(recall._memory_heading(p_options));
    end if;
    return 32;
end;
$function$;

comment on function recall._memory_heading_tokens(jsonb) is
    'Tokens of heading and delimiters of the memory block, rounded up.';

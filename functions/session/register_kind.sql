-- recall.register_kind(kind, description, …)
-- Raises  RC003.
create or replace function recall.register_kind(
    p_kind          text,
    p_description   text,
    p_lifetime      interval default null,
    p_is_behavioral boolean  default false
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
as $function$
begin
    if p_kind is null or p_kind !~ '^[a-z][a-z0-9_]{0,62}$' or p_description is null
       or p_description = '' or p_lifetime <= interval '0' or p_is_behavioral is null then
        raise exception using
            errcode = 'RC003',
            message = format('kind %L, description %L, lifetime %s', p_kind, p_description,
                             p_lifetime),
            hint    = 'A name in lower case (letters, digits, underscores), a description, a '
                      'positive lifetime or NULL.';
    end if;

    insert into recall.memory_kinds (kind, description, lifetime, is_behavioral)
    values (p_kind, p_description, p_lifetime, p_is_behavioral)
    on conflict (kind) do update
       set description   = excluded.description,
           lifetime      = excluded.lifetime,
           is_behavioral = excluded.is_behavioral;
end;
$function$;

comment on function recall.register_kind(text, text, interval, boolean) is
    'Make a kind of memory known, or change it.';

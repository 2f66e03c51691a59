-- Register a kind of memory, or change it.
-- Raises  RC003.
create or replace function recall.register_kind(
    p_kind          text,
    p_description   text,
    p_lifetime      interval default null,
    p_is_behavioral boolean  default false,
    p_review_after  interval default null
)
returns void
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    perform recall._check_text(p_description, 'p_description', 10000);
    if p_kind is null or p_kind collate "C" !~ '^[a-z][a-z0-9_]{0,62}$' or p_description is null
       or p_description = '' or p_is_behavioral is null
       or least(p_lifetime, p_review_after) <= interval '0'
       or greatest(p_lifetime, p_review_after) > interval '1000 years' then
        raise exception using
            errcode = 'RC003',
            message = format('kind %L, description %L, lifetime %s, review after %s',
                             left(p_kind, 80), left(p_description, 80), p_lifetime,
                             p_review_after),
            hint    = 'A name in lower case (letters, digits, underscores), a description, a '
                      'positive lifetime or NULL, a positive time to the review or NULL, each at '
                      'most 1000 years.';
    end if;

    insert into recall.memory_kinds (kind, description, lifetime, is_behavioral, review_after)
    values (p_kind, p_description, p_lifetime, p_is_behavioral, p_review_after)
    on conflict (kind) do update
       set description   = excluded.description,
           lifetime      = excluded.lifetime,
           is_behavioral = excluded.is_behavioral,
           review_after  = excluded.review_after;
end;
$function$;

comment on function recall.register_kind(text, text, interval, boolean, interval) is
    'Register a kind of memory, or change it: its lifetime, and when it should be confirmed '
    'again. RC003: a bad value.';

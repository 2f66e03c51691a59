-- recall._no_step(kind)
-- Raises  RC007, always: this version of the schema has no step of that kind.
create or replace function recall._no_step(
    p_kind text
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
begin
    raise exception using
        errcode = 'RC007',
        message = format('version %s has no step for jobs of kind %s', recall.version(), p_kind),
        hint    = 'Claim the kinds extract:verbatim and embed, or upgrade.';
end;
$function$;

comment on function recall._no_step(text) is 'Raise RC007: no step for this kind of job.';

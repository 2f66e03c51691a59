-- Create a partition for a range of time; NULL p_from means everything before.
-- It is created as a table and then attached, because CREATE … PARTITION OF would lock the parent
-- exclusively. Row-level security without a policy keeps a careless GRANT ON ALL TABLES from
-- showing rows.
create or replace function recall._create_leaf(
    p_parent regclass,
    p_name   text,
    p_from   timestamptz,
    p_to     timestamptz
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $function$
declare
    v_name    text := p_name;
    v_attempt integer := 1;
begin
    -- A detached partition may still have the name.
    while to_regclass(format('recall.%I', v_name)) is not null loop
        v_attempt := v_attempt + 1;
        v_name := format('%s_%s', p_name, v_attempt);
    end loop;

    execute format('create table recall.%I (like %s including all)', v_name, p_parent);
    execute format('alter table recall.%I enable row level security', v_name);
    execute format('alter table %s attach partition recall.%I for values from (%s) to (%L)',
                   p_parent, v_name, coalesce(quote_literal(p_from), 'minvalue'), p_to);
end;
$function$;

comment on function recall._create_leaf(regclass, text, timestamptz, timestamptz) is
    'Create a partition with row-level security and attach it.';

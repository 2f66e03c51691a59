-- recall._create_leaf(parent, name, bounds)
-- Built aside and then attached: CREATE … PARTITION OF would lock the parent exclusively. Row-level
-- security without a policy, so that a careless GRANT ON ALL TABLES still shows nothing.
create or replace function recall._create_leaf(
    p_parent regclass,
    p_name   text,
    p_bounds text
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_name    text := p_name;
    v_attempt integer := 1;
begin
    -- A detached leaf may still carry the name.
    while to_regclass(format('recall.%I', v_name)) is not null loop
        v_attempt := v_attempt + 1;
        v_name := format('%s_%s', p_name, v_attempt);
    end loop;

    execute format('create table recall.%I (like %s including all)', v_name, p_parent);
    execute format('alter table recall.%I enable row level security', v_name);
    execute format('alter table %s attach partition recall.%I %s', p_parent, v_name, p_bounds);
end;
$function$;

comment on function recall._create_leaf(regclass, text, text) is
    'Create a partition with row-level security and attach it.';

-- recall._check_message_filter(filter)
-- Raises  RC003 unknown key, or a value of another type.
create or replace function recall._check_message_filter(
    p_filter jsonb
)
returns void
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_problem text;
begin
    perform recall._check_keys(p_filter, '{session_id,since,until,roles}', 'p_filter');

    select format('%s is %s', f.key, left(f.value::text, 80))
      into v_problem
      from jsonb_each(p_filter) as f
     where f.value <> 'null'
       and case f.key
               when 'session_id' then not pg_input_is_valid(f.value #>> '{}', 'uuid')
               when 'roles' then
                   case when jsonb_typeof(f.value) = 'array'
                        then exists (
                            select from jsonb_array_elements(f.value) as r (role)
                             where r.role #>> '{}' is null
                                or r.role #>> '{}'
                                   <> all (enum_range(null::recall.message_role)::text[]))
                        else true end
               else jsonb_typeof(f.value) <> 'string'
                    or not pg_input_is_valid(f.value #>> '{}', 'timestamptz')
           end
     order by f.key
     limit 1;
    if v_problem is not null then
        raise exception using
            errcode = 'RC003',
            message = format('p_filter: %s', v_problem),
            hint    = 'session_id: a UUID; since, until: times; roles: a list such as ["user"].';
    end if;
end;
$function$;

comment on function recall._check_message_filter(jsonb) is
    'Refuse a filter of search_messages with unknown keys or ill-typed values (RC003).';

-- Return a list with one system message, empty for NULL.
create or replace function recall._system_message(
    p_text text
)
returns jsonb[]
language sql
stable
parallel safe
return case
    when p_text is null then '{}'::jsonb[]
    else array[jsonb_build_object('role', 'system', 'content', p_text)]
end;

comment on function recall._system_message(text) is
    'A list with one system message, empty for NULL.';

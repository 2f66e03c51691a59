-- recall._vector_list(result, key, id_key) -> a list of {id_key, embedding}; [] when not given
-- Raises  RC003.
create or replace function recall._vector_list(
    p_result jsonb,
    p_key    text,
    p_id_key text
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_list jsonb := coalesce(nullif(p_result -> p_key, 'null'), '[]');
begin
    if jsonb_typeof(v_list) <> 'array' or exists (
        select from jsonb_array_elements(v_list) as e (item)
         where case p_id_key
                   when 'turn_index'
                       then coalesce(e.item ->> p_id_key, '') !~ '^[0-9]{1,9}$'
                   else not coalesce(pg_input_is_valid(e.item ->> p_id_key, 'uuid'), false)
               end
    ) then
        raise exception using
            errcode = 'RC003',
            message = format('%s in p_result is not a list of vectors', p_key),
            hint    = format('Each is an object with %s and embedding.', p_id_key);
    end if;
    return v_list;
end;
$function$;

comment on function recall._vector_list(jsonb, text, text) is
    'A checked list of vectors out of a job''s result (RC003); empty when there is none.';

-- Return the messages of a list that follow the cursor.
-- The cursor is the hash of the last processed message; its last occurrence counts. Without an
-- occurrence (no cursor yet, or the caller summarized the list) all messages are new.
-- Raises  RC003 p_messages is not an array of objects.
create or replace function recall.new_messages_since(
    p_cursor   bytea,
    p_messages jsonb
)
returns table (
    ordinal integer,
    message jsonb,
    cursor  bytea
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_problem text;
begin
    perform recall._check_json(p_messages, 'p_messages', 64, 2147483647);
    if p_messages is null or jsonb_typeof(p_messages) <> 'array' then
        v_problem := 'p_messages is not a JSON array';
    else
        select format('p_messages[%s] is %s, not an object', e.ordinal - 1,
                      left(e.message::text, 80))
          into v_problem
          from jsonb_array_elements(p_messages) with ordinality as e (message, ordinal)
         where jsonb_typeof(e.message) <> 'object'
         order by e.ordinal
         limit 1;
    end if;
    if v_problem is not null then
        raise exception using
            errcode = 'RC003',
            message = v_problem,
            hint    = 'Pass a list of OpenAI messages.';
    end if;

    return query
    with list as materialized (
        select e.ordinal::integer as place, e.message as body,
               recall.message_hash(e.message) as hash
          from jsonb_array_elements(p_messages) with ordinality as e (message, ordinal)
    )
    select l.place, l.body, l.hash
      from list as l
     where l.place > coalesce((select max(k.place) from list as k where k.hash = p_cursor), 0)
     order by l.place;
end;
$function$;

comment on function recall.new_messages_since(bytea, jsonb) is
    'Messages of a caller-held list after the cursor, each with its 1-based position and its own '
    'cursor. All messages are new when the cursor does not occur. RC003: not an array of objects.';

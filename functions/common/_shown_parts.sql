-- Return the parts of a message that models see: all but items; NULL when there are none.
-- A part of the type item is stored for a framework, such as reasoning of the Responses API. It is
-- given back by get_messages only.
create or replace function recall._shown_parts(
    p_parts jsonb
)
returns jsonb
language sql
immutable
parallel safe
return nullif(jsonb_path_query_array(p_parts, 'strict $[*] ? (@.type != "item")'), '[]');

comment on function recall._shown_parts(jsonb) is
    'The parts of a message without items, which no model sees; NULL when none is left.';

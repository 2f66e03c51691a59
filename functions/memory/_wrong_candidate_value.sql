-- recall._wrong_candidate_value(candidate) -> the first wrong field, or NULL
-- The fields that hold numbers, times, ids and objects. (pg_input_is_valid wants its type as a
-- constant.)
create or replace function recall._wrong_candidate_value(
    p_candidate jsonb
)
returns text
language sql
stable
parallel safe
return case
    when case jsonb_typeof(p_candidate -> 'confidence')
             when 'null' then false
             when 'string' then p_candidate ->> 'confidence' not in ('high', 'medium', 'low')
             when 'number' then (p_candidate ->> 'confidence')::numeric not between 0 and 1
             else p_candidate ? 'confidence'
         end then 'confidence'
    when jsonb_typeof(p_candidate -> 'expires_at') <> 'null'
        and (jsonb_typeof(p_candidate -> 'expires_at') <> 'string'
             or not pg_input_is_valid(p_candidate ->> 'expires_at', 'timestamptz')
             or not isfinite((p_candidate ->> 'expires_at')::timestamptz)) then 'expires_at'
    when case jsonb_typeof(p_candidate -> 'importance')
             when 'null' then false
             when 'number' then (p_candidate ->> 'importance')::numeric not between 0 and 1
             else p_candidate ? 'importance'
         end then 'importance'
    when jsonb_typeof(p_candidate -> 'metadata') not in ('object', 'null') then 'metadata'
    when jsonb_typeof(p_candidate -> 'observed_at') <> 'null'
        and (jsonb_typeof(p_candidate -> 'observed_at') <> 'string'
             or not pg_input_is_valid(p_candidate ->> 'observed_at', 'timestamptz')
             or not isfinite((p_candidate ->> 'observed_at')::timestamptz)) then 'observed_at'
    when jsonb_typeof(p_candidate -> 'review_at') <> 'null'
        and (jsonb_typeof(p_candidate -> 'review_at') <> 'string'
             or not pg_input_is_valid(p_candidate ->> 'review_at', 'timestamptz')
             or not isfinite((p_candidate ->> 'review_at')::timestamptz)) then 'review_at'
    when jsonb_typeof(p_candidate -> 'source_turn_ids') <> 'null'
        and (jsonb_typeof(p_candidate -> 'source_turn_ids') <> 'array'
             or jsonb_path_exists(p_candidate -> 'source_turn_ids',
                                  '$[*] ? (@.type() <> "string")')
             or not pg_input_is_valid(translate(p_candidate ->> 'source_turn_ids', '[]"', '{}'),
                                      'uuid[]')) then 'source_turn_ids'
    when jsonb_typeof(p_candidate -> 'target_id') <> 'null'
        and (jsonb_typeof(p_candidate -> 'target_id') <> 'string'
             or not pg_input_is_valid(p_candidate ->> 'target_id', 'uuid')) then 'target_id'
    when p_candidate ->> 'token_count' !~ '^[0-9]{1,9}$' then 'token_count'
    when jsonb_typeof(p_candidate -> 'valid_from') <> 'null'
        and (jsonb_typeof(p_candidate -> 'valid_from') <> 'string'
             or not pg_input_is_valid(p_candidate ->> 'valid_from', 'timestamptz')
             or not isfinite((p_candidate ->> 'valid_from')::timestamptz)) then 'valid_from'
    when jsonb_typeof(p_candidate -> 'valid_to') <> 'null'
        and (jsonb_typeof(p_candidate -> 'valid_to') <> 'string'
             or not pg_input_is_valid(p_candidate ->> 'valid_to', 'timestamptz')
             or not isfinite((p_candidate ->> 'valid_to')::timestamptz)) then 'valid_to'
end;

comment on function recall._wrong_candidate_value(jsonb) is
    'The first wrong one of the other fields of a candidate; NULL when all are well.';

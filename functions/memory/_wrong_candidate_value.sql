-- Return the first wrong field of those that few candidates have: times, ids, confidence; or NULL.
-- It stays a call of its own: inlined, its setup would cost every statement 20 µs.
-- pg_input_is_valid needs its type as a constant.
create or replace function recall._wrong_candidate_value(
    p_candidate jsonb
)
returns text
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return case
        when case jsonb_typeof(p_candidate -> 'confidence')
                 when 'null' then false
                 when 'string' then p_candidate ->> 'confidence' not in ('high', 'medium', 'low')
                 when 'number' then (p_candidate ->> 'confidence')::numeric not between 0 and 1
                 else p_candidate ? 'confidence'
             end then 'confidence'
        when jsonb_typeof(p_candidate -> 'expires_at') <> 'null'
            and not recall._is_calendar_time(p_candidate -> 'expires_at') then 'expires_at'
        when jsonb_typeof(p_candidate -> 'observed_at') <> 'null'
            and not recall._is_calendar_time(p_candidate -> 'observed_at') then 'observed_at'
        when jsonb_typeof(p_candidate -> 'review_at') <> 'null'
            and not recall._is_calendar_time(p_candidate -> 'review_at') then 'review_at'
        when jsonb_typeof(p_candidate -> 'source_turn_ids') <> 'null'
            and (jsonb_typeof(p_candidate -> 'source_turn_ids') <> 'array'
                 or jsonb_path_exists(p_candidate -> 'source_turn_ids',
                                      '$[*] ? (@.type() <> "string")')
                 or not pg_input_is_valid(
                        translate(p_candidate ->> 'source_turn_ids', '[]"', '{}'), 'uuid[]'))
            then 'source_turn_ids'
        when jsonb_typeof(p_candidate -> 'target_id') <> 'null'
            and (jsonb_typeof(p_candidate -> 'target_id') <> 'string'
                 or not pg_input_is_valid(p_candidate ->> 'target_id', 'uuid')) then 'target_id'
        when jsonb_typeof(p_candidate -> 'valid_from') <> 'null'
            and not recall._is_calendar_time(p_candidate -> 'valid_from') then 'valid_from'
        when jsonb_typeof(p_candidate -> 'valid_to') <> 'null'
            and not recall._is_calendar_time(p_candidate -> 'valid_to') then 'valid_to'
        when (p_candidate ->> 'valid_to')::timestamptz < (p_candidate ->> 'valid_from')::timestamptz
            then 'valid_to is before valid_from'
    end;
end;
$function$;

comment on function recall._wrong_candidate_value(jsonb) is
    'The first wrong one of the fields that few candidates have; NULL when all are valid.';

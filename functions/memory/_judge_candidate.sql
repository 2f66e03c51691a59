-- Return what is wrong with a candidate or decision; NULL when it is valid.
-- This is one expression that PostgreSQL inlines (a call costs 40 µs a candidate), except for the
-- fields that few candidates have. Therefore a malformed field is reported by name only, and
-- recall._check_candidates adds its value.
create or replace function recall._judge_candidate(
    p_candidate      jsonb,
    p_keys           text[],
    p_kinds          text[],
    p_max_characters integer
)
returns text
language sql
stable
parallel safe
return case
    when jsonb_typeof(p_candidate) <> 'object' then ' is not an object'
    when array['decision'] <@ p_keys
        and coalesce(p_candidate ->> 'decision', '')
            not in ('ADD', 'UPDATE', 'DELETE', 'ACHIEVE', 'NONE')
        then '.decision' || case when coalesce(p_candidate ->> 'decision', '') = ''
                                 then ' is missing' else '' end
    when p_candidate ->> 'decision' in ('UPDATE', 'DELETE', 'ACHIEVE')
        and p_candidate ->> 'target_id' is null
        then '.target_id is missing'
    when p_candidate ->> 'content' is null
        and coalesce(p_candidate ->> 'decision', 'ADD') not in ('DELETE', 'NONE')
        then '.content is missing'
    when p_candidate - p_keys <> '{}' then ' has an unknown key'
    else coalesce(
        '.' || recall._wrong_candidate_text(p_candidate, p_kinds, p_max_characters),
        case when p_candidate ?| '{confidence,expires_at,observed_at,review_at,source_turn_ids,'
                                  'target_id,valid_from,valid_to}'
             then '.' || recall._wrong_candidate_value(p_candidate) end)
end;

comment on function recall._judge_candidate(jsonb, text[], text[], integer) is
    'Return the first problem of a candidate or decision, after its path, or NULL.';

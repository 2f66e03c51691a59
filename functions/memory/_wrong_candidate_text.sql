-- Return the first wrong field among those that most candidates have, or that hold text; or NULL.
-- A null value counts as missing. A text is empty when normalization leaves nothing. A text with an
-- ASCII letter or digit skips this check (12 µs). The driver counts the characters of a ciphertext:
-- here only its bytes are known, at most four for each character. Ciphertexts of tags and metadata
-- are at most 16 times as long: that is a value of one digit.
create or replace function recall._wrong_candidate_text(
    p_candidate      jsonb,
    p_kinds          text[],
    p_max_characters integer
)
returns text
language sql
stable
parallel safe
return case
    when jsonb_typeof(p_candidate -> 'agent_id') <> 'null'
        and (jsonb_typeof(p_candidate -> 'agent_id') <> 'string'
             or length(p_candidate ->> 'agent_id') not between 1 and 200) then 'agent_id'
    when jsonb_typeof(p_candidate -> 'content') <> 'null'
        and (jsonb_typeof(p_candidate -> 'content') <> 'string'
             or length(p_candidate ->> 'content') > p_max_characters
                and not (recall._is_sealed(p_candidate ->> 'content')
                         and recall._text_length(p_candidate ->> 'content') <= 4 * p_max_characters)
             or p_candidate ->> 'content' !~ '[0-9A-Za-z]'
                and recall._normalize_text(p_candidate ->> 'content') = '') then 'content'
    when jsonb_typeof(p_candidate -> 'embedding_model') <> 'null'
        and (jsonb_typeof(p_candidate -> 'embedding_model') <> 'string'
             or length(p_candidate ->> 'embedding_model') not between 1 and 200)
        then 'embedding_model'
    when case jsonb_typeof(p_candidate -> 'importance')
             when 'null' then false
             when 'number' then (p_candidate ->> 'importance')::numeric not between 0 and 1
             else p_candidate ? 'importance'
         end then 'importance'
    when jsonb_typeof(p_candidate -> 'kind') <> 'null'
        and (jsonb_typeof(p_candidate -> 'kind') <> 'string'
             or not array[p_candidate ->> 'kind'] <@ p_kinds) then 'kind'
    when p_candidate ->> 'provenance' is not null
        and not pg_input_is_valid(p_candidate ->> 'provenance', 'recall.provenance')
        then 'provenance'
    when jsonb_typeof(p_candidate -> 'slot') <> 'null'
        and (jsonb_typeof(p_candidate -> 'slot') <> 'string'
             or length(p_candidate ->> 'slot') not between 1 and 200
                and not (recall._is_sealed(p_candidate ->> 'slot')
                         and recall._text_length(p_candidate ->> 'slot') <= 800)) then 'slot'
    when p_candidate ->> 'source' not in ('conversation', 'manual', 'inference', 'tool',
                                          'consolidation', 'import') then 'source'
    when jsonb_typeof(p_candidate -> 'tags') <> 'null'
        and (jsonb_typeof(p_candidate -> 'tags') <> 'array'
             or jsonb_path_exists(p_candidate -> 'tags',
                                  '$[*] ? (@.type() <> "string" || @ == "")')
             or jsonb_path_exists(p_candidate -> 'tags', 'strict $ ? (@.size() > 100)')
             or length(p_candidate ->> 'tags') > 16 * p_max_characters
                and not (recall._is_sealed(p_candidate ->> 'content')
                         and length(p_candidate ->> 'tags') <= 16 * 16 * p_max_characters))
        then 'tags'
    when jsonb_typeof(p_candidate -> 'metadata') not in ('object', 'null')
        or length(p_candidate ->> 'metadata') > 16 * p_max_characters
           and not (recall._is_sealed(p_candidate ->> 'content')
                    and length(p_candidate ->> 'metadata') <= 16 * 16 * p_max_characters)
        then 'metadata'
    when p_candidate ->> 'token_count' !~ '^[0-9]{1,9}$' then 'token_count'
end;

comment on function recall._wrong_candidate_text(jsonb, text[], integer) is
    'The first wrong one of the fields that most candidates have; NULL when all are valid.';

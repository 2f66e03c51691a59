-- Convert the statements that the worker of an encrypted user has chosen to candidates.
create or replace function recall._made_statements(
    p_said jsonb
)
returns jsonb
language sql
immutable
parallel safe
return jsonb_build_object('candidates', (
    select coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
               'content', e.item -> 'content',
               'kind', 'fact',
               'confidence', 0.9,
               'token_count', case when (e.item ->> 'token_count')::integer >= 0
                                   then e.item -> 'token_count' end,
               'metadata', jsonb '{"verbatim": true}',
               'turns', jsonb_build_array(e.item -> 'turn'))) order by e.place), '[]')
      from jsonb_array_elements(p_said -> 'candidates') with ordinality as e (item, place)
     where recall._is_sealed(e.item ->> 'content')));

comment on function recall._made_statements(jsonb) is
    'Statements that a worker has chosen from ciphertexts, as candidates.';

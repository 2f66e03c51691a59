-- Replace secrets in candidates by marks.
-- Vectors and turn ids are not searched.
create or replace function recall._masked_candidates(
    p_candidates jsonb,
    p_settings   recall.settings
)
returns jsonb
language sql
immutable
parallel safe
as $function$
    select coalesce(jsonb_agg(
               c.candidate || recall._redact_json(
                   c.candidate - '{embedding,source_turn_ids}'::text[],
                   (p_settings).secret_classes) order by c.place), '[]')
      from jsonb_array_elements(p_candidates) with ordinality as c (candidate, place);
$function$;

comment on function recall._masked_candidates(jsonb, recall.settings) is
    'Candidates with secrets replaced by marks.';

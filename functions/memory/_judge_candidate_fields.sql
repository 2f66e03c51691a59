-- recall._judge_candidate_fields(candidate, keys, kinds, max_characters) -> first problem, or NULL
-- A value that is null counts as not given. (pg_input_is_valid wants its type as a constant.)
create or replace function recall._judge_candidate_fields(
    p_candidate      jsonb,
    p_keys           text[],
    p_kinds          text[],
    p_max_characters integer
)
returns text
language plpgsql
stable
parallel safe
set search_path from current
as $function$
begin
    return (
        select case
                   when f.key <> all (p_keys) then format('%s is no key', f.key)
                   else format('%s is %s', f.key, left(f.value::text, 80))
               end
          from jsonb_each(p_candidate) as f
         cross join lateral (select jsonb_typeof(f.value), f.value #>> '{}') as v (type, body)
         where case
                   when f.key <> all (p_keys) then true
                   when v.type = 'null' then false
                   when f.key = 'content' then
                       v.type <> 'string'
                       or length(v.body) > p_max_characters
                                           * case when recall._is_sealed(v.body) then 6 else 1 end
                       or recall._normalize_text(v.body) = ''
                   when f.key in ('slot', 'agent_id', 'embedding_model') then
                       v.type <> 'string' or length(v.body) not between 1 and 200
                   when f.key = 'kind' then
                       v.type <> 'string' or v.body <> all (p_kinds)
                   when f.key = 'provenance' then
                       v.type <> 'string'
                       or v.body <> all (enum_range(null::recall.provenance)::text[])
                   when f.key = 'source' then
                       f.value not in ('"conversation"', '"manual"', '"inference"', '"tool"',
                                       '"consolidation"', '"import"')
                   when f.key = 'decision' then
                       f.value not in ('"ADD"', '"UPDATE"', '"DELETE"', '"NONE"')
                   when f.key = 'confidence' and v.type = 'string' then
                       v.body not in ('high', 'medium', 'low')
                   when f.key in ('importance', 'confidence') then
                       case when v.type = 'number' then v.body::numeric not between 0 and 1
                            else true end
                   when f.key = 'token_count' then v.body !~ '^[0-9]{1,9}$'
                   when f.key in ('observed_at', 'valid_from', 'valid_to', 'expires_at',
                                  'review_at') then
                       case when v.type = 'string' and pg_input_is_valid(v.body, 'timestamptz')
                                 then not isfinite(v.body::timestamptz)
                                 else true end
                   when f.key = 'target_id' then
                       v.type <> 'string' or not pg_input_is_valid(v.body, 'uuid')
                   when f.key = 'tags' then
                       v.type <> 'array'
                       or jsonb_path_exists(
                              f.value, '$[*] ? (@.type() <> "string" || @ == "")')
                   when f.key = 'source_turn_ids' then
                       v.type <> 'array'
                       or jsonb_path_exists(f.value, '$[*] ? (@.type() <> "string")')
                       or not pg_input_is_valid(translate(v.body, '[]"', '{}'), 'uuid[]')
                   when f.key = 'metadata' then v.type <> 'object'
                   else false
               end
         order by f.key
         limit 1);
end;
$function$;

comment on function recall._judge_candidate_fields(jsonb, text[], text[], integer) is
    'First thing wrong with the fields of a candidate memory; NULL when all is well.';

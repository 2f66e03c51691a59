-- recall._check_pattern(job, result, settings)
-- Raises  RC003, RC004 a vector of another model.
create or replace function recall._check_pattern(
    p_job      recall.jobs,
    p_result   jsonb,
    p_settings recall.settings
)
returns void
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_solutions jsonb := coalesce(nullif(p_result -> 'solutions', 'null'), '[]');
begin
    perform recall._check_keys(
        p_result, '{content,tags,importance,solutions,pattern_id,embedding,embedding_model}',
        'p_result');
    perform recall._check_model(p_result, p_settings);
    if not p_result ? 'content' then
        raise exception using
            errcode = 'RC003',
            message = 'content is missing in p_result',
            hint    = 'One text, or null when the episodes have nothing in common.';
    end if;
    if p_result ->> 'content' is not null then
        perform recall._check_candidates(
            jsonb_build_array(p_result - '{solutions,pattern_id,embedding}'::text[]), 'pattern',
            '{}', p_settings);
    end if;

    if not coalesce(pg_input_is_valid(p_result ->> 'pattern_id', 'uuid'), true)
       or jsonb_typeof(v_solutions) <> 'array' or exists (
              select
                from jsonb_array_elements(v_solutions) as s (item)
               where jsonb_typeof(s.item) <> 'object'
                  or s.item - '{memory_id,solution}'::text[] <> '{}'
                  or jsonb_typeof(s.item -> 'solution') is distinct from 'string'
                  or length(s.item ->> 'solution')
                     not between 1 and p_settings.memory_max_characters
                  or not recall._is_uuid_list(jsonb_build_array(s.item -> 'memory_id'))
                  or (s.item ->> 'memory_id')::uuid
                     <> all (recall._payload_memories(p_job.payload)))
    then
        raise exception using
            errcode = 'RC003',
            message = 'pattern_id or solutions in p_result is malformed',
            hint    = 'pattern_id is that of the input; each solution has memory_id, of an episode '
                      'in the input, and solution, a text.';
    end if;
end;
$function$;

comment on function recall._check_pattern(recall.jobs, jsonb, recall.settings) is
    'Refuse a result of a pattern job that is none (RC003, RC004).';

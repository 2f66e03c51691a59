-- Convert a model's pattern to a result: sentence, last five solutions with days, tags, sources.
-- For an encrypted user the worker appended the solutions before it encrypted the sentence.
create or replace function recall._made_pattern(
    p_said  jsonb,
    p_keep  jsonb,
    p_input jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_sentence  constant text collate pg_c_utf8 := recall._clean_line(p_said ->> 'pattern', 500);
    v_solutions jsonb;
    v_listed    text;
begin
    if coalesce(v_sentence, '') !~ '[[:alnum:]]' then
        return jsonb_build_object('content', null);
    end if;

    select coalesce(jsonb_agg(jsonb_build_object(
               'memory_id', p_keep #> array['memories', (s.episode - 1)::text],
               'solution', s.solution) order by s.place), '[]')
      into v_solutions
      from (
            select e.place, (e.item ->> 'episode')::integer as episode,
                   recall._clean_line(e.item ->> 'solution', 500) as solution
              from jsonb_array_elements(p_said -> 'solutions') with ordinality as e (item, place)
           ) as s
     where s.solution collate pg_c_utf8 ~ '[[:alnum:]]';

    -- The last solution of an episode replaces its earlier ones.
    select string_agg(format('%s (%s)', rtrim(l.solution, '.'), l.day), ', ' order by l.day, l.at)
      into v_listed
      from (
            select *
              from (
                    select distinct on (s.item ->> 'memory_id') s.item ->> 'solution' as solution,
                           coalesce(s.item ->> 'date', e.episode ->> 'observed_at') as day,
                           s.place as at
                      from jsonb_array_elements(
                               coalesce(p_input #> '{pattern,solutions}', '[]') || v_solutions)
                           with ordinality as s (item, place)
                      left join jsonb_array_elements(p_input -> 'episodes') as e (episode)
                        on e.episode -> 'memory_id' = s.item -> 'memory_id'
                     order by s.item ->> 'memory_id', s.place desc
                   ) as d
             order by d.day desc, d.at desc
             limit 5
           ) as l;

    return jsonb_build_object(
        'content', v_sentence || case when recall._is_sealed(v_sentence) then ''
                                      else coalesce(recall._pattern_separator() || v_listed || '.',
                                                    '') end,
        'tags', recall._clean_tags(p_said -> 'tags'),
        'solutions', v_solutions)
        || case when p_input #> '{pattern,memory_id}' is not null
                then jsonb_build_object('pattern_id', p_input #> '{pattern,memory_id}')
                else jsonb '{}' end;
end;
$function$;

comment on function recall._made_pattern(jsonb, jsonb, jsonb) is
    'A model''s pattern as a result: its sentence with the last solutions and their days, tags, '
    'and all solutions with their episodes.';

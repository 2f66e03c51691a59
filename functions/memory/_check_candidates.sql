-- Check candidates or decisions before anything is locked or written.
-- p_what names the list in the error; NULL stands for one candidate built from parameters.
-- Raises  RC003, naming element and field.
create or replace function recall._check_candidates(
    p_candidates jsonb,
    p_what       text,
    p_more_keys  text[],
    p_settings   recall.settings
)
returns void
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_keys    constant text[] :=
        '{content,kind,slot,tags,importance,confidence,provenance,source,observed_at,valid_from,'
        'valid_to,source_turn_ids,embedding,embedding_model,token_count,agent_id,metadata}'::text[];
    v_kinds   text[]          := array(select k.kind from recall.memory_kinds as k order by k.kind);
    v_one     jsonb;
    v_ordinal integer;
    v_problem text;
begin
    if p_candidates is null or jsonb_typeof(p_candidates) <> 'array' then
        v_problem := ' is not a list';
    else
        select e.candidate, e.ordinal, j.problem
          into v_one, v_ordinal, v_problem
          from jsonb_array_elements(p_candidates) with ordinality as e (candidate, ordinal)
         cross join lateral (
                select recall._judge_candidate(e.candidate, v_keys || p_more_keys, v_kinds,
                                               p_settings.memory_max_characters)
                offset 0
               ) as j (problem)
         where j.problem is not null
         order by e.ordinal
         limit 1;
        if v_problem = ' has an unknown key' then
            select format('.%s is no key', left(min(k.key), 80))
              into v_problem
              from jsonb_object_keys(v_one - (v_keys || p_more_keys)) as k (key);
        end if;
        if found then
            v_problem := concat(format('[%s]%s', v_ordinal - 1, v_problem),
                                ' is ' || left((v_one -> ltrim(v_problem, '.'))::text, 80));
        end if;
    end if;

    if v_problem is not null then
        raise exception using
            errcode = 'RC003',
            message = coalesce(p_what || v_problem, replace(v_problem, '[0].', 'p_')),
            hint    = case
                when v_problem ~ '\mkind\M' then
                    'Known kinds: ' || array_to_string(v_kinds, ', ')
                when v_problem ~ '\mcontent\M' then
                    format('A text of at most %s characters with words in it.',
                           p_settings.memory_max_characters)
                when v_problem ~ 'is no key$' then
                    'Keys: ' || array_to_string(v_keys || p_more_keys, ', ')
                when v_problem ~ '^\[\d+\]\.decision\M' then
                    'One of ADD, UPDATE, DELETE, ACHIEVE, NONE.'
                when v_problem ~ '^\[\d+\]\.provenance\M' then
                    'One of ' || array_to_string(enum_range(null::recall.provenance), ', ')
                when v_problem ~ '^\[\d+\]\.source\M' then
                    'One of conversation, manual, inference, tool, consolidation, import'
                else 'Numbers lie in 0 to 1 (confidence also high, medium, low); times have a year '
                     'from 1 to 9999; ids are UUIDs; tags a list of at most 100 texts, metadata an '
                     'object, each of at most 16 characters for each of '
                     'settings.memory_max_characters; names have 1 to 200 characters.'
            end;
    end if;
end;
$function$;

comment on function recall._check_candidates(jsonb, text, text[], recall.settings) is
    'Reject malformed candidates or decisions (RC003).';

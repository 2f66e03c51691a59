-- recall._merge_list(job, result, settings) -> the merges of a result, checked
-- Each has a content and two or more of the job's memories; a memory is in one merge at most.
-- Raises  RC003.
create or replace function recall._merge_list(
    p_job      recall.jobs,
    p_result   jsonb,
    p_settings recall.settings
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_merges jsonb  := p_result -> 'merges';
    v_known  uuid[] := recall._payload_memories(p_job.payload);
    v_used   uuid[] := '{}'::uuid[];
    v_merge  jsonb;
    v_text   jsonb;
    v_ids    uuid[];
begin
    if v_merges is null or jsonb_typeof(v_merges) <> 'array' then
        raise exception using
            errcode = 'RC003',
            message = 'merges in p_result is not a list',
            hint    = 'Each has content and memory_ids; an empty list leaves all as it is.';
    end if;

    for v_merge in select e.item from jsonb_array_elements(v_merges) as e (item) loop
        if jsonb_typeof(v_merge) = 'object' then
            perform recall._check_keys(v_merge, '{content,memory_ids}', 'a merge');
            v_text := jsonb_build_array(v_merge - 'memory_ids');
        else
            v_text := jsonb_build_array(v_merge);
        end if;
        perform recall._check_candidates(v_text, 'merges', '{}', p_settings);
        if recall._is_uuid_list(v_merge -> 'memory_ids') then
            v_ids := array(select i.id::uuid from jsonb_array_elements_text(
                               v_merge -> 'memory_ids') as i (id));
        else
            v_ids := '{}'::uuid[];
        end if;
        v_used := v_used || v_ids;
        if cardinality(v_ids) < 2 or not v_ids <@ v_known
           or cardinality(v_used) > (select count(distinct u.id) from unnest(v_used) as u (id))
        then
            raise exception using
                errcode = 'RC003',
                message = format('memory_ids of a merge is %s',
                                 coalesce(left((v_merge -> 'memory_ids')::text, 200), 'missing')),
                hint    = 'Two or more of the memories in the job''s input, each in one merge at '
                          'most.';
        end if;
    end loop;
    return recall._masked_json(v_merges, p_settings);
end;
$function$;

comment on function recall._merge_list(recall.jobs, jsonb, recall.settings) is
    'Checked merges out of a job''s result (RC003).';

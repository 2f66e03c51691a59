-- Add the worker's token counts to the candidates of a job, in the order of its vectors.
create or replace function recall._counted_candidates(
    p_job        recall.jobs,
    p_candidates jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if not p_job.work ? 'token_counts' then
        return p_candidates;
    end if;
    return (
        select coalesce(jsonb_agg(
                   jsonb_strip_nulls(jsonb_build_object('token_count', recall._counted_tokens(
                       p_job, c.place::integer, c.candidate ->> 'content')))
                   || c.candidate order by c.place), '[]')
          from jsonb_array_elements(p_candidates) with ordinality as c (candidate, place));
end;
$function$;

comment on function recall._counted_candidates(recall.jobs, jsonb) is
    'Candidates of a job with the token counts of the worker.';

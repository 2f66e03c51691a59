-- Return what of a job's state outlives its lease; NULL for nothing.
create or replace function recall._kept_work(
    p_work jsonb
)
returns jsonb
language sql
immutable
parallel safe
return case
    when p_work -> 'made' <> '{}'
    then jsonb_strip_nulls(jsonb_build_object('embedder', p_work -> 'embedder'))
         || jsonb_build_object('made', p_work -> 'made')
end;

comment on function recall._kept_work(jsonb) is
    'What of a job''s state outlives its lease: what models have made, and the embedder.';

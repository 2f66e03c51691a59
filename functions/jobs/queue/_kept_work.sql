-- Return the part of a job's state that outlives its lease; NULL when there is none.
create or replace function recall._kept_work(
    p_work jsonb
)
returns jsonb
language sql
immutable
parallel safe
return case
    when p_work -> 'made' <> '{}'
    then jsonb_strip_nulls(jsonb_build_object('embedder', p_work -> 'embedder',
                                               'token_counts', p_work -> 'token_counts'))
         || jsonb_build_object('made', p_work -> 'made')
end;

comment on function recall._kept_work(jsonb) is
    'The part of a job''s state that outlives its lease: what models have made, and the embedder.';

-- Return embedding_model for a result when each text has a vector; otherwise an empty object.
create or replace function recall._vectors_result(
    p_vectors  recall.jobs.vectors%type,
    p_count    integer,
    p_settings recall.settings
)
returns jsonb
language sql
immutable
parallel safe
as $function$
    select case when cardinality(p_vectors) = p_count
                then jsonb_build_object('embedding_model', (p_settings).embedding_model)
                else jsonb '{}' end;
$function$;

comment on function recall._vectors_result(recall.jobs.vectors%type, integer, recall.settings) is
    'The embedding_model of a step''s result; empty when some vectors are missing.';

-- Insert the rows of a document table by table; return the rows inserted, by table.
-- Vectors of another model or length are left out; a worker computes them again. p_before is the
-- number of the user's events before the import.
create or replace function recall._import_tables(
    p_user_id  uuid,
    p_document jsonb,
    p_before   bigint
)
returns jsonb
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set timezone = 'UTC'
as $function$
declare
    v_settings constant recall.settings := recall._settings(p_user_id);
    v_counts   jsonb   := jsonb '{}';
    v_leaf     regclass;
    v_at       timestamptz;
    v_table    regclass;
    v_name     text;
    v_rows     jsonb;
begin
    for v_table, v_name in
        select t.name, c.relname
          from recall._user_tables() as t
          join pg_catalog.pg_class as c on c.oid = t.name
         where t.is_exported and c.relname <> 'users'
         order by t.place
    loop
        v_rows := recall._guarded_rows(
            v_table,
            coalesce(p_document #> array['tables', v_name], '[]'), v_settings);
        perform recall._check_import_rows(v_table, v_rows, v_settings);
        v_leaf := coalesce(recall._hash_leaf(v_table, p_user_id), v_table);
        if exists (
            select from pg_catalog.pg_partitioned_table as p
             where p.partrelid = v_leaf
               and p.partstrat = 'r'
        ) then
            for v_at in
                select min((r.item ->> 'created_at')::timestamptz)
                  from jsonb_array_elements(v_rows) as r (item)
                 group by date_trunc('month', (r.item ->> 'created_at')::timestamptz, 'UTC')
            loop
                perform recall._ensure_month(v_leaf, v_at);
            end loop;
        elsif v_name in ('memory_embedding', 'memory_embedding_ended') then
            select coalesce(jsonb_agg(r.item), '[]')
              into v_rows
              from jsonb_array_elements(v_rows) as r (item)
             where r.item ->> 'embedding_model' in (v_settings.embedding_model,
                                                    v_settings.hidden_embedding_model)
               and recall._vector_dims(recall._to_halfvec(r.item ->> 'embedding'))
                   = recall._model_dimensions(r.item ->> 'embedding_model', v_settings);
        elsif v_name = 'session_summaries' then
            select coalesce(jsonb_agg(case
                       when r.item ->> 'embedding_model' = v_settings.embedding_model
                            and recall._vector_dims(recall._to_halfvec(r.item ->> 'embedding'))
                                = v_settings.embedding_dimensions
                       then r.item - '{next_embedding,next_embedding_model}'::text[]
                       else r.item - '{embedding,embedding_model,next_embedding,'
                                     'next_embedding_model}'::text[] end), '[]')
              into v_rows
              from jsonb_array_elements(v_rows) as r (item);
        end if;
        v_counts := v_counts || jsonb_build_object(
            v_name, case v_name
                when 'memory_events' then recall._import_events(p_user_id, v_rows, p_before)
                else recall._import_rows(p_user_id, v_table, v_rows)
            end);
    end loop;
    return v_counts;
end;
$function$;

comment on function recall._import_tables(uuid, jsonb, bigint) is
    'Insert the rows of a document, table by table.';

-- Return the texts that a job of a change of the embedding model has to embed.
create or replace function recall._migration_input(
    p_user_id uuid,
    p_model   text
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_batch constant integer := (recall._settings(p_user_id)).embed_batch;
begin
    if not recall._takes_part(p_user_id)
       or (recall._live_migration()).to_model is distinct from p_model then
        return jsonb '{"messages": [], "memories": [], "summaries": []}';
    end if;
    return (
        select jsonb_build_object(
                   'messages', coalesce(jsonb_agg(jsonb_build_object(
                       'turn_index', t.id, 'text', t.content)) filter (where t.kind = 'messages'),
                       '[]'),
                   'memories', coalesce(jsonb_agg(jsonb_build_object(
                       'memory_id', t.id, 'text', t.content)) filter (where t.kind = 'memories'),
                       '[]'),
                   'summaries', coalesce(jsonb_agg(jsonb_build_object(
                       'summary_id', t.id, 'text', t.content))
                       filter (where t.kind = 'summaries'), '[]'))
          from recall._unmigrated_texts(p_user_id, p_model, v_batch) as t);
end;
$function$;

comment on function recall._migration_input(uuid, text) is
    'Input of an embed job of a change of the model: messages, memories and summaries.';

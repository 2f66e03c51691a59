-- Return how many tokens the model for a purpose reads: its context window, or a text to embed.
-- The window that the endpoint reported comes first, then the worker's, then that of recall.models.
create or replace function recall._model_window(
    p_work    jsonb,
    p_purpose text
)
returns integer
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_model constant text := recall._chat_model(p_work, p_purpose);
begin
    if p_purpose = 'embed' then
        return coalesce((p_work #>> '{windows,embed}')::integer,
                        (p_work #>> '{worker,embed_tokens}')::integer,
                        8191);
    end if;
    return coalesce(
        (p_work #>> array['windows', v_model])::integer,
        (p_work #>> array['worker', 'models', p_purpose, 'context_window'])::integer,
        case when p_work #> array['worker', 'models', p_purpose, 'model'] is null
             then (p_work #>> '{worker,context_window}')::integer end,
        (select m.context_window_size from recall.models as m where m.model_id = v_model),
        (select s.default_context_window from recall.settings as s));
end;
$function$;

comment on function recall._model_window(jsonb, text) is
    'Tokens that the model for a purpose reads: as the endpoint told, the worker or recall.models.';

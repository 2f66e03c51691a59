-- Return the context window, in tokens, of the model for a purpose.
-- The window that the endpoint reported comes first, then the worker's, then that of recall.models.
create or replace function recall._chat_window(
    p_work    jsonb,
    p_purpose text
)
returns integer
language plpgsql
stable
parallel safe
set search_path from current
as $function$
declare
    v_model text := recall._chat_model(p_work, p_purpose);
begin
    return coalesce(
        (p_work #>> array['windows', v_model])::integer,
        (p_work #>> array['worker', 'models', p_purpose, 'context_window'])::integer,
        case when p_work #> array['worker', 'models', p_purpose, 'model'] is null
             then (p_work #>> '{worker,context_window}')::integer end,
        (select m.context_window_size from recall.models as m where m.model_id = v_model),
        (select s.default_context_window from recall.settings as s));
end;
$function$;

comment on function recall._chat_window(jsonb, text) is
    'Context window, in tokens, of the model that a worker offers for a purpose: as its endpoint '
    'reported it, else from the worker, else from models, else settings.default_context_window.';

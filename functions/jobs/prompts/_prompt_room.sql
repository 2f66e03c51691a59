-- Return the tokens left for data beside a prompt, its schema and the answer.
-- Raises  RC007 not even the instructions fit.
create or replace function recall._prompt_room(
    p_work       jsonb,
    p_prompt     recall.prompts,
    p_max_tokens integer,
    p_fixed      integer
)
returns integer
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    -- for the framing of messages, and for the complaint after a malformed answer
    v_margin constant integer := 160;
    v_least  constant integer := 64;
    v_window constant integer := recall._model_window(p_work, p_prompt.name);
    v_room   constant integer := v_window - p_max_tokens - p_prompt.token_count
                                 - p_prompt.schema_token_count - v_margin - p_fixed;
begin
    if v_room < v_least then
        raise exception using
            errcode = 'RC007',
            message = format('the context window of %s, %s tokens, is too small for the step %s',
                             recall._chat_model(p_work, p_prompt.name), v_window, p_prompt.name),
            hint    = 'Offer a model with a window of 3,000 tokens or more, for one step by '
                      'p_worker.models.';
    end if;
    return v_room;
end;
$function$;

comment on function recall._prompt_room(jsonb, recall.prompts, integer, integer) is
    'Tokens left for data beside a prompt and its answer (RC007 when the window is too small).';

-- Compute the cost of the call that produced a turn; NULL for a model without prices.
-- The model is that of the message, or of its session.
create or replace function recall._turn_cost(
    p_user_id    uuid,
    p_session_id uuid,
    p_model_id   text,
    p_usage      recall.call_usage
)
returns bigint
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    if p_model_id is null then
        select s.model_id
          into p_model_id
          from recall.sessions as s
         where s.user_id    = p_user_id
           and s.session_id = p_session_id;
    end if;
    return recall._call_cost(p_model_id, p_usage.prompt_tokens, p_usage.completion_tokens,
                             p_usage.cached_tokens);
end;
$function$;

comment on function recall._turn_cost(uuid, uuid, text, recall.call_usage) is
    'Cost of the call that produced a turn, by the prices of its model; NULL without prices.';

-- Return the second question of an extraction: a decision for each candidate with similar memories.
-- Memories appear as numbers, so the model can only refer to one that it was shown. A question
-- longer than the budget loses the least similar memories first. Then it asks for the first half of
-- the candidates, and leaves the others to a later question.
create or replace function recall._consolidation_question(
    p_work     jsonb,
    p_open     jsonb,
    p_settings recall.settings
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_sealed constant boolean := (p_work -> 'is_sealed')::boolean;
    v_prompt constant recall.prompts := recall._prompt('consolidate', p_settings.prompt_language);
    v_limit  constant integer := recall._answer_room(
        p_work, 'consolidate', least(4096, greatest(400, 25 * jsonb_array_length(p_open))));
    v_room   constant integer := recall._prompt_room(p_work, v_prompt, v_limit, 16);
    -- A decision takes 25 tokens of the answer.
    v_count  integer := least(jsonb_array_length(p_open), greatest(1, v_limit / 25));
    v_shown  integer := (select max(jsonb_array_length(o.item -> 'neighbors'))
                           from jsonb_array_elements(p_open) as o (item));
    v_pieces jsonb;
    v_tokens integer;
begin
    loop
        v_pieces := recall._candidate_lines(p_open, v_count, v_shown, v_sealed);
        v_tokens := recall._pieces_tokens(v_pieces);
        exit when v_tokens <= v_room;
        if v_shown > least(v_count, 2) then
            v_shown := v_shown - 1;
        elsif v_count > 1 then
            v_count := v_count / 2;
        else
            -- About 300 tokens are left: the endpoint decides whether they are too many.
            exit;
        end if;
    end loop;
    return jsonb_build_object('chat', jsonb_build_object(
        'purpose', 'consolidate',
        'instructions', v_prompt.content,
        'pieces', recall._prompt_block('candidates', v_pieces),
        'schema', jsonb_set(v_prompt.schema, '{properties,decisions,maxItems}', to_jsonb(v_count)),
        'max_tokens', v_limit,
        'spare', greatest(0, v_room - v_tokens),
        'keep', jsonb_build_object(
            'prompt', recall._prompt_name(v_prompt),
            'is_last', v_count = jsonb_array_length(p_open),
            'open', (
                select jsonb_agg(jsonb_build_object(
                           'ordinal', o.item -> 'ordinal',
                           'is_settled', o.item -> 'is_settled',
                           'neighbors', jsonb_path_query_array(
                               o.item -> 'neighbors',
                               format('$[0 to %s].memory_id', v_shown - 1)::jsonpath))
                           order by o.place)
                  from jsonb_array_elements(p_open) with ordinality as o (item, place)
                 where o.place <= v_count))));
end;
$function$;

comment on function recall._consolidation_question(jsonb, jsonb, recall.settings) is
    'Second question of an extraction: a decision for each candidate that has similar memories.';

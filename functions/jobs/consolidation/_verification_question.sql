-- Build the second question of a merge job: what does each text lose or add?
-- It shows as many open texts as fit the model, at least one; the next question shows others.
create or replace function recall._verification_question(
    p_work     jsonb,
    p_open     jsonb,
    p_memories jsonb,
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
    v_prompt constant recall.prompts := recall._prompt('verify', p_settings.prompt_language);
    v_limit  constant integer := recall._answer_room(
        p_work, 'verify', 200 + 80 * jsonb_array_length(p_open));
    v_room   constant integer := recall._prompt_room(p_work, v_prompt, v_limit, 16);
    v_lines  jsonb := jsonb '[]';
    v_merge  jsonb;
    v_pieces jsonb;
    v_taken  integer;
begin
    for v_merge in select o.merge from jsonb_array_elements(p_open) as o (merge) loop
        select jsonb_build_array(format('%s. ', jsonb_array_length(v_lines) + 1),
                                 recall._prompt_piece(v_merge ->> 'content', 4000, v_sealed, true))
               || coalesce(jsonb_path_query_array(
                   jsonb_agg(jsonb_build_array(
                       format(E'\n   %s) ', p.ordinal),
                       recall._prompt_piece(p.memory ->> 'content', 4000, v_sealed, true,
                                            p.memory -> 'memory_id'))
                       order by p.ordinal), '$[*][*]'), '[]')
          into v_pieces
          from (
                select row_number() over (order by e.place) as ordinal, e.memory
                  from jsonb_array_elements(p_memories) with ordinality as e (memory, place)
                 where v_merge -> 'memory_ids' @> (e.memory -> 'memory_id')
               ) as p;
        v_lines := v_lines || jsonb_build_array(v_pieces);
    end loop;
    select l.o_pieces, l.o_taken
      into v_pieces, v_taken
      from recall._leading_lines(v_lines, v_room) as l;
    if v_taken = 0 then
        -- Ask about one anyway: the endpoint decides whether it is too long.
        v_pieces := v_lines -> 0;
        v_taken  := 1;
    end if;

    return jsonb_build_object('chat', jsonb_build_object(
        'purpose', 'verify',
        'instructions', v_prompt.content,
        'pieces', recall._prompt_block('memories', v_pieces),
        'schema', jsonb_set(v_prompt.schema, '{properties,checks,maxItems}',
                            to_jsonb(v_taken)),
        'max_tokens', v_limit,
        'spare', greatest(0, v_room - recall._pieces_tokens(v_pieces)),
        'seal', jsonb '{"checks[].added": "memory"}',
        'keep', jsonb_build_object('prompt', recall._prompt_name(v_prompt),
                                   'count', v_taken)));
end;
$function$;

comment on function recall._verification_question(jsonb, jsonb, jsonb, recall.settings) is
    'Second question of a merge job: do the texts say what their parts say?';

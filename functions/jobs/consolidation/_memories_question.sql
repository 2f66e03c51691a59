-- Build a question about numbered memories, as many of the first ones as fit the model.
-- `keep.memories` lists the ids behind the numbers. NULL when fewer than p_least fit.
create or replace function recall._memories_question(
    p_work       jsonb,
    p_purpose    text,
    p_head       jsonb,
    p_tag        text,
    p_memories   jsonb,
    p_least      integer,
    p_max_tokens integer,
    p_settings   recall.settings
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_sealed constant boolean := (p_work -> 'is_sealed')::boolean;
    v_prompt constant recall.prompts := recall._prompt(p_purpose, p_settings.prompt_language);
    v_limit  constant integer := recall._answer_room(p_work, p_purpose, p_max_tokens);
    v_room   constant integer := recall._prompt_room(p_work, v_prompt, v_limit,
                                                     recall._pieces_tokens(p_head));
    v_lines  jsonb;
    v_pieces jsonb;
    v_taken  integer;
    v_tokens integer;
begin
    select coalesce(jsonb_agg(jsonb_build_array(
               format('%s. ', e.place),
               recall._prompt_piece(e.memory ->> 'content', 4000, v_sealed, true,
                                    e.memory -> 'memory_id'),
               format(' (%s)', e.memory ->> 'observed_at')) order by e.place), '[]')
      into v_lines
      from jsonb_array_elements(p_memories) with ordinality as e (memory, place);
    select l.o_pieces, l.o_taken, l.o_tokens
      into v_pieces, v_taken, v_tokens
      from recall._leading_lines(v_lines, v_room) as l;
    if v_taken < p_least then
        return null;
    end if;

    return jsonb_build_object(
        'purpose', p_purpose,
        'instructions', v_prompt.content,
        'pieces', recall._prompt_parts(array[p_head, recall._prompt_block(p_tag, v_pieces)]),
        'schema', v_prompt.schema,
        'max_tokens', v_limit,
        'spare', v_room - v_tokens,
        'keep', jsonb_build_object(
            'prompt', recall._prompt_name(v_prompt),
            'memories', jsonb_path_query_array(
                p_memories, format('$[0 to %s].memory_id', v_taken - 1)::jsonpath)));
end;
$function$;

comment on function recall._memories_question(jsonb, text, jsonb, text, jsonb, integer, integer,
                                              recall.settings) is
    'Question about numbered memories, as many of the first ones as fit the model; NULL when too '
    'few fit.';

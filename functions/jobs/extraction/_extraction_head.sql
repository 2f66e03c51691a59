-- Return the part of an extraction's question before the conversation.
-- It has the kinds of memory, the known attributes and the summary. The last two are limited to a
-- share of the context window.
create or replace function recall._extraction_head(
    p_input     jsonb,
    p_most      integer,
    p_is_sealed boolean
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_kinds   text;
    v_profile jsonb;
begin
    select string_agg(k.key || ': ' || (recall._prompt_piece(k.value, 10000, false, true) #>> '{}'),
                      '; ' order by k.key)
      into v_kinds
      from jsonb_each_text(p_input -> 'kinds') as k;
    select l.o_pieces
      into v_profile
      from recall._leading_lines((
        select coalesce(jsonb_agg(jsonb_build_array(
                   recall._prompt_piece(p.key, 100, p_is_sealed, true), ': ',
                   recall._prompt_piece(p.value ->> 'content', 500, p_is_sealed, true,
                                        p.value -> 'memory_id'))
                   order by p.key), '[]')
          from jsonb_each(coalesce(nullif(p_input -> 'profile', 'null'), '{}')) as p), p_most) as l;
    return recall._prompt_parts(array[
        jsonb_build_array(format('Kinds: %s.', v_kinds)),
        recall._prompt_block('profile', v_profile),
        recall._prompt_block('summary', jsonb_build_array(
            recall._prompt_piece(p_input ->> 'summary', p_most * 2, p_is_sealed)))]);
end;
$function$;

comment on function recall._extraction_head(jsonb, integer, boolean) is
    'Kinds, profile and summary in the form in which they precede the conversation of an '
    'extraction.';

-- Reject candidates with secrets when settings.secrets is refuse.
-- It serves functions that take text from people or applications. Extracted text is masked instead,
-- when its rows are built.
-- Raises  RC003.
create or replace function recall._refuse_secrets(
    p_candidates jsonb,
    p_settings   recall.settings
)
returns void
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_candidate jsonb;
    v_place     integer := 0;
begin
    if p_settings.secrets <> 'refuse' then
        return;
    end if;
    for v_candidate in select jsonb_array_elements(p_candidates) loop
        perform recall._guard_secrets(v_candidate -> 'content', p_settings,
                                      format('[%s].content', v_place));
        perform recall._guard_secrets(
            v_candidate - '{content,embedding,source_turn_ids}'::text[], p_settings,
            format('[%s]', v_place));
        v_place := v_place + 1;
    end loop;
end;
$function$;

comment on function recall._refuse_secrets(jsonb, recall.settings) is
    'Reject candidates that hold secrets, when settings.secrets is refuse (RC003).';

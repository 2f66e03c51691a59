-- recall._secret_spans(text, classes) -> class, mark, from, to: where secrets stand
-- Characters from 1; `to` is the last one. In order, without overlap.
create or replace function recall._secret_spans(
    p_text    text,
    p_classes text[]
)
returns table (
    class     text,
    mark      text,
    from_char integer,
    to_char   integer
)
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_kind  record;
    v_at    integer;
    v_end   integer;
    v_spans jsonb := '[]'::jsonb;
    v_span  record;
    v_last  integer := 0;
begin
    if p_text is null or not recall._may_hold_secret(p_text) then
        return;
    end if;
    for v_kind in
        select p.class, p.mark, p.pattern
          from recall._secret_patterns() as p
         where p.class = any (p_classes)
    loop
        v_end := 1;
        loop
            exit when v_end > length(p_text);
            -- Where group 1 ends the secret begins.
            v_at := regexp_instr(p_text, v_kind.pattern, v_end, 1, 1, '', 1);
            exit when v_at = 0;
            v_end := regexp_instr(p_text, v_kind.pattern, v_end, 1, 1, '', 0);
            if recall._is_secret_number(v_kind.class, substr(p_text, v_at, v_end - v_at)) then
                v_spans := v_spans || jsonb_build_object(
                    'class', v_kind.class, 'mark', v_kind.mark, 'a', v_at, 'z', v_end - 1);
            end if;
        end loop;
    end loop;

    for v_span in
        select s.class, s.mark, s.a, s.z
          from jsonb_to_recordset(v_spans) as s (class text, mark text, a integer, z integer)
         order by s.a, s.z desc
    loop
        continue when v_span.z <= v_last;
        class     := v_span.class;
        mark      := v_span.mark;
        from_char := greatest(v_span.a, v_last + 1);
        to_char   := v_span.z;
        v_last    := v_span.z;
        return next;
    end loop;
end;
$function$;

comment on function recall._secret_spans(text, text[]) is
    'Where secrets stand in a text: class, mark, first and last character.';

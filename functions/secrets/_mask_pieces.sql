-- Mask the secrets of a text that came in pieces, and keep the pieces.
-- The mark goes into the piece where the secret begins. Pieces and spans are both in text order, so
-- one pass suffices.
create or replace function recall._mask_pieces(
    p_pieces  text[],
    p_classes text[]
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_pieces text[]    := p_pieces;
    v_from   integer[];
    v_to     integer[];
    v_marks  text[];
    v_span   integer   := 1;
    v_before integer   := 0;
    v_end    integer;
    v_kept   integer;
    v_masked text;
begin
    select array_agg(s.from_char - 1 order by s.from_char),
           array_agg(s.to_char order by s.from_char),
           array_agg(s.mark order by s.from_char)
      into v_from, v_to, v_marks
      from recall._secret_spans(array_to_string(p_pieces, ''), p_classes) as s;
    for v_number in 1 .. cardinality(v_pieces) loop
        v_end    := v_before + length(v_pieces[v_number]);
        v_kept   := v_before;
        v_masked := '';
        while v_from[v_span] < v_end loop
            if v_from[v_span] >= v_before then
                v_masked := v_masked
                    || substr(v_pieces[v_number], v_kept - v_before + 1, v_from[v_span] - v_kept)
                    || v_marks[v_span];
            end if;
            v_kept := least(v_to[v_span], v_end);
            exit when v_to[v_span] > v_end;
            v_span := v_span + 1;
        end loop;
        if v_kept > v_before then
            v_pieces[v_number] := v_masked
                || substr(v_pieces[v_number], v_kept - v_before + 1);
        end if;
        v_before := v_end;
    end loop;
    return v_pieces;
end;
$function$;

comment on function recall._mask_pieces(text[], text[]) is
    'The pieces of a text with masked secrets, also those that span pieces.';

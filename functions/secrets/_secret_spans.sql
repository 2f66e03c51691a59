-- Return the position of each secret in a text: class, mark, first and last character.
-- Positions count from 1; spans are ordered and do not overlap.
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
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_span record;
    v_last integer := 0;
begin
    if p_text is null or not recall._may_hold_secret(p_text) then
        return;
    end if;
    for v_span in
        select p.class, p.mark, s.from_char, s.to_char
          from recall._secret_kinds(p_text, p_classes) as p
         cross join lateral (
                select c.is_secret, c.to_char - length(c.piece) + 1 as from_char, c.to_char
                  from (
                        select q.piece, q.is_secret,
                               (sum(length(q.piece)) over (order by q.place))::integer as to_char
                          from recall._secret_pieces(p_text, p.class, p.pattern) as q) as c
               ) as s
         where s.is_secret
         order by s.from_char, s.to_char desc
    loop
        continue when v_span.to_char <= v_last;
        class     := v_span.class;
        mark      := v_span.mark;
        from_char := greatest(v_span.from_char, v_last + 1);
        to_char   := v_span.to_char;
        v_last    := v_span.to_char;
        return next;
    end loop;
end;
$function$;

comment on function recall._secret_spans(text, text[]) is
    'Where secrets stand in a text: class, mark, first and last character.';

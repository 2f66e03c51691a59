-- Split a text at the matches of one pattern, and mark the matches.
-- One pass splits at all matches; asking for one match after another would read a long text once
-- per match. The separator is the text's hash, because no text contains its own hash.
create or replace function recall._secret_pieces(
    p_text    text,
    p_class   text,
    p_pattern text
)
returns table (
    place     bigint,
    piece     text,
    is_secret boolean
)
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_cut    constant text := encode(sha256(convert_to(p_text, 'UTF8')), 'hex');
    -- Finding the whole match is faster than finding its groups.
    v_before constant text := case when p_pattern like '()%' then '' else '\1' end;
    v_secret constant text := case when p_pattern like '()%' then '\&' else '\2' end;
begin
    return query
    select c.place, c.piece,
           c.place % 2 = 0 and recall._is_secret_number(p_class, c.piece)
      from string_to_table(
               regexp_replace(p_text collate pg_c_utf8, regexp_replace(p_pattern, '^\(\)', ''),
                              v_before || v_cut || v_secret || v_cut, 'g'),
               v_cut) with ordinality as c (piece, place);
end;
$function$;

comment on function recall._secret_pieces(text, text, text) is
    'A text split at the matches of a pattern of secrets.';

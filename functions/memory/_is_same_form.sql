-- Tell whether two words of a statement are equal or inflections of one word.
-- A name has no other form but the one with an "s", except in Russian, which declines names.
create or replace function recall._is_same_form(
    p_one        text,
    p_other      text,
    p_kind       text,
    p_other_kind text
)
returns boolean
language sql
immutable
parallel safe
return case
    when p_one = p_other
        then p_kind = p_other_kind or not array[p_kind, p_other_kind] && '{number,meaning,user}'
    when left(p_one, 3) <> left(p_other, 3)
         or array[p_kind, p_other_kind] && '{number,meaning,user}' then false
    when 'name' in (p_kind, p_other_kind) and p_one collate pg_c_utf8 !~ '[а-я]'
        then rtrim(p_one, 's') = rtrim(p_other, 's')
    else recall._is_inflection(p_one, p_other)
end;

comment on function recall._is_same_form(text, text, text, text) is
    'Whether two words of a statement are the same but for inflection.';

-- recall._fixed_words(text, with_first) -> words that must survive when a text is put differently
-- Numbers, names, negations and the words that turn a fact (stopped, former, wants, sister …), each
-- once. A name is a word with a capital letter; at the beginning of a sentence anything has one, so
-- there it counts with p_with_first only, and not when it is a usual opener. To want to do a thing
-- is a wish, to want a thing is mostly a preference, which has many words.
create or replace function recall._fixed_words(
    p_text       text,
    p_with_first boolean default true
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_links   constant text[] := string_to_array('but too or besides instead rather new', ' ');
    v_openers constant text[] := string_to_array(
        'user the a an he she it they we you this that these those there his her their my our '
        'in on at for from to with when while since after before during as and but if also now '
        'is was are has had does did likes loves enjoys prefers wants needs uses works lives '
        'plans asked said told keep keeps use prefer please always often usually sometimes every '
        'each some all both most one', ' ');
begin
    return array(
        select distinct w.form
          from recall._word_forms(p_text) as f
         cross join lateral (
                select f.form collate pg_c_utf8, f.spelling collate pg_c_utf8, f.is_first
               ) as w (form, spelling, is_first)
         where w.form = 'not'
            or w.form ~ '\d'
            or w.form = any (recall._reversing_words()) and w.form <> all (v_links)
               and (w.form !~ '^want' or p_text collate pg_c_utf8 ~* '\mwant(s|ed)? to\M')
            or w.spelling ~ '^.+[[:upper:]]'
            or w.spelling ~ '^[[:upper:]]' and w.spelling !~ '^I(''|$)'
               and (not w.is_first or p_with_first and w.form <> all (v_openers))
         order by w.form);
end;
$function$;

comment on function recall._fixed_words(text, boolean) is
    'Numbers, names, negations and turning words of a text.';

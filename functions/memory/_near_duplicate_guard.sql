-- recall._near_duplicate_guard(old, new) -> duplicate, merged or NULL
-- Cosine cannot see a "not", a number or a name, so the words decide what a nominee is. One text
-- must contain the other's words in order, and what it has besides must not make it another fact:
--   new within old -> duplicate; old within new -> merged; anything else is a memory of its own.
-- A false merge costs more than a false split, so what is doubtful is NULL: a consolidation sees
-- the two as neighbors. tests/test_dedup.py holds a labeled set against it.
create or replace function recall._near_duplicate_guard(
    p_old text,
    p_new text
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_old     text[]  := recall._guard_words(p_old);
    v_new     text[]  := recall._guard_words(p_new);
    v_short   text[]  := v_new;
    v_long    text[]  := v_old;
    -- What may stand before the shorter text; any other word could be another subject.
    v_openers constant text[] :=
        '{user,i,really,always,usually,often,currently,now,also,still,generally,personally}';
    v_phrase  constant text[] := '{in,on,at,during,since,every,each,as,after,for,with,this}';
    v_links   constant text[] := '{of,to,for,with,about,from,against,by,at,in,on,like,as,and}';
    v_reverse constant text[] := recall._reversing_words();
    v_at      integer := 1;
    v_before  text;
    v_is_gap  boolean := false;
    v_is_free boolean := false;
    v_word    text;
begin
    if cardinality(v_new) > cardinality(v_old) then
        v_short := v_old;
        v_long  := v_new;
    end if;
    if v_short = v_long and v_short <> '{}' then
        return 'duplicate';
    end if;
    if cardinality(v_short) < 2 or cardinality(v_long) = cardinality(v_short)
       or cardinality(v_long) > 3 * cardinality(v_short) + 2 then
        return null;
    end if;

    foreach v_word in array v_long loop
        if v_before ~ '^\W*\d' and v_word ~ '^\W*\d'
           and v_is_gap is distinct from (v_word is distinct from v_short[v_at]) then
            return null;
        end if;

        if v_word = v_short[v_at] then
            -- A gap that closes with "of" or "to" gives the next word another role.
            if v_is_gap and v_at > 1 and v_before = any (v_links) then
                return null;
            end if;
            v_at     := v_at + 1;
            v_is_gap := false;
        else
            v_is_free := v_is_free or v_word = any (v_phrase);
            if v_at = 1 and not v_is_free and v_word <> all (v_openers)
               or v_word = any (v_reverse)
               or v_word ~ '(n''t|''s|less)$|^(ex|non|anti|semi|pseudo)-|^[b-hj-z]$'
               or v_word !~ '\w' and v_word !~ '^[-–—]$'
               or v_word ~ '\d' and v_word ~ '[[:alpha:]]' then
                return null;
            end if;
            v_is_gap := true;
        end if;
        v_before := v_word;
    end loop;

    return case
        when v_at <= cardinality(v_short) then null
        when v_short = v_new then 'duplicate'
        else 'merged'
    end;
end;
$function$;

comment on function recall._near_duplicate_guard(text, text) is
    'Whether two texts say the same by their words: duplicate, merged, or NULL (two memories).';

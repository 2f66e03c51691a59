-- recall._says_the_same(short, long) -> is the longer text the shorter one with more detail?
-- Every word of the shorter one, in order, and between them nothing that turns the fact:
-- no reversing word, no other subject before it (user's -> sister of the user), no other role
-- within it (likes dogs -> likes photos of dogs), no compound behind it (cat -> cat allergy).
create or replace function recall._says_the_same(
    p_short text[],
    p_long  text[]
)
returns boolean
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_reversing constant text[] := recall._reversing_words();
    v_openers   constant text[] := string_to_array(
        'user i is really always usually often currently now also still generally personally', ' ');
    v_phrases   constant text[] := string_to_array(
        'in on at during since every each as after for with this', ' ');
    v_links     constant text[] := string_to_array(
        'of to for with about from against by at in on like as and', ' ');
    v_followers constant text[] := string_to_array(
        'in on at with for from since during as by of to about near around through across '
        'because and when while where which that named called every each very much lot often '
        'always usually sometimes again together well today now currently there here both am '
        'pm this before after inside outside between using via per like corp corporation inc '
        'gmbh ltd llc ag co', ' ');
    v_at        integer := 1;
    v_before    text;
    v_is_gap    boolean := false;
    v_is_free   boolean := false;
    v_word      text;
begin
    foreach v_word in array p_long loop
        if v_word = ',' then
            v_is_free := v_is_free or v_at > 1;
            continue;
        end if;
        -- Two numbers side by side are one: 7 is not 7 30.
        if v_before ~ '^\W*\d' and v_word ~ '^\W*\d'
           and v_is_gap is distinct from (v_word is distinct from p_short[v_at]) then
            return false;
        end if;

        if v_word = p_short[v_at] then
            if v_is_gap and v_at > 1 and v_before = any (v_links) then
                return false;
            end if;
            v_at      := v_at + 1;
            v_is_gap  := false;
            v_is_free := false;
        else
            v_is_free := v_is_free or v_at = 1 and v_word = any (v_phrases);
            if v_at = 1 and not v_is_free and v_word <> all (v_openers)
               or v_at > cardinality(p_short) and not v_is_gap and not v_is_free
                  and v_word <> all (v_followers) and v_word !~ '(ly$|^(19|20)\d\d$)'
               or v_before = 'to' and not v_is_gap
               or v_word = any (v_reversing)
               or v_word ~ '(n''t|''s|less)$|^(ex|non|anti|semi|pseudo)-|^[b-hj-z]$'
               or v_word !~ '\w'
               or v_word ~ '\d' and v_word ~ '[[:alpha:]]' then
                return false;
            end if;
            v_is_gap := true;
        end if;
        v_before := v_word;
    end loop;
    return v_at > cardinality(p_short);
end;
$function$;

comment on function recall._says_the_same(text[], text[]) is
    'Whether a longer text is a shorter one with more detail, by its words.';

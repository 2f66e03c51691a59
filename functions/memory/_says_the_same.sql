-- Tell whether a longer text is a shorter one with more detail.
-- It has every word of the shorter one, in order, and otherwise only harmless words:
--   before it   its subject, and a time (in the morning the user …);
--   within it   a degree, a color, a size, an item of a list, or a part that a preposition opens;
--   after it    a part that a preposition, a conjunction or a comma opens.
-- Any other or reversing word may change the fact: the sister of the user, a rocking horse, an
-- expired passport. Detail weakens denials and generalizations: "no fish on Mondays" says less.
create or replace function recall._says_the_same(
    p_short text[],
    p_long  text[]
)
returns boolean
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_reversing constant text[] := recall._reversing_words();
    v_openers   constant text[] := string_to_array(
        'user i user''s my is am really always usually often currently now also still generally '
        'personally der die das el la le il o os het de', ' ');
    v_times     constant text   :=
        '^(\d[\d:.]*|morning|noon|afternoon|evening|night|day|week|weekday|weekend|month|year|hour|'
        'monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|'
        'may|june|july|august|september|october|november|december|spring|summer|autumn|fall|'
        'winter)s?$';
    v_phrases   constant text[] := string_to_array('in on at during since every each', ' ');
    v_details   constant text[] := string_to_array(
        'really very quite always usually often frequently currently now also still generally '
        'personally mainly mostly especially particularly strongly definitely truly severely '
        'highly extremely fluent fluently big large small tiny huge younger older elder senior '
        'junior good great nice beautiful sunny quiet noisy modern vintage secondhand homemade '
        'handmade cheap expensive fresh iced spicy severe chronic theoretical downtown '
        'red green blue white black brown yellow gray grey purple pink', ' ');
    v_within    constant text[] := string_to_array(
        'in on at with for from as by during since', ' ');
    v_links     constant text[] := string_to_array(
        'of to for with about from against by at in on like as and', ' ');
    v_followers constant text[] := string_to_array(
        'in on at with for from since during as by of to about near around through across '
        'because and where which that named called every each very much lot often '
        'always usually sometimes again together well today now currently there here both am '
        'pm this before after inside outside between using via like corp corporation inc '
        'gmbh ltd llc ag co '
        -- German, French, Spanish, Dutch; "von" and "de" may belong to a name
        'im am seit depuis chez desde sinds', ' ');
    v_is_strong constant boolean := recall._is_denied_or_general(p_short, v_times);
    v_at        integer := 1;
    v_before    text collate pg_c_utf8;
    v_is_gap    boolean := false;
    v_is_free   boolean := false;
    v_word      text collate pg_c_utf8;
begin
    for v_place in 1 .. cardinality(p_long) loop
        v_word := p_long[v_place];
        if v_word = ',' then
            v_is_free := v_is_free or v_at > 1;
            continue;
        end if;
        -- Adjacent numbers form one number: 7 is not 7 30.
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
        elsif v_at = 1 then
            v_is_free := v_is_free or v_word = any (v_phrases);
            if v_word <> all (v_openers || v_phrases)
               and (v_word !~ v_times or not v_is_free) then
                return false;
            end if;
            v_is_gap := true;
        else
            v_is_free := v_is_free
                or (not v_is_gap or v_at > cardinality(p_short))
                   and v_word = any (
                       case when v_at > cardinality(p_short) then v_followers else v_within end);
            if v_is_strong and (v_at <= cardinality(p_short)
                                or not v_is_gap and v_word <> 'because')
               or not v_is_free
                  and v_word <> all (v_details)
                  and not (v_before ~ '[^s'']s$' and p_long[v_place + 1] in (',', 'and'))
                  and (v_at <= cardinality(p_short) or v_is_gap
                       or v_word !~ '(ly$|^(19|20)\d\d$)')
               or v_before = 'to' and not v_is_gap
               or v_word = 'from' and p_long[v_place + 1] collate pg_c_utf8 ~ v_times
               or v_word = any (v_reversing)
               or v_word ~ '(n''t|less)$|^(ex|non|anti|semi|pseudo)-|^[b-hj-z]$'
               or v_word ~ '''s$' and v_at <= cardinality(p_short)
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

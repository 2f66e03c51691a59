-- Decide by words whether two texts with near vectors are duplicates: duplicate, merged or NULL.
-- A cosine does not separate a "not", a number or a name. One text must contain the other's words
-- in order, and the surplus must not change the fact. New within old is duplicate, old within new
-- is merged. A false merge costs more than a false split, so doubtful pairs are NULL; the
-- consolidation sees them as neighbors. benchmarks/near_duplicates.py measures labeled pairs.
create or replace function recall._near_duplicate_guard(
    p_old text,
    p_new text
)
returns text
language plpgsql
immutable
strict
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
declare
    v_old       text[];
    v_new       text[];
    v_is_longer boolean;
    v_short     text[];
    v_long      text[];
    v_plain     text[];
    v_count     integer;
begin
    -- A comparison of words grows with the square of their number: 4,000 characters take 100 ms.
    if greatest(length(p_old), length(p_new)) > 1000
       or recall._is_sealed(p_old) or recall._is_sealed(p_new)
       or not recall._shares_numbers(recall._plain_numbers(p_old),
                                     recall._plain_numbers(p_new)) then
        return null;
    end if;
    if p_old collate pg_c_utf8 ~ '[?？]\W*$'
       is distinct from p_new collate pg_c_utf8 ~ '[?？]\W*$' then
        return null;
    end if;

    v_old       := recall._guard_words(p_old);
    v_new       := recall._guard_words(p_new);
    v_is_longer := cardinality(array_remove(v_new, ',')) > cardinality(array_remove(v_old, ','));
    v_short     := array_remove(case when v_is_longer then v_old else v_new end, ',');
    v_long      := case when v_is_longer then v_new else v_old end;
    v_plain     := array_remove(v_long, ',');
    v_count     := cardinality(v_plain);
    -- Spelling (left-handed, 16GB) and the order of a plain list may differ.
    if v_short <> '{}'
       and (v_short = v_plain
            or recall._spelled_alike(v_short, v_plain)
            or v_count = cardinality(v_short) and v_short <@ v_plain
               and recall._sort_lists(v_old) = recall._sort_lists(v_new)) then
        return 'duplicate';
    end if;
    if recall._is_same_statement(p_old, p_new) then
        return case when v_is_longer then 'merged' else 'duplicate' end;
    end if;
    if cardinality(v_short) < 2 or v_count = cardinality(v_short)
       or v_count > 3 * cardinality(v_short) + 2
       or not v_short <@ v_long
       or not recall._says_the_same(v_short, v_long) then
        return null;
    end if;
    -- Reject detail that limits, denies or dates the fact in other languages than those of
    -- recall._says_the_same.
    if exists (
           select
             from recall._merge_doubts(array[p_old], p_new) as d
            where d.kind = 'meaning'
              and d.form in ('not', 'end', 'hate', 'less', 'only', 'except', 'if', 'maybe', 'wish',
                             'must', 'past', 'future', 'rarely', 'wrong')) then
        return null;
    end if;
    -- A phrase after an adjective belongs to it: "rich in ideas" is not "rich".
    if v_plain[: cardinality(v_short)] = v_short
       and v_plain[cardinality(v_short) + 1] = any ('{in,at,to,of,for,from,with,about,on,by}')
       and (case when v_is_longer then p_old else p_new end) collate pg_c_utf8
           ~* '\m(is|are|am) \S+$' then
        return null;
    end if;
    return case when v_is_longer then 'merged' else 'duplicate' end;
end;
$function$;

comment on function recall._near_duplicate_guard(text, text) is
    'Whether two texts state the same by their words: duplicate, merged, or NULL (two memories).';

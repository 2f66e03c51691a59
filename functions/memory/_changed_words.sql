-- recall._changed_words(parts, merged) -> words that it lost (-), brought (+) or turned (~)
-- Merging different facts and losing details is what users of memory systems complain about most,
-- and no cosine sees it. So every number, name, negation and turning word of the parts must stand
-- in the merged text, and it may bring no number, name or negation of its own. Empty: it is
-- faithful as far as words can tell. A false refusal only leaves the memories as they are. The
-- texts of a sealed user have been compared by the driver.
create or replace function recall._changed_words(
    p_parts  text[],
    p_merged text
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path from current
as $function$
declare
    v_parts constant text   := array_to_string(p_parts, E' .\n');
    v_said  constant text[] := array(select w.form from recall._word_forms(v_parts) as w);
    v_says  constant text[] := array(select w.form from recall._word_forms(p_merged) as w);
begin
    if recall._is_sealed(p_merged) then
        return '{}'::text[];
    end if;
    return array(
        select '-' || w.form
          from unnest(p_parts) as p (content)
         cross join unnest(recall._fixed_words(p.content)) as w (form)
         where w.form <> all (v_says)
         group by w.form
         order by w.form)
        || array(
        select '+' || w.form
          from unnest(recall._fixed_words(p_merged, false)) as w (form)
         where w.form <> all (v_said)
           and (w.form = 'not' or w.form <> all (recall._reversing_words())))
        || array(
        select '~' || w.form from unnest(recall._turned_words(p_parts, p_merged)) as w (form));
end;
$function$;

comment on function recall._changed_words(text[], text) is
    'Fixed words that a merged text lost, brought or turned; empty when it is faithful.';

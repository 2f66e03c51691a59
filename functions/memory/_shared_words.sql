-- Pair each word of the parts with the words of the merged text that are the same.
create or replace function recall._shared_words(
    p_words    recall.statement_word[],
    p_is_ahead boolean
)
returns recall.shared_word[]
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
begin
    return array(
        select row(o.ordinal, o.place, o.kind, o.form, s.place, s.clause, s.form,
                   -- a negation reaches the words behind it, or the clause: "eats neither meat"
                   (o.negated_from is null) = (s.negated_from is null)
                   or p_is_ahead and coalesce(o.negated_from < o.place, false)
                                     = coalesce(s.negated_from < s.place, false)
                  )::recall.shared_word
          from unnest(p_words) as o
          join unnest(p_words) as s
            on s.ordinal = 0 and recall._is_same_form(o.form, s.form, o.kind, s.kind)
         where o.ordinal > 0);
end;
$function$;

comment on function recall._shared_words(recall.statement_word[], boolean) is
    'Words of the parts of a merged text beside the same words of the text.';

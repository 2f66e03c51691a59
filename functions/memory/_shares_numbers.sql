-- Tell whether two texts can state the same by their numbers (recall._plain_numbers).
-- False if each has a number that the other lacks; recall._near_duplicate_guard is then NULL, too.
-- Many near texts of a user differ by nothing else ("visit 17 was short").
create or replace function recall._shares_numbers(
    p_one   text[],
    p_other text[]
)
returns boolean
language sql
immutable
parallel safe
return coalesce(p_one <@ p_other or p_other <@ p_one, true);

comment on function recall._shares_numbers(text[], text[]) is
    'Whether one of two texts has all numbers of the other.';

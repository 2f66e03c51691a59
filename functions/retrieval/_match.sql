-- Rate how well a memory fits a query, from 0 (no better than any other text) to 1.
-- The vectors' evidence is the cosine above p_usual (recall._usual_similarity), as a share of what
-- is possible. The words' evidence is the share of the query's words, weighted by rarity. Either
-- suffices, so the shares missing from 1 are multiplied. A cosine below p_usual counts against the
-- words, which otherwise match by common ones ("get"). NULL when nothing was compared.
create or replace function recall._match(
    p_similarity double precision,
    p_lexical    double precision,
    p_usual      double precision
)
returns double precision
language sql
immutable
parallel safe
return case when p_similarity is null and p_lexical is null then null
            else greatest(0, 1 - (1 - least(1, coalesce(
                                          (p_similarity - p_usual) / (1 - p_usual), 0)))
                                 * (1 - greatest(0, least(1, coalesce(p_lexical, 0)))))
       end;

comment on function recall._match(double precision, double precision, double precision) is
    'How well a memory fits a query, 0 to 1: cosine above the usual one, and shared rare words.';

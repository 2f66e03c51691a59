-- Return how near two vectors are; higher is nearer, NULL for different lengths.
-- A vector of zeros has no direction: its cosine counts as 0.
create or replace function recall._item_score(
    p_embedding vector,
    p_query     vector,
    p_distance  text
)
returns double precision
language sql
immutable
parallel safe
return case
    when vector_dims(p_embedding) <> vector_dims(p_query) then null
    when p_distance = 'cosine'
        then 1::double precision - coalesce(nullif(p_embedding <=> p_query, 'NaN'), 1)
    when p_distance = 'l2' then -(p_embedding <-> p_query)
    else -(p_embedding <#> p_query)
end;

comment on function recall._item_score(vector, vector, text) is
    'Similarity of two vectors by a distance; NULL for different lengths.';

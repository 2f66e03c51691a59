-- Return the vectors of an embed job for one kind of text, each with the id of its text.
-- p_texts names the texts ("memories <id>"); null stands for a text without a vector.
create or replace function recall._text_vectors(
    p_texts   jsonb,
    p_vectors recall.jobs.vectors%type,
    p_kind    text
)
returns table (
    id        text,
    embedding recall.memory_embedding.embedding%type
)
language sql
immutable
parallel safe
begin atomic
    select split_part(t.name, ' ', 2), p_vectors[t.place]
      from jsonb_array_elements_text(p_texts) with ordinality as t (name, place)
     where split_part(t.name, ' ', 1) = p_kind;
end;

comment on function recall._text_vectors(jsonb, recall.jobs.vectors%type, text) is
    'Vectors of an embed job for messages, memories or summaries, by their ids.';

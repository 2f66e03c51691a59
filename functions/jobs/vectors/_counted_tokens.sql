-- Return the tokens of a memory's text by the worker's count of the job's n-th text, or NULL.
-- The memory may be read by a model with another tokenizer, so the count gains a third: enough for
-- vocabularies of 32,000 entries. It stays between an eighth of the safe estimate and the estimate,
-- and has a token for each word, whatever the worker says: a budget must hold real tokens.
-- The worker did not see a cut text whole, nor the plaintext of a ciphertext.
create or replace function recall._counted_tokens(
    p_job   recall.jobs,
    p_place integer,
    p_text  text
)
returns integer
language plpgsql
immutable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_count constant numeric :=
        (p_job.work #>> array['token_counts', (p_place - 1)::text])::numeric;
    v_most  integer;
begin
    if v_count is null
       or jsonb_array_length(p_job.work -> 'token_counts') <> cardinality(p_job.vectors)
       or length(p_text) >= (p_job.work ->> 'embed_characters')::integer
       or recall._is_sealed(p_text) then
        return null;
    end if;
    v_most := recall._estimate_tokens(p_text);
    return least(v_most, greatest(
        ceil(v_most / 8.0), ceil(v_count * 4 / 3),
        cardinality(array_remove(string_to_array(p_text, ' '), ''))));
end;
$function$;

comment on function recall._counted_tokens(recall.jobs, integer, text) is
    'Tokens of a memory by the worker''s count with a third on top, at most the estimate; NULL '
    'when it was not counted.';

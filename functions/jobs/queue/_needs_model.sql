-- Tell whether a job calls a language model.
-- Embed jobs do not wait for a cost limit: vectors cost a hundredth, and without them searches miss
-- new texts.
create or replace function recall._needs_model(
    p_kind    text,
    p_payload jsonb
)
returns boolean
language sql
immutable
parallel safe
return p_kind <> 'embed'
       and not (p_kind = 'extract' and coalesce(p_payload ->> 'mode', 'llm') = 'verbatim');

comment on function recall._needs_model(text, jsonb) is
    'Whether a job calls a language model: all but embed jobs and verbatim extractions.';

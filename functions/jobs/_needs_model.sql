-- recall._needs_model(kind, payload) -> does the job call a language model?
-- Vectors cost a hundredth of it, and without them nothing new would be found: embed jobs do not
-- wait for a limit.
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

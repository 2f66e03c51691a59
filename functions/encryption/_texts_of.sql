-- Return SQL for the texts of a row t as one JSON object.
create or replace function recall._texts_of(
    p_columns text[]
)
returns text
language sql
immutable
parallel safe
return (
    select 'jsonb_build_object(' || string_agg(
               format('%L, ', c.name)
               || case c.name
                      when 'system_prompt' then
                          '(select p.content from recall.system_prompts as p'
                          ' where p.prompt_hash = t.system_prompt_hash limit 1)'
                      else format('t.%I', c.name)
                  end, ', ') || ')'
      from unnest(p_columns) as c (name)
);

comment on function recall._texts_of(text[]) is
    'SQL for the texts of a row t of one of recall._sealed_tables as one JSON object.';

-- Return the first problem of a message's parts, or NULL.
-- Roles other than user accept text only (assistant also refusals). Each role accepts items, which
-- are stored and never shown. Unknown part types of a user message are left to the endpoint.
create or replace function recall._judge_parts(
    p_role  text,
    p_parts jsonb
)
returns text
language sql
immutable
parallel safe
begin atomic
    select format('.content[%s]%s', e.ordinal - 1, p.problem)
      from jsonb_array_elements(p_parts) with ordinality as e (part, ordinal)
     cross join lateral (
            select case
                when jsonb_typeof(e.part) <> 'object' then ' is not an object'
                when jsonb_typeof(e.part -> 'type') is distinct from 'string'
                    then '.type is missing'
                when e.part ->> 'type' = 'text'
                    then case when jsonb_typeof(e.part -> 'text') is distinct from 'string'
                              then '.text is missing' end
                when e.part ->> 'type' = 'item'
                    then case when jsonb_typeof(e.part -> 'item') is null
                                or jsonb_typeof(e.part -> 'item') not in ('object', 'string')
                              then '.item is missing' end
                when e.part ->> 'type' = 'refusal' and p_role = 'assistant'
                    then case when jsonb_typeof(e.part -> 'refusal') is distinct from 'string'
                              then '.refusal is missing' end
                when p_role <> 'user'
                    then format('.type is %s in a message of role %s', left(e.part ->> 'type', 80),
                                p_role)
                when e.part ->> 'type' = 'image_url'
                    then case when jsonb_typeof(e.part #> '{image_url,url}')
                                   is distinct from 'string'
                              then '.image_url.url is missing' end
                when e.part ->> 'type' = 'input_audio'
                    then case when jsonb_typeof(e.part #> '{input_audio,data}')
                                   is distinct from 'string'
                                or coalesce(e.part #>> '{input_audio,format}', '')
                                   not in ('wav', 'mp3')
                              then '.input_audio needs data and format wav or mp3' end
                when e.part ->> 'type' = 'file'
                    then case when jsonb_typeof(e.part -> 'file') is distinct from 'object'
                              then '.file is missing' end
            end
           ) as p (problem)
     where p.problem is not null
     order by e.ordinal
     limit 1;
end;

comment on function recall._judge_parts(text, jsonb) is
    'The first problem of the parts of a message of a role; NULL when they are valid.';

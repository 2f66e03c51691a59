-- Add the prompt and model of the answer to made.made_by of a step, each pair once.
-- The effect of the job reads the list, for the audit of memories and for summaries.
create or replace function recall._note_maker(
    p_work jsonb,
    p_step jsonb
)
returns jsonb
language sql
immutable
parallel safe
begin atomic
    select case
               when p_work #> '{answered,keep,prompt}' is null then p_step
               else jsonb_set(p_step, '{made,made_by}', case
                   when b.made_by @> n.maker then b.made_by else b.made_by || n.maker end)
           end
      from (
            select jsonb_build_array(jsonb_build_object(
                       'prompt', p_work #> '{answered,keep,prompt}',
                       'model', p_work #> '{answered,model}'))
           ) as n (maker)
     cross join (select coalesce(p_work #> '{made,made_by}', '[]')) as b (made_by);
end;

comment on function recall._note_maker(jsonb, jsonb) is
    'A step whose made.made_by lists the prompts and models of its answers ({"prompt", '
    '"model"}).';

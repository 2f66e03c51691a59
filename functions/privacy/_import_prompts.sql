-- recall._import_prompts(user, prompts, settings)
-- Stores the system prompts of a document; where one is masked, the sessions that had it get the
-- masked one.
-- Raises  RC003.
create or replace function recall._import_prompts(
    p_user_id  uuid,
    p_prompts  jsonb,
    p_settings recall.settings
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_prompt  jsonb;
    v_content text;
    v_stored  record;
begin
    for v_prompt in select p.item from jsonb_array_elements(p_prompts) as p (item) loop
        v_content := recall._guard_text(v_prompt ->> 'content', p_settings,
                                        'p_document: a system prompt');
        v_stored  := recall._store_system_prompt(p_user_id, v_content,
                                                 (v_prompt ->> 'token_count')::integer);
        continue when v_content = v_prompt ->> 'content';
        update recall.sessions as s
           set system_prompt_hash = v_stored.o_hash
         where s.user_id            = p_user_id
           and s.system_prompt_hash = sha256(convert_to(v_prompt ->> 'content', 'UTF8'));
    end loop;
end;
$function$;

comment on function recall._import_prompts(uuid, jsonb, recall.settings) is
    'Store the system prompts of a document.';

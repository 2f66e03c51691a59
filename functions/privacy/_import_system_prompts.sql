-- Store the system prompts of a document.
-- If a prompt is masked, the sessions that use it get the masked one. Each session must come with
-- its prompt: a hash alone could give it another user's prompt.
-- Raises  RC003.
create or replace function recall._import_system_prompts(
    p_user_id  uuid,
    p_document jsonb,
    p_settings recall.settings
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_prompt  jsonb;
    v_content text;
    v_stored  bytea;
    v_hash    bytea;
    v_hashes  bytea[] := '{}'::bytea[];
    v_all     bytea[] := '{}'::bytea[];
    v_used    bytea[];
    v_session text;
begin
    for v_prompt in select p.item from jsonb_array_elements(p_document -> 'system_prompts')
                                       as p (item) loop
        v_hash    := sha256(convert_to(v_prompt ->> 'content', 'UTF8'));
        v_hashes  := v_hashes || v_hash;
        v_content := recall._guard_text(v_prompt ->> 'content', p_settings,
                                        'p_document: a system prompt');
        v_stored  := (recall._store_system_prompt(p_user_id, v_content,
                                                  (v_prompt ->> 'token_count')::integer)).o_hash;
        v_all     := v_all || v_stored;
        continue when v_content = v_prompt ->> 'content';
        update recall.sessions as s
           set system_prompt_hash = v_stored
         where s.user_id            = p_user_id
           and s.system_prompt_hash = v_hash;
    end loop;

    select r.item ->> 'session_id'
      into v_session
      from jsonb_array_elements(p_document #> '{tables,sessions}') as r (item)
     where (r.item ->> 'system_prompt_hash')::bytea <> all (v_hashes)
     limit 1;
    if found then
        raise exception using
            errcode = 'RC003',
            message = format('p_document: the system prompt of session %s is missing', v_session),
            hint    = 'Pass what recall.export_user returned, as it was.';
    end if;

    v_used := array(
        select distinct s.system_prompt_hash from recall.sessions as s where s.user_id = p_user_id);
    perform recall._release_prompts(array(
        select h.hash from unnest(v_all) as h (hash) where h.hash <> all (v_used)));
end;
$function$;

comment on function recall._import_system_prompts(uuid, jsonb, recall.settings) is
    'Store the system prompts of a document.';

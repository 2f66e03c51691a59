-- Store a system prompt for all users; return its hash and tokens.
-- A token count given later replaces an estimate only for the caller's session, since each session
-- has its own count. The share lock protects a stored prompt from deletion until the session refers
-- to it. A prompt that another transaction is storing or deleting is stored once more: to wait for
-- it would be to wait for another user.
-- Locks   the prompt, shared, if it is free.
create or replace function recall._store_system_prompt(
    p_user_id    uuid,
    p_prompt     text,
    p_tokens     integer,
    out o_hash   bytea,
    out o_tokens integer
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_now timestamptz := clock_timestamp();
begin
    if p_tokens < 0 then
        raise exception using
            errcode = 'RC003',
            message = format('system_prompt_tokens is %s', p_tokens),
            hint    = 'Leave it out to have it estimated.';
    end if;

    if p_prompt <> '' and not recall._is_sealed(p_prompt)
       and recall._is_sealed_user(p_user_id) then
        perform recall._raise_plain_text(p_user_id, 'system_prompts', '$.content');
    end if;

    o_hash   := sha256(convert_to(p_prompt, 'UTF8'));
    o_tokens := coalesce(p_tokens, recall._estimate_tokens(p_prompt));

    perform from recall.system_prompts as p
      where p.prompt_hash = o_hash
      limit 1
        for key share skip locked;
    if not found then
        insert into recall.system_prompts (prompt_hash, content, token_count, created_at)
        values (o_hash, p_prompt, o_tokens, v_now);
    end if;
end;
$function$;

comment on function recall._store_system_prompt(uuid, text, integer) is
    'Store a system prompt once; its hash and token count.';

-- Enqueue an embed job when a memory of the user has no vector yet.
create or replace function recall._embed_rest(
    p_user_id  uuid,
    p_settings recall.settings
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
begin
    if recall._has_unembedded(p_user_id, p_settings.embedding_model) then
        perform recall._enqueue_job(p_user_id, 'embed', null, p_user_id::text);
    end if;
end;
$function$;

comment on function recall._embed_rest(uuid, recall.settings) is
    'Enqueue an embed job when a memory of the user has no vector yet.';

-- recall._ensure_user(user, external_id)
-- Makes the user's row when there is none; never changes one.
create or replace function recall._ensure_user(
    p_user_id     uuid,
    p_external_id text  default null,
    p_metadata    jsonb default '{}'
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path from current
as $function$
declare
    v_now timestamptz := clock_timestamp();
begin
    insert into recall.users as u (user_id, external_id, metadata, created_at)
    values (p_user_id, p_external_id, p_metadata, v_now)
    on conflict (user_id) do nothing;
end;
$function$;

comment on function recall._ensure_user(uuid, text, jsonb) is
    'Make the user''s row when there is none.';

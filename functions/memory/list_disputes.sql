-- List the open disputes with memories that the user stated, oldest first.
-- A dispute with a memory that has ended since is moot and is not listed.
create or replace function recall.list_disputes(
    p_user_id uuid
)
returns table (
    memory_id         uuid,
    content           text,
    kind              text,
    slot              text,
    provenance        text,
    source            text,
    source_session_id uuid,
    confidence        real,
    observed_at       timestamptz,
    created_at        timestamptz,
    disputed_id       uuid,
    disputed_content  text,
    is_retraction     boolean
)
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
as $function$
begin
    perform recall._check_user(p_user_id);

    return query
    select d.memory_id, d.content, d.kind, d.slot, d.provenance::text, d.source,
           d.source_session_id, d.confidence, d.observed_at, d.created_at, m.memory_id, m.content,
           recall._asks_to_retract(p_user_id, d.memory_id)
      from recall.memory_store as d
      join recall.memory_store as m on m.user_id = p_user_id and m.memory_id = d.disputes
     where d.user_id = p_user_id
       and d.disputes is not null
       and m.end_reason is null
     order by d.created_at, d.memory_id;
end;
$function$;

comment on function recall.list_disputes(uuid) is
    'Open contradictions of memories that the user stated, oldest first, with the disputed '
    'memory. is_retraction: accepting the dispute ends that memory without a successor.';

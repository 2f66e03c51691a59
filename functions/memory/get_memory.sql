-- Return one memory, current or ended; no row for an unknown id.
create or replace function recall.get_memory(
    p_user_id   uuid,
    p_memory_id uuid
)
returns table (
    memory_id          uuid,
    content            text,
    kind               text,
    slot               text,
    tier               text,
    scope              text,
    tags               text[],
    importance         real,
    confidence         real,
    provenance         text,
    source             text,
    source_session_id  uuid,
    observed_at        timestamptz,
    valid_from         timestamptz,
    valid_to           timestamptz,
    created_at         timestamptz,
    expires_at         timestamptz,
    ended_at           timestamptz,
    end_reason         text,
    superseded_by      uuid,
    is_active          boolean,
    access_count       integer,
    metadata           jsonb,
    session_id         uuid,
    agent_id           text,
    token_count        integer,
    source_turn_ids    uuid[],
    last_accessed_at   timestamptz,
    is_validated       boolean,
    review_at          timestamptz,
    updated_at         timestamptz
)
language plpgsql
stable
parallel safe
security definer
set search_path from current
set plan_cache_mode = force_generic_plan
set max_parallel_workers_per_gather = 0
as $function$
begin
    perform recall._check_user(p_user_id);

    return query
    select c.*
      from recall.memory_store as m
     cross join lateral recall._memory_columns(m) as c
     where m.user_id   = p_user_id
       and m.memory_id = p_memory_id;
end;
$function$;

comment on function recall.get_memory(uuid, uuid) is
    'A memory of the user, current or ended; no row when unknown.';

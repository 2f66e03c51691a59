-- Enqueue `embed` jobs for the next users of the walk over all users.
-- maintenance_tasks.position holds the last user and the settings that started the walk. The walk
-- stops before a locked user, and the next call continues there.
create or replace function recall._walk_for_embeddings(
    p_limit    integer,
    p_until    timestamptz,
    p_now      timestamptz,
    out o_done integer,
    out o_more boolean
)
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $function$
declare
    v_goal     jsonb;
    v_position jsonb;
    v_after    uuid;
    v_user     uuid;
    v_looked   integer := 0;
begin
    o_done := 0;
    o_more := false;
    select jsonb_build_object('model', s.embedding_model, 'messages', s.embed_messages)
      into v_goal
      from recall.settings as s;
    select t.position
      into v_position
      from recall.maintenance_tasks as t
     where t.task = 'enqueue_missing_embeddings'
       for no key update skip locked;
    if not found or v_position @> (v_goal || '{"done": true}') then
        return;
    end if;
    if v_position @> v_goal then
        v_after := (v_position ->> 'after')::uuid;
    end if;

    for v_user in
        select u.user_id
          from recall.users as u
         where u.user_id > coalesce(v_after, '00000000-0000-0000-0000-000000000000')
         order by u.user_id
         limit p_limit::bigint + 1
    loop
        o_more := v_looked >= p_limit or clock_timestamp() >= p_until and v_looked > 0;
        exit when o_more;
        if not recall._try_lock_user_and_bump_revision(v_user) then
            o_more := true;
            exit;
        end if;
        o_done   := o_done + recall._enqueue_embeddings(v_user, p_now, true);
        v_after  := v_user;
        v_looked := v_looked + 1;
    end loop;

    update recall.maintenance_tasks as t
       set position = v_goal || jsonb_build_object('after', v_after)
                      || case when o_more or p_limit = 0 then '{}'::jsonb
                              else '{"done": true}' end
     where t.task = 'enqueue_missing_embeddings';
end;
$function$;

comment on function recall._walk_for_embeddings(integer, timestamptz, timestamptz) is
    'Enqueue `embed` jobs for one batch of all users after a change of the embedding model. '
    'Returns the number of jobs, and whether users remain.';

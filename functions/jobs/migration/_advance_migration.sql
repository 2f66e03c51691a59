-- Enqueue the jobs of a change of the embedding model for the next users of a pass.
-- A pass begins when the jobs of the last one are done, and ends after the last user. It then has
-- found what was written since the pass before it. When that is nothing, or after the first pass
-- little, the model is switched: the ordinary embed jobs do the rest. At most 500 jobs are ready.
-- Users with a dead job wait for retry_dead_jobs.
create or replace function recall._advance_migration(
    p_migration recall.embedding_migrations,
    p_limit     integer,
    p_until     timestamptz,
    p_now       timestamptz,
    out o_done  integer,
    out o_more  boolean
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
    v_most    constant integer := 500;
    v_model   constant text    := p_migration.to_model;
    v_payload constant jsonb   := jsonb_build_object('mode', v_model);
    v_jobs    record;
    v_ready   bigint;
    v_last    uuid             := p_migration.last_user;
    v_found   bigint           := case when v_last is null then 0 else p_migration.pass_found end;
    v_texts   bigint;
    v_user    uuid;
    v_is_over boolean          := true;
begin
    o_done := 0;
    o_more := false;
    select * into v_jobs from recall._migration_jobs(v_model);
    v_ready := v_jobs.o_ready;
    if p_limit = 0 or v_ready >= v_most
       or v_last is null and v_jobs.o_ready + v_jobs.o_running > 0 then
        return;
    end if;

    for v_user in
        select u.user_id
          from recall.users as u
         where u.user_id > coalesce(v_last, '00000000-0000-0000-0000-000000000000')
         order by u.user_id
         limit p_limit::bigint + 1
    loop
        o_more    := o_done >= p_limit or clock_timestamp() >= p_until and o_done > 0;
        v_is_over := not o_more and v_ready < v_most;
        exit when not v_is_over;
        v_texts := case when recall._takes_part(v_user)
                        then recall._count_unmigrated(v_user, v_model) else 0 end;
        if v_texts > 0 and not exists (
            select from recall.jobs as j
             where j.user_id = v_user
               and j.kind    = 'embed'
               and j.state   = 'dead'
               and j.payload = v_payload
        ) then
            -- A locked user ends the batch, and the next one continues here.
            if not recall._try_lock_user_and_bump_revision(v_user) then
                o_more    := true;
                v_is_over := false;
                exit;
            end if;
            perform recall._enqueue_job(v_user, 'embed', null, 'migration', v_payload, p_now);
            v_ready := v_ready + 1;
        end if;
        v_found := v_found + v_texts;
        v_last  := v_user;
        o_done  := o_done + 1;
    end loop;

    update recall.embedding_migrations as m
       set last_user  = case when not v_is_over then v_last end,
           passes     = m.passes + v_is_over::integer,
           pass_found = v_found
     where m.migration_id = p_migration.migration_id;
    if v_is_over and (v_found = 0 or p_migration.passes > 0
                                     and v_found <= greatest(20, p_migration.texts / 1000)) then
        perform recall._switch_model(p_migration);
    end if;
end;
$function$;

comment on function recall._advance_migration(recall.embedding_migrations, integer, timestamptz,
    timestamptz) is
    'Enqueue jobs of a change of the embedding model for a batch of users; switch when none is '
    'left.';

-- Delete the vectors that a change of the embedding model leaves behind, for a batch of users.
-- After a switch these are the old ones, after a cancellation the new ones. A locked user ends the
-- batch. The change has ended when no user is left.
create or replace function recall._purge_migration(
    p_migration recall.embedding_migrations,
    p_limit     integer,
    p_until     timestamptz,
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
    v_is_back constant boolean := p_migration.state = 'cancelling';
    v_model   constant text    := case when v_is_back then p_migration.to_model
                                       else p_migration.from_model end;
    v_last    uuid             := p_migration.last_user;
    v_user    uuid;
begin
    o_done := 0;
    o_more := false;
    for v_user in
        select u.user_id
          from recall.users as u
         where u.user_id > coalesce(v_last, '00000000-0000-0000-0000-000000000000')
         order by u.user_id
         limit p_limit::bigint + 1
    loop
        o_more := o_done >= p_limit or clock_timestamp() >= p_until and o_done > 0;
        exit when o_more;
        if not recall._try_lock_user_and_bump_revision(v_user) then
            o_more := true;
            exit;
        end if;
        perform recall._purge_other_vectors(v_user, v_model);
        v_last := v_user;
        o_done := o_done + 1;
    end loop;

    update recall.embedding_migrations as m
       set last_user = v_last,
           state     = case when o_more or p_limit = 0 then m.state
                            when v_is_back then 'cancelled' else 'done' end,
           ended_at  = case when o_more or p_limit = 0 then null else clock_timestamp() end
     where m.migration_id = p_migration.migration_id;
    if not o_more and p_limit > 0 then
        update recall.settings as s set hidden_embedding_model = null;
    end if;
end;
$function$;

comment on function recall._purge_migration(recall.embedding_migrations, integer, timestamptz) is
    'Delete the vectors that a change of the embedding model leaves behind, for a batch of users.';

-- Switch to the new embedding model now, although some texts have no vector of it.
-- The maintenance task switches by itself when no text is left. Ordinary embed jobs do the rest;
-- until then searches find those texts by their words only. p_missing is how many are accepted.
-- Locks   the row of the change, the settings row.
-- Raises  RC007 no change is running or paused, or more than p_missing texts lack a vector.
create or replace function recall.switch_embedding_model(
    p_missing bigint default 0
)
returns bigint
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_migration recall.embedding_migrations := recall._lock_migration('{running,paused}');
    v_missing   bigint;
begin
    select coalesce(sum(recall._count_unmigrated(u.user_id, v_migration.to_model)), 0)
      into v_missing
      from recall.users as u
     where recall._takes_part(u.user_id);
    if p_missing is null or v_missing > p_missing then
        raise exception using
            errcode = 'RC007',
            message = format('%s texts have no vector of %s', v_missing, v_migration.to_model),
            hint    = format('Wait for the workers, or accept it: select '
                             'recall.switch_embedding_model(%s);', v_missing);
    end if;
    perform recall._switch_model(v_migration);
    return v_missing;
end;
$function$;

comment on function recall.switch_embedding_model(bigint) is
    'Switch to the new embedding model now, and return how many texts have no vector of it yet. '
    'RC007: no change is running, or more texts than p_missing lack a vector.';

-- Import a document of `export_user` for a user without data; importing it again changes nothing.
-- Ids are kept. Vectors of another model are left out; jobs for a worker embed those texts and
-- index messages. Jobs of the document become ready again. Its events are appended to the user's
-- chain, so a new user gets the same chain. Events that do not continue it are marked as imported.
-- An encrypted user arrives as ciphertext with the wrapped data encryption keys.
-- Locks   the user.
-- Raises  RC003 a malformed document, weaker overrides, or dates in the future; RC006 of another
--         user, or for one who has other data; RC007 on Citus, whose worker crashes at its commit.
create or replace function recall.import_user(
    p_user_id      uuid,
    p_document     jsonb,
    p_allow_weaker boolean default false
)
returns jsonb
language plpgsql
volatile
parallel unsafe
security definer
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
set timezone = 'UTC'
set datestyle = 'ISO'
as $function$
declare
    v_counts   jsonb;
    v_user     jsonb;
    v_name     text;
    v_settings recall.settings;
    v_created  timestamptz;
begin
    perform recall._check_user(p_user_id);
    if recall._is_distributed() then
        raise exception using
            errcode = 'RC007',
            message = 'import_user does not run on Citus',
            hint    = 'The commit of an import crashes a worker (Citus 14.0.1). Import into an '
                      'installation that is not distributed yet.';
    end if;
    perform recall._check_json(p_document, 'p_document', 68, 2147483647);
    perform recall._lock_user_and_bump_revision(p_user_id);
    perform recall._check_document(p_user_id, p_document);
    perform recall._check_import_values(p_document);

    v_user := coalesce(p_document #> '{tables,users,0}', '{}');
    v_name := v_user ->> 'external_id';
    if recall._id_in_name(v_name) = p_user_id then
        v_name := null;  -- an id, which release 0.1.0 stored in place of a name
    elsif recall._id_in_name(v_name) is not null then
        perform recall.user_id(v_name);  -- raises
    end if;
    perform recall._import_keys(p_user_id, p_document);

    begin
        perform recall._check_metadata(coalesce(v_user -> 'metadata', '{}'), false);
        v_created := (v_user ->> 'created_at')::timestamptz;
        if not isfinite(v_created) then
            raise exception using
                errcode = 'RC003',
                message = format('p_document: created_at of the user is %s', v_created),
                hint    = 'Pass what recall.export_user returned, as it was.';
        end if;
        v_settings := recall._import_overrides(p_user_id, v_user -> 'overrides', p_allow_weaker);
        v_user     := v_user || jsonb_build_object('metadata', recall._guard_secrets(
            coalesce(v_user -> 'metadata', '{}'), v_settings, 'p_document: metadata of the user'));
        v_counts   := recall._import_tables(p_user_id, p_document);
        perform recall._import_system_prompts(p_user_id, p_document, v_settings);
    exception when data_exception or integrity_constraint_violation
                   or program_limit_exceeded then
        raise exception using
            errcode = 'RC003',
            message = format('p_document: %s', left(sqlerrm, 200)),
            hint    = 'Pass what recall.export_user returned, as it was.';
    end;
    perform recall._check_imported(p_user_id);

    -- replay_erasures erases users older than an erasure, so created_at must not precede one.
    if exists (
        select from recall.erasures as e
         where e.erased_at >= v_created
           and e.digest     = sha256(e.salt || uuid_send(p_user_id))
    ) then
        v_created := null;
    end if;
    update recall.users as u
       set created_at          = least(u.created_at, v_created),
           external_id         = coalesce(u.external_id, v_name),
           metadata            = coalesce(v_user -> 'metadata', '{}') || u.metadata,
           active_memory_count = (
               select count(*)
                 from recall.memory_store as m
                where m.user_id = p_user_id and m.ended_at is null),
           (item_count, item_bytes) = (
               select count(*), coalesce(sum(i.byte_count), 0)
                 from recall.items as i
                where i.user_id = p_user_id)
     where u.user_id = p_user_id;
    perform recall._log_events(p_user_id, array(
        select c.memory_id
          from recall._check_memories(p_user_id) as c
         where c.finding <> 'memory_missing'), 'imported');
    perform recall._enqueue_embeddings(p_user_id, clock_timestamp(), true);
    return v_counts;
end;
$function$;

comment on function recall.import_user(uuid, jsonb, boolean) is
    'Import a document of export_user for a user without data. Returns the rows inserted, by '
    'table. Importing the same document again changes nothing. Overrides that weaken the settings '
    'of this database need p_allow_weaker. RC003: a malformed document, weaker overrides or dates '
    'in the future. RC006: another user''s document, or the user has other data.';

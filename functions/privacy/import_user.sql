-- recall.import_user(user, document) -> rows inserted, by table
-- What recall.export_user gave, into this database or another one: for a user who has nothing yet,
-- or the same document again, which changes nothing. Ids are kept. Vectors are kept when they have
-- the length of this database; for the others, and to make messages findable, jobs are left to a
-- worker. Jobs of the document are ready again. The chain of events goes on with those of the
-- document: for a new user it is the same chain, and what does not follow from it is noted as
-- imported.
-- A sealed user comes as ciphertext with the wrapped keys, and is sealed here by these.
-- Locks   the user.
-- Raises  RC003 a malformed document, RC006 of another user, or for one who has other data.
create or replace function recall.import_user(
    p_user_id  uuid,
    p_document jsonb
)
returns jsonb
language plpgsql
volatile
parallel unsafe
security definer
set search_path from current
set plan_cache_mode = force_custom_plan
set timezone = 'UTC'
set datestyle = 'ISO'
as $function$
declare
    v_counts   jsonb;
    v_user     jsonb;
    v_settings recall.settings;
begin
    perform recall._check_user(p_user_id);
    perform recall._lock_user(p_user_id);
    perform recall._check_document(p_user_id, p_document);

    v_user := coalesce(p_document #> '{tables,users,0}', '{}');
    perform recall._import_keys(p_user_id, p_document);

    begin
        perform recall._check_metadata(coalesce(v_user -> 'metadata', '{}'));
        if coalesce(v_user -> 'overrides', '{}') <> '{}' then
            perform recall.configure_user(p_user_id, v_user -> 'overrides');
        end if;
        v_settings := recall._settings(p_user_id);
        v_user     := v_user || jsonb_build_object('metadata', recall._guard_secrets(
            coalesce(v_user -> 'metadata', '{}'), v_settings, 'p_document: metadata of the user'));
        v_counts   := recall._import_tables(p_user_id, p_document);
        perform recall._import_system_prompts(p_user_id, p_document, v_settings);
    exception when data_exception or integrity_constraint_violation then
        raise exception using
            errcode = 'RC003',
            message = format('p_document: %s', left(sqlerrm, 200)),
            hint    = 'Pass what recall.export_user returned, as it was.';
    end;
    perform recall._check_imported(p_user_id);

    update recall.users as u
       set external_id         = coalesce(u.external_id, v_user ->> 'external_id'),
           metadata            = coalesce(v_user -> 'metadata', '{}') || u.metadata,
           active_memory_count = (
               select count(*)
                 from recall.memory_store as m
                where m.user_id = p_user_id and m.ended_at is null)
     where u.user_id = p_user_id;
    perform recall._log_events(p_user_id, array(
        select c.memory_id
          from recall._check_memories(p_user_id) as c
         where c.finding <> 'memory_missing'), 'imported');
    perform recall._enqueue_embeddings(p_user_id, clock_timestamp(), true);
    return v_counts;
end;
$function$;

comment on function recall.import_user(uuid, jsonb) is
    'Take a document of export_user for a user who has nothing yet; the rows inserted by table.';

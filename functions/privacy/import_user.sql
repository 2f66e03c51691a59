-- Import a document of `export_user` for a user without data; importing it again changes nothing.
-- Pieces of `export_user_pieces` are imported in their order, in one transaction. Its commit is
-- refused while the last one is missing.
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
set timezone = 'UTC'
set datestyle = 'ISO'
as $function$
declare
    v_import recall.imports;
    v_counts jsonb;
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
    v_import := recall._begin_piece(p_user_id, p_document);

    if v_import.piece = 1 then
        perform recall._import_keys(p_user_id, p_document);
    end if;

    begin
        if v_import.piece = 1 then
            perform recall._import_user_row(
                p_user_id, coalesce(p_document #> '{tables,users,0}', '{}'), p_allow_weaker);
        end if;
        v_counts := recall._import_tables(p_user_id, p_document, v_import.event_count);
        perform recall._import_system_prompts(p_user_id, p_document,
                                              recall._settings(p_user_id));
    exception when data_exception or integrity_constraint_violation
                   or program_limit_exceeded then
        raise exception using
            errcode = 'RC003',
            message = format('p_document: %s', left(sqlerrm, 200)),
            hint    = 'Pass what recall.export_user returned, as it was.';
    end;
    if p_document -> 'version' = '1' or p_document -> 'is_last' = 'true' then
        perform recall._finish_import(p_user_id, p_document);
    end if;
    return v_counts;
end;
$function$;

comment on function recall.import_user(uuid, jsonb, boolean) is
    'Import a document of export_user for a user without data, or the next piece of '
    'export_user_pieces: all pieces in one transaction. Returns the rows inserted, by table. '
    'Importing the same document again changes nothing. Overrides that weaken the settings '
    'of this database need p_allow_weaker. RC003: a malformed document, weaker overrides or dates '
    'in the future. RC006: another user''s document, or the user has other data.';

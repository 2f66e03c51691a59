-- Return all data of a user as one portable JSON document for the user and for `import_user`.
-- The document is {format, version, exported_at, user_id, embedding_model, embedding_dimensions,
-- system_prompts, tables: {name: [row, …]}}. Derived rows are left out (search rows, receipts,
-- leases, cursors). A standby also omits the unlogged tables (working memory, access log). jsonb
-- limits a document to 256 MB.
-- Raises  RC001 unknown user, RC003 the user does not fit one document.
create or replace function recall.export_user(
    p_user_id uuid
)
returns jsonb
language plpgsql
stable
parallel safe
security definer
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return (select e.document from recall.export_user_pieces(p_user_id, null) as e);
exception when program_limit_exceeded then
    raise exception using
        errcode = 'RC003',
        message = format('user %s does not fit one document: %s', p_user_id, sqlerrm),
        hint    = 'Use recall.export_user_pieces.';
end;
$function$;

comment on function recall.export_user(uuid) is
    'Return all data of a user as one JSON document that import_user accepts. Derived rows '
    '(search rows, receipts, leases) are left out. RC001: the user does not exist. RC003: the '
    'user does not fit one document of 256 MB (export_user_pieces).';

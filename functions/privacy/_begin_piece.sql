-- Note that a piece of an export is imported; return the state of the import.
-- A document that is not in pieces has the piece 1, and leaves no row.
-- Raises  RC003 it is not the next one.
create or replace function recall._begin_piece(
    p_user_id  uuid,
    p_document jsonb
)
returns recall.imports
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set plan_cache_mode = force_custom_plan
as $function$
declare
    v_is_piece  constant boolean := p_document -> 'version' = '2';
    v_piece     constant integer := case when v_is_piece
                                         then (p_document ->> 'piece')::integer else 1 end;
    v_export_id constant uuid    := case when v_is_piece
                                         then (p_document ->> 'export_id')::uuid end;
    v_import    recall.imports;
begin
    select i.* into v_import from recall.imports as i where i.user_id = p_user_id for update;
    if v_piece <> coalesce(v_import.piece, 0) + 1 or v_export_id <> v_import.export_id then
        raise exception using
            errcode = 'RC003',
            message = format('p_document is piece %s of export %s, not piece %s of export %s',
                             v_piece, coalesce(v_export_id::text, 'none'),
                             coalesce(v_import.piece, 0) + 1,
                             coalesce(v_import.export_id::text, 'any')),
            hint    = 'Import all pieces of recall.export_user_pieces in their order, in one '
                      'transaction.';
    end if;

    if v_import.piece is not null then
        update recall.imports as i
           set piece = v_piece
         where i.user_id = p_user_id
        returning i.* into v_import;
        return v_import;
    end if;
    v_import := row(p_user_id, v_export_id, v_piece, (recall._read_user(p_user_id)).event_count);
    if v_export_id is not null then
        insert into recall.imports
        select (v_import).*;
    end if;
    return v_import;
end;
$function$;

comment on function recall._begin_piece(uuid, jsonb) is
    'Note that a piece of an export is imported (RC003: it is not the next one).';

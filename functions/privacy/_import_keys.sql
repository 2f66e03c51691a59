-- Import the wrapped keys of an encrypted user before any of the user's rows.
-- A decrypted document cannot be imported for an encrypted user: it is for people to read, and
-- lacks data that an import needs. The caller has locked the user.
-- Raises  RC006 document and user differ in encryption or keys, or the user has plaintext data.
create or replace function recall._import_keys(
    p_user_id  uuid,
    p_document jsonb
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
set bytea_output = 'hex'
as $function$
declare
    v_is_sealed constant boolean := p_document #> '{tables,users,0,is_sealed}' = 'true';
    v_keys      constant jsonb   := coalesce(p_document #> '{tables,user_keys}', '[]');
    v_why       text;
begin
    v_why := case
        when p_document -> 'is_opened' = 'true'
            then 'the document was opened, for people to read'
        when v_is_sealed and v_keys = '[]'
            then 'the document is of an encrypted user, and has no keys'
        when v_is_sealed is not true and recall._is_sealed_user(p_user_id)
            then format('user %s is encrypted, and the document is plaintext', p_user_id)
        when v_is_sealed and not recall._is_sealed_user(p_user_id) and recall._has_data(p_user_id)
            then format('user %s already has data, which would stay plaintext', p_user_id)
        when exists (
                select
                  from recall.user_keys as k
                 where k.user_id = p_user_id
                   and not v_keys @> jsonb_build_array(jsonb_build_object(
                               'key_no', k.key_no, 'wrapped_key', k.wrapped_key)))
            then format('user %s is encrypted with other keys than the document', p_user_id)
    end;
    if v_why is not null then
        raise exception using
            errcode = 'RC006',
            message = v_why,
            hint    = 'Pass an encrypted export (recall.export_user, or the driver''s '
                      'export_user(…, sealed=True)), into a database without this user.';
    end if;

    update recall.users as u
       set is_sealed   = true,
           has_vectors = coalesce((p_document #> '{tables,users,0,has_vectors}')::boolean, false)
     where u.user_id = p_user_id
       and v_is_sealed
       and not u.is_sealed;
end;
$function$;

comment on function recall._import_keys(uuid, jsonb) is
    'Make a user encrypted as the document says, or reject a document of another kind (RC006).';

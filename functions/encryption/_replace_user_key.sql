-- Delete a data encryption key that no text uses, or retire it if the audit needs it.
-- A writer that uses the key has locked it for share; this function waits for it before it looks.
-- Locks   the user's keys.
-- Raises  RC003 it is the only one, RC007 a text still uses it.
create or replace function recall._replace_user_key(
    p_user_id uuid,
    p_key_no  integer,
    p_now     timestamptz
)
returns void
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_keys integer[] := array(
        select k.key_no
          from recall.user_keys as k
         where k.user_id = p_user_id
           and k.retired_at is null
         order by k.key_no
           for update);
    v_left record;
begin
    if not p_key_no = any (v_keys) or p_key_no = v_keys[cardinality(v_keys)] then
        raise exception using
            errcode = 'RC003',
            message = format('data key %s of user %s has no successor',
                             p_key_no, p_user_id),
            hint    = 'Add the new key with recall.add_user_key first.';
    end if;
    select l.* into v_left from recall.list_sealed_rows(p_user_id, p_key_no, true, null, 1) as l;
    if v_left.row_table is not null then
        raise exception using
            errcode = 'RC007',
            message = format('%s still has texts of user %s that data key %s encrypts',
                             v_left.row_table, p_user_id, p_key_no),
            hint    = 'They were written meanwhile. List them again, and encrypt them with the '
                      'new key.';
    end if;

    if exists (
        select
          from recall.memory_events as e
         where e.user_id = p_user_id
           and e.detail::text like '%sealed:v1:' || p_key_no || ':%'
    ) then
        update recall.user_keys as k
           set retired_at = p_now
         where k.user_id = p_user_id
           and k.key_no  = p_key_no;
    else
        delete from recall.user_keys as k
         where k.user_id = p_user_id
           and k.key_no  = p_key_no;
    end if;
end;
$function$;

comment on function recall._replace_user_key(uuid, integer, timestamptz) is
    'Delete a data encryption key that no text uses any more; retire it if the audit needs it.';

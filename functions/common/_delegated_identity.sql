-- Return the user that a call from another node of a Citus cluster is limited to.
-- Citus sends a call to the node with the user's rows, and set_config does not travel: without an
-- identity such a call would answer for any user.
-- Raises  RC006 the call came from another node without recall.user_id.
create or replace function recall._delegated_identity()
returns text
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
declare
    v_identity constant text := nullif(current_setting('recall.user_id', true), '');
begin
    if v_identity is null
       and starts_with(current_setting('application_name'), 'citus_internal') then
        raise exception using
            errcode = 'RC006',
            message = 'this call came from another node without the user of its transaction',
            hint    = 'In a transaction: set local citus.propagate_set_commands = ''local''; then '
                      'set local recall.user_id = ''…''; as statements, since set_config does not '
                      'travel.';
    end if;
    return v_identity;
end;
$function$;

comment on function recall._delegated_identity() is
    'The user that a call from another node of a Citus cluster is limited to; RC006 without one.';

-- Preserve a subscriber's own roles and sizes (trigger).
-- Logical replication applies a changed settings row as a whole. With the publisher's values,
-- above all its roles, the next upgrade of the subscriber would use the wrong roles.
create or replace function recall._preserve_installation()
returns trigger
language plpgsql
volatile
parallel unsafe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    new.hash_partitions := old.hash_partitions;
    new.role_prefix := old.role_prefix;
    new.share_roles := old.share_roles;
    new.owner := old.owner;
    new.scheduled_by := old.scheduled_by;
    new.scheduled_in := old.scheduled_in;
    new.history_from := old.history_from;
    new.history_until := old.history_until;
    return new;
end;
$function$;

comment on function recall._preserve_installation() is
    'Trigger: preserve the settings that belong to this database, whatever a publisher sends.';

-- Count the texts of a user that have no vector of a new model yet.
-- Cost    anti-joins over the user's rows, each index-only. Planned for one partition.
create or replace function recall._count_unmigrated(
    p_user_id uuid,
    p_model   text
)
returns bigint
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return (select count(*) from recall._unmigrated_texts(p_user_id, p_model, 9223372036854775807));
end;
$function$;

comment on function recall._count_unmigrated(uuid, text) is
    'Texts of a user without a vector of a new model.';

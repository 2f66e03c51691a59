-- Return when a memory of a kind that is confirmed now is due for review; NULL: never by itself.
create or replace function recall._next_review(
    p_kind text,
    p_now  timestamptz
)
returns timestamptz
language plpgsql
stable
parallel safe
set search_path to pg_catalog, recall, pg_temp
as $function$
begin
    return (select p_now + k.review_after from recall.memory_kinds as k where k.kind = p_kind);
end;
$function$;

comment on function recall._next_review(text, timestamptz) is
    'When a memory of a kind that was confirmed now is due for review; NULL: never by itself.';

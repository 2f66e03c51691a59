-- Refuse a turn after which no exchange ends.
-- A compaction must not cut calls from their answers.
-- Raises  RC003.
create or replace function recall._check_exchange_end(
    p_session  recall.sessions,
    p_settings recall.settings,
    p_turn     integer
)
returns void
language plpgsql
stable
parallel safe
set search_path from current
as $function$
begin
    perform
       from recall._exchange_borders(p_session, p_settings) as b
      where b.turn_index = p_turn
        and b.is_border;
    if not found then
        raise exception using
            errcode = 'RC003',
            message = format('through_turn %s ends inside an exchange', p_turn),
            hint    = 'Give back the through_turn of the job''s input.';
    end if;
end;
$function$;

comment on function recall._check_exchange_end(recall.sessions, recall.settings, integer) is
    'Refuse a turn after which no exchange ends (RC003).';

-- Return how far a moment shares in a time that a query names: 1 within it, 0 outside.
-- What happened is often told in the days that follow, so the week after the time counts, too, less
-- with each day. It inlines.
create or replace function recall._date_share(
    p_at      timestamptz,
    p_favored tstzrange
)
returns double precision
language sql
immutable
parallel safe
return case
           when p_at <@ p_favored then 1
           when p_at >= upper(p_favored)
               then greatest(0, 1 - date_part('epoch', p_at - upper(p_favored)) / 604800)
           else 0
       end;

comment on function recall._date_share(timestamptz, tstzrange) is
    'How far a moment shares in a time that a query names: 1 within, less in the week after, or 0.';

-- Return how far a moment belongs to a time that a query names: 1 within it, 0 outside.
-- Events are often told in the following days, so in the week after the share falls linearly to 0.
-- The function inlines.
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
    'How far a moment belongs to a time that a query names: 1 within, less in the week after, or '
    '0.';

-- List the expressions of time that a query may contain, more exact ones first.
-- The first group is the whole expression, with a "since" before it; the others are its parts.
create or replace function recall._date_expressions(
    out kind    text,
    out pattern text
)
returns setof record
language sql
immutable
parallel safe
begin atomic
    select x.kind, '((?:\ysince\s+)?' || x.pattern || ')'
      from (values (
               'january|february|march|april|may|june|july|august|september|october|november|'
               'december|(?:jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec|sept)\y\.?',
               'a couple of|a few|a|an|one|two|three|four|five|six|seven|eight|nine|ten|eleven|'
               'twelve|\d{1,3}',
               'day|week|month|year',
               'monday|tuesday|wednesday|thursday|friday|saturday|sunday',
               '(?:19|20)\d\d',
               '([0-3]?\d)(?:st|nd|rd|th)?')) as w (month, count, unit, weekday, year, day)
     cross join lateral (values
               (1, 'date', format('\y(%s)-(\d\d)-(\d\d)\y', w.year)),
               (2, 'month_day', format('\y(%s)\s+%s\y(?:,?\s+(%s))?(?!\s*:)',
                                       w.month, w.day, w.year)),
               (3, 'day_month', format('\y%s\s+(?:of\s+)?(%s)(?:,?\s+(%s))?\y',
                                       w.day, w.month, w.year)),
               (4, 'before_yesterday', '\ythe day before yesterday\y'),
               (5, 'yesterday', '\yyesterday\y'),
               (6, 'today', '\y(?:today|this (?:morning|afternoon|evening))\y'),
               (7, 'ago', format('\y(%s)\s+(%s)s?\s+ago\y', w.count, w.unit)),
               (8, 'past', format('\y(?:last|past|previous)\s+(%s)\s+(%s)s\y', w.count, w.unit)),
               (9, 'weekend', '\ylast weekend\y'),
               (10, 'last', format('\y(last|this|past|previous)\s+(%s)\y', w.unit)),
               (11, 'weekday', format('\y(?:on|last|since)\s+(%s)\y', w.weekday)),
               (12, 'month', format('\y(?:in|during|since|of|last|this)\s+(%s)'
                                    '(?:,?\s+(?:of\s+)?(%s))?\y', w.month, w.year)),
               (13, 'year', format('\y(?:in|during|since)\s+(%s)\y', w.year))
           ) as x (place, kind, pattern)
     order by x.place;
end;

comment on function recall._date_expressions() is
    'Expressions of time in English, as regular expressions, more exact ones first.';

-- List the expressions of time that a query may contain, more exact ones first.
-- Group 1 is the whole expression. Group 2 holds the words before it, such as "the week before" or
-- "as of", which recall._related_days reads. The other groups are its parts.
create or replace function recall._date_expressions()
returns table (
    kind    text,
    pattern text
)
language sql
immutable
parallel safe
begin atomic
    select x.kind, format('((\y(?:%s)\s+(?:the\s+)?)%s)', concat_ws('|', w.relation, x.before),
                          x.pattern)
      from (values (
               'january|february|march|april|may|june|july|august|september|october|november|'
               'december|(?:jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec|sept)\y\.?',
               'a couple of|a few|a|an|one|two|three|four|five|six|seven|eight|nine|ten|eleven|'
               'twelve|\d{1,3}',
               'day|week|month|year',
               'monday|tuesday|wednesday|thursday|friday|saturday|sunday',
               '(?:19|20)\d\d',
               '([0-3]?\d)(?:st|nd|rd|th)?',
               'since|after|before|until|till|up to|as of|by',
               'early|mid|late|(?:beginning|start|middle|end)\s+of'
           )) as v (month, count, unit, weekday, year, day, relation, part)
     cross join lateral (
            select v.*, format('(?:(?:%s|first|second|third|fourth|last)\s+)?'
                               '(?!years?\s+in\y)(?:%s|weekend|%s)s?'
                               '\s+(?:before|after|of|in)', v.count, v.unit, v.weekday) as span
           ) as w
     cross join lateral (values
               (1, 'date', w.span, format('?\y(%s)-(\d\d)-(\d\d)\y', w.year)),
               (2, 'month_day', w.span, format('?\y(%s)\s+%s\y(?:,?\s+(%s))?(?!\s*:)',
                                               w.month, w.day, w.year)),
               (3, 'day_month', w.span, format('?\y%s\s+(?:of\s+)?(%s)(?:,?\s+(%s))?\y',
                                               w.day, w.month, w.year)),
               (4, 'before_yesterday', null, '?\ythe day before yesterday\y'),
               (5, 'yesterday', null, '?\yyesterday\y'),
               (6, 'today', null, '?\y(?:today|this (?:morning|afternoon|evening))\y'),
               (7, 'ago', null, format('?\y(%s)\s+(%s)s?\s+ago\y', w.count, w.unit)),
               (8, 'past', null, format('?\y(?:last|past|previous)\s+(%s)\s+(%s)s\y', w.count,
                                        w.unit)),
               (9, 'weekend', null, format('?\ylast weekend\y(?!\s+(?:of|in)\s+(?:%s|%s))', w.month,
                                            w.year)),
               (10, 'last', null, format('?\y(last|this|past|previous)\s+(%s)\y(?!\s+(?:of|in)\s+'
                                         '(?:%s|%s))', w.unit, w.month, w.year)),
               (11, 'weekday', 'on|last', format('(%s)\y', w.weekday)),
               (12, 'month', concat_ws('|', 'in|during|of|last|this', w.part, w.span),
                format('(%s)(?:,?\s+(?:of\s+)?(%s))?\y', w.month, w.year)),
               (13, 'year', concat_ws('|', 'in|during', w.part, w.span), format('(%s)\y', w.year))
           ) as x (place, kind, before, pattern)
     order by x.place;
end;

comment on function recall._date_expressions() is
    'Expressions of time in English, as regular expressions, more exact ones first.';

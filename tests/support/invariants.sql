-- One query for each invariant: it returns each violation as text in one column.
-- tests/support/invariants.py runs them after every concurrent, crash and property test.

-- I1: no two active memories of a user share a text, nor an attribute
select format('user %s has %s active memories of hash %s', m.user_id, count(*), m.content_hash)
  from recall.memory_store as m
 where m.ended_at is null
 group by m.user_id, m.content_hash
having count(*) > 1
union all
select format('user %s has %s active memories of slot %s', m.user_id, count(*), m.slot)
  from recall.memory_store as m
 where m.ended_at is null
   and m.slot is not null
 group by m.user_id, m.slot
having count(*) > 1;

-- I2: superseded means a successor of the same user, inactive a reason
select format('memory %s of user %s: ended %s, reason %s, successor %s', m.memory_id, m.user_id,
              m.ended_at, m.end_reason, m.superseded_by)
  from recall.memory_store as m
 where (m.ended_at is null) <> (m.end_reason is null)
    or m.end_reason in ('superseded', 'merged') and m.superseded_by is null
    or m.superseded_by is not null and (
           m.ended_at is null
           or not exists (
                  select from recall.memory_store as n
                   where n.user_id   = m.user_id
                     and n.memory_id = m.superseded_by))
union all
select format('memory %s of user %s has a vector among those of %s memories', e.memory_id,
              e.user_id, e.place)
  from (
        select user_id, memory_id, 'active' as place from recall.memory_embedding
        union all
        select user_id, memory_id, 'ended' from recall.memory_embedding_ended
       ) as e
 where not exists (
        select from recall.memory_store as m
         where m.user_id   = e.user_id
           and m.memory_id = e.memory_id
           and (m.ended_at is null) = (e.place = 'active'));

-- I3: chains are acyclic, so that each has one head
-- A row has at most one successor: from each row one path, which must come to an end.
with recursive chain as (
    select m.user_id, m.memory_id as first_id, m.superseded_by as next_id
      from recall.memory_store as m
     where m.superseded_by is not null
    union all
    select c.user_id, c.first_id, m.superseded_by
      from chain as c
      join recall.memory_store as m on m.user_id = c.user_id and m.memory_id = c.next_id
     where m.superseded_by is not null
) cycle next_id set is_cycle using path
select distinct format('memory %s of user %s is in a cycle', c.first_id, c.user_id)
  from chain as c
 where c.is_cycle;

-- I4: turn_index is dense from first_retained_turn to turn_count; what is before it goes with its
-- month
select format('session %s of user %s: %s messages, turns %s to %s, but turn_count %s from %s',
              s.session_id, s.user_id, h.messages, h.first_turn, h.last_turn, s.turn_count,
              s.first_retained_turn)
  from recall.sessions as s
 cross join lateral (
        select count(*) as messages, count(distinct t.turn_index) as turns,
               min(t.turn_index) as first_turn, max(t.turn_index) as last_turn,
               min(t.created_at) as first_at, max(t.created_at) as last_at,
               count(*) filter (where t.role = 'user') as user_turns
          from recall.conversation_history as t
         where t.user_id     = s.user_id
           and t.session_id  = s.session_id
           and t.turn_index >= s.first_retained_turn
       ) as h
 where h.messages <> s.turn_count - s.first_retained_turn + 1
    or h.turns <> h.messages
    or h.first_turn <> s.first_retained_turn
    or h.last_turn <> s.turn_count
    or h.first_at < s.created_at
    or h.last_at <> s.last_message_at
    or s.first_retained_turn = 1 and h.user_turns <> s.user_turn_count
union all
select format('turn %s of user %s is of session %s, which does not exist', h.turn_index,
              h.user_id, h.session_id)
  from recall.conversation_history as h
 where not exists (
        select from recall.sessions as s
         where s.user_id    = h.user_id
           and s.session_id = h.session_id);

-- I5: the totals of a session are the sums over its messages and the spans of its jobs
-- Retention drops spans by month. Totals of a session older than the unbroken run of months up to
-- now may exceed the sums, but never fall below them.
with months as (
    select l.lower_bound, l.upper_bound from recall._month_leaves('recall.job_phases') as l
),
kept as (
    select max(m.lower_bound) as since,
           (select min(a.applied_at) from recall.migrations as a) as installed_at
      from months as m
     where m.lower_bound <= now()
       and not exists (select from months as b where b.upper_bound = m.lower_bound)
),
spans as (
    select p.user_id, p.session_id, sum(p.prompt_tokens) as prompt,
           sum(p.completion_tokens) as completion, sum(p.cost_microcents) as cost
      from recall.job_phases as p
     where p.session_id is not null
     group by p.user_id, p.session_id
)
select format('session %s of user %s: active %s, prompt %s, completion %s, cost %s, '
              'but its messages and spans say %s, %s, %s, %s', s.session_id, s.user_id,
              s.active_tokens, s.total_prompt_tokens, s.total_completion_tokens,
              s.total_cost_microcents, h.active, t.prompt, t.completion, t.cost)
  from recall.sessions as s
 cross join kept as k
 cross join lateral (
        select coalesce(sum(m.token_count) filter (
                   where m.turn_index > s.compacted_through_turn
                     and not m.turn_index <@ s.retracted_turns), 0) as active,
               coalesce(sum(m.prompt_tokens), 0) as prompt,
               coalesce(sum(m.completion_tokens), 0) as completion,
               coalesce(sum(m.cost_microcents), 0) as cost
          from recall.conversation_history as m
         where m.user_id    = s.user_id
           and m.session_id = s.session_id
       ) as h
  left join spans as p on p.user_id = s.user_id and p.session_id = s.session_id
 cross join lateral (
        select h.prompt + coalesce(p.prompt, 0), h.completion + coalesce(p.completion, 0),
               h.cost + coalesce(p.cost, 0)
       ) as t (prompt, completion, cost)
 where s.first_retained_turn = 1 and s.active_tokens <> h.active
    or s.total_prompt_tokens < t.prompt
    or s.total_completion_tokens < t.completion
    or s.total_cost_microcents < t.cost
    or s.first_retained_turn = 1
       and k.since <= greatest(s.created_at, k.installed_at)
       and (s.total_prompt_tokens > t.prompt
            or s.total_completion_tokens > t.completion
            or s.total_cost_microcents > t.cost);

-- I6: no running job is past its lease and a grace of five minutes; a job's effect is there once
select format('job %s of user %s runs since its lease ended at %s', j.job_id, j.user_id,
              j.lease_until)
  from recall.jobs as j
 where j.state = 'running'
   and j.lease_until < clock_timestamp() - interval '5 minutes'
union all
select format('%s running jobs of session %s and kind %s', count(*), j.session_id, j.kind)
  from recall.jobs as j
 where j.state = 'running'
   and j.session_id is not null
 group by j.user_id, j.session_id, j.kind
having count(*) > 1
union all
select format('job %s said %s of memory %s %s times', e.job_id, e.event, e.memory_id, count(*))
  from recall.memory_events as e
 where e.job_id is not null
   and e.event = 'added'
 group by e.user_id, e.job_id, e.memory_id, e.event
having count(*) > 1;

-- I7: a compacted prefix is covered by exactly one live summary, and cuts no tool group
select format('session %s of user %s is compacted through %s, its live summaries reach to %s',
              s.session_id, s.user_id, s.compacted_through_turn, m.ends)
  from recall.sessions as s
 cross join lateral (
        select array_agg(c.to_turn) as ends
          from recall.session_summaries as c
         where c.user_id    = s.user_id
           and c.session_id = s.session_id
           and c.kind       = 'compaction'
           and c.ended_at is null
       ) as m
 where s.compacted_through_turn > 0
   and m.ends is distinct from array[s.compacted_through_turn]
union all
select format('session %s of user %s is compacted through %s, and turn %s is a tool message '
              'whose call is compacted',
              s.session_id, s.user_id, s.compacted_through_turn, h.turn_index)
  from recall.sessions as s
  join recall.conversation_history as h
    on h.user_id    = s.user_id
   and h.session_id = s.session_id
 where s.compacted_through_turn > 0
   and h.turn_index > s.compacted_through_turn
   and h.role       = 'tool'
   and not h.turn_index <@ s.retracted_turns
   and not exists (
           select
             from recall.conversation_history as c
            where c.user_id    = s.user_id
              and c.session_id = s.session_id
              and c.turn_index > s.compacted_through_turn
              and c.turn_index < h.turn_index
              and not c.turn_index <@ s.retracted_turns
              and c.tool_calls @> jsonb_build_array(jsonb_build_object('id', h.tool_call_id)));

-- I8: an active memory of tier episodic or above is validated, and of a writer or provenance
-- that may be there: what a tool said or the system inferred gets there only as an episode, a
-- pattern or a merge
select format('memory %s of user %s: tier %s, validated %s, provenance %s, kind %s, source %s',
              m.memory_id, m.user_id, m.tier, m.is_validated, m.provenance, m.kind, m.source)
  from recall.memory_store as m
 where m.ended_at is null
   and m.tier >= 'episodic'
   and (not m.is_validated
        or m.provenance in ('tool_output', 'system_inferred')
           and m.kind not in ('episode', 'pattern')
           and m.source <> 'consolidation');

-- I9: no row of an erased user is left, unless the user returned as a new one
with remaining (place, user_id) as (
    select distinct 'users', user_id from recall.users
    union all
    select distinct 'user_keys', user_id from recall.user_keys
    union all
    select distinct 'sessions', user_id from recall.sessions
    union all
    select distinct 'session_summaries', user_id from recall.session_summaries
    union all
    select distinct 'append_receipts', user_id from recall.append_receipts
    union all
    select distinct 'conversation_history', user_id from recall.conversation_history
    union all
    select distinct 'message_search', user_id from recall.message_search
    union all
    select distinct 'message_words', user_id from recall.message_words
    union all
    select distinct 'message_annotations', user_id from recall.message_annotations
    union all
    select distinct 'memory_store', user_id from recall.memory_store
    union all
    select distinct 'memory_embedding', user_id from recall.memory_embedding
    union all
    select distinct 'memory_embedding_ended', user_id from recall.memory_embedding_ended
    union all
    select distinct 'memory_events', user_id from recall.memory_events
    union all
    select distinct 'memory_access_log', user_id from recall.memory_access_log
    union all
    select distinct 'working_memory', user_id from recall.working_memory
    union all
    select distinct 'user_locks', user_id from recall.user_locks
    union all
    select distinct 'imports', user_id from recall.imports
    union all
    select distinct 'items', user_id from recall.items
    union all
    select distinct 'item_vectors', user_id from recall.item_vectors
    union all
    select distinct 'jobs', user_id from recall.jobs
    union all
    select distinct 'job_phases', user_id from recall.job_phases
    union all
    select distinct 'model_calls', user_id from recall.model_calls
    union all
    select distinct 'stream_events', user_id from recall.stream_events
    union all
    select distinct 'protocol_events', user_id from recall.protocol_events
    union all
    select distinct 'model_spending', user_id from recall.model_spending
)
select format('%s still holds rows of forgotten user %s', r.place, r.user_id)
  from remaining as r
  join recall.erasures as e on e.digest = sha256(e.salt || uuid_send(r.user_id))
 where not exists (
        select from recall.users as u
         where u.user_id    = r.user_id
           and u.created_at > e.erased_at);

-- I10: the months from now to three ahead exist below every parent, cut in UTC, without gaps
-- Bounds print and are read in the same time zone here, whichever it is.
with leaves as (
    select i.inhparent as parent, c.oid as leaf,
           substring(b.bound from 'FROM \(''([^'']+)''\)')::timestamptz as lower_bound,
           substring(b.bound from 'TO \(''([^'']+)''\)')::timestamptz as upper_bound
      from pg_inherits as i
      join pg_class as c on c.oid = i.inhrelid
      join pg_partitioned_table as p on p.partrelid = i.inhparent
     cross join lateral (select pg_get_expr(c.relpartbound, c.oid)) as b (bound)
     where c.relnamespace = 'recall'::regnamespace
       and p.partstrat = 'r'
)
select format('%s lacks the month of %s', p.partrelid::regclass, m.month)
  from pg_partitioned_table as p
  join pg_class as c on c.oid = p.partrelid
 cross join lateral (
        select date_add(date_trunc('month', now(), 'UTC'), make_interval(months => n), 'UTC')
          from generate_series(0, 3) as g (n)
       ) as m (month)
 where c.relnamespace = 'recall'::regnamespace
   and p.partstrat = 'r'
   and not exists (
           select from leaves as l
            where l.parent = p.partrelid
              and l.lower_bound <= m.month
              and l.upper_bound >= date_add(m.month, interval '1 month', 'UTC'))
union all
select format('%s is not cut at months in UTC: %s to %s', l.leaf::regclass, l.lower_bound,
              l.upper_bound)
  from leaves as l
 where l.lower_bound <> date_trunc('month', l.lower_bound, 'UTC')
    or l.upper_bound <> date_trunc('month', l.upper_bound, 'UTC');

-- I11: users.active_memory_count counts the active memories
select format('user %s has %s active memories, not %s', coalesce(u.user_id, m.user_id),
              m.active, u.active_memory_count)
  from recall.users as u
  full join (
        select s.user_id, count(*) as active
          from recall.memory_store as s
         where s.ended_at is null
         group by s.user_id
       ) as m on m.user_id = u.user_id
 where coalesce(u.active_memory_count, 0) <> coalesce(m.active, 0);

-- I12: every user's chain of events is whole
-- Tests move the times of memories by hand: what that leaves is tests/audit/test_integrity.py's.
select format('user %s: %s at event %s of memory %s: %s', u.user_id, v.finding, v.event_no,
              v.memory_id, v.detail)
  from recall.users as u
 cross join lateral (
        select * from recall._check_events(u.user_id)
        union all
        select * from recall._check_head(u.user_id, null)
       ) as v;

-- I13: message_words holds the words of the turns of message_search that it covers, and no others
with indexed as (
    select distinct b.user_id, b.session_id, b.before_turn + p.position as turn_index,
           u.lexeme as word
      from recall.message_words as b
     cross join unnest(b.words) as u
     cross join unnest(u.positions) as p (position)
),
searchable as (
    select distinct m.user_id, m.session_id, m.turn_index, u.lexeme as word
      from recall.message_search as m
     cross join unnest(m.search_vector) as u
     where exists (
           select from recall.message_words as b
            where b.user_id       = m.user_id
              and b.session_id    = m.session_id
              and b.through_turn >= m.turn_index)
)
select format('user %s, session %s: word %s of turn %s is %s', coalesce(i.user_id, s.user_id),
              coalesce(i.session_id, s.session_id), coalesce(i.word, s.word),
              coalesce(i.turn_index, s.turn_index),
              case when s.word is null then 'in message_words only'
                   else 'in message_search only' end)
  from indexed as i
  full join searchable as s using (user_id, session_id, turn_index, word)
 where i.word is null
    or s.word is null
 limit 20;

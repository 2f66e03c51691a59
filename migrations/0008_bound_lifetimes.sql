-- Lifetimes end at 1000 years, since a driver cannot read an infinite expiry. Periods and prices
-- end where sums overflow. A kind with a longer lifetime has none.
-- The backfill does the same to the overrides of users and to the expiries of memories.
update recall.settings
   set session_memory_grace = least(session_memory_grace, '1000 years'),
       episode_lifetime     = least(episode_lifetime, '1000 years'),
       verbatim_lifetime    = least(verbatim_lifetime, '1000 years'),
       working_ttl          = least(working_ttl, '1000 years'),
       decay_lifetime       = least(decay_lifetime, '1000 years')
 where greatest(session_memory_grace, episode_lifetime, verbatim_lifetime, working_ttl,
                decay_lifetime) > '1000 years';
update recall.memory_kinds
   set lifetime     = case when lifetime <= '1000 years' then lifetime end,
       review_after = case when review_after <= '1000 years' then review_after end
 where greatest(lifetime, review_after) > '1000 years';
update recall.models
   set input_price        = least(input_price, 1000000000000),
       cached_input_price = least(cached_input_price, 1000000000000),
       output_price       = least(output_price, 1000000000000)
 where greatest(input_price, cached_input_price, output_price) > 1000000000000;
update recall.maintenance_tasks set period = '1000 years' where period > '1000 years';
-- Registries have few rows.
alter table recall.memory_kinds
    -- squawk-ignore ban-drop-constraint
    drop constraint memory_kinds_lifetime_check,
    -- squawk-ignore ban-drop-constraint
    drop constraint memory_kinds_review_after_check,
    -- squawk-ignore constraint-missing-not-valid
    add constraint memory_kinds_lifetime_check
        check (lifetime > interval '0' and lifetime <= interval '1000 years'),
    -- squawk-ignore constraint-missing-not-valid
    add constraint memory_kinds_review_after_check
        check (review_after > interval '0' and review_after <= interval '1000 years');
alter table recall.models
    -- squawk-ignore ban-drop-constraint
    drop constraint models_prices_check,
    -- squawk-ignore constraint-missing-not-valid
    add constraint models_prices_check
        check (input_price between 0 and 1000000000000
               and cached_input_price between 0 and 1000000000000
               and output_price between 0 and 1000000000000);
alter table recall.maintenance_tasks
    -- squawk-ignore ban-drop-constraint
    drop constraint maintenance_tasks_period_check,
    -- squawk-ignore constraint-missing-not-valid
    add constraint maintenance_tasks_period_check
        check (period > interval '0' and period <= interval '1000 years');
insert into recall.backfills (backfill, migration, table_name)
values ('overrides', '0008_bound_lifetimes', 'users')
on conflict (backfill) do update
   set migration   = excluded.migration,
       rows_done   = 0,
       started_at  = null,
       finished_at = null;

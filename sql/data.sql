-- Insert the shipped rows of the registries; rows that an installation has changed stay.
insert into recall.memory_kinds (kind, description, lifetime, is_behavioral)
values ('fact', 'Factual information about the user', null, false),
       ('preference', 'How the user likes things done: style, format, tools', null, true),
       ('goal', 'What the user wants to reach', null, false),
       ('decision', 'A choice the user has made', null, false),
       ('context', 'A situation that will pass: deadlines, circumstances', '90 days', false),
       ('feedback', 'How the user reacted to something', null, true),
       ('personal', 'A detail that builds rapport', null, false),
       ('instruction', 'What the user asked to be done always or never', null, true),
       ('episode', 'One line on a past exchange', '90 days', false),
       ('pattern', 'Something that keeps coming back, and what helped', null, true)
on conflict (kind) do nothing;

-- Micro-cents per million tokens: 0.15 dollars are 15 cents, or 15,000,000 micro-cents.
insert into recall.models (model_id, context_window_size, tokenizer,
                           input_price, cached_input_price, output_price)
values ('gpt-4o', 128000, 'o200k_base', 250000000, 125000000, 1000000000),
       ('gpt-4o-mini', 128000, 'o200k_base', 15000000, 7500000, 60000000),
       ('gpt-4.1', 1047576, 'o200k_base', 200000000, 50000000, 800000000),
       ('gpt-4.1-mini', 1047576, 'o200k_base', 40000000, 10000000, 160000000),
       ('gpt-4.1-nano', 1047576, 'o200k_base', 10000000, 2500000, 40000000),
       ('o3', 200000, 'o200k_base', 200000000, 50000000, 800000000),
       ('o4-mini', 200000, 'o200k_base', 110000000, 27500000, 440000000),
       ('gpt-5', 400000, 'o200k_base', 125000000, 12500000, 1000000000),
       ('gpt-5-mini', 400000, 'o200k_base', 25000000, 2500000, 200000000),
       ('gpt-5-nano', 400000, 'o200k_base', 5000000, 500000, 40000000),
       ('gpt-4-turbo', 128000, 'cl100k_base', 1000000000, 1000000000, 3000000000),
       ('gpt-3.5-turbo', 16385, 'cl100k_base', 50000000, 50000000, 150000000),
       ('text-embedding-3-small', 8191, 'cl100k_base', 2000000, 2000000, 0),
       ('text-embedding-3-large', 8191, 'cl100k_base', 13000000, 13000000, 0)
on conflict (model_id) do nothing;

insert into recall.maintenance_tasks (task, schedule, period, batch_size, budget)
values ('ensure_partitions', '17 3 * * *', '1 day', 1000, '30 seconds'),
       ('flush_access_log', '* * * * *', '1 minute', 5000, '20 seconds'),
       ('release_expired_leases', '* * * * *', '1 minute', 1000, '20 seconds'),
       ('expire_working', '*/5 * * * *', '5 minutes', 5000, '20 seconds'),
       ('expire_items', '13-59/15 * * * *', '15 minutes', 1000, '20 seconds'),
       ('promote_memories', '3-59/15 * * * *', '15 minutes', 1000, '1 minute'),
       ('expire_memories', '11 * * * *', '1 hour', 1000, '5 minutes'),
       ('expire_sessions', '23 * * * *', '1 hour', 1000, '5 minutes'),
       ('enqueue_merges', '41 4 * * *', '1 day', 200, '20 seconds'),
       ('enqueue_patterns', '52 4 * * *', '1 day', 200, '20 seconds'),
       ('enqueue_compactions', '7-59/30 * * * *', '30 minutes', 1000, '1 minute'),
       ('enqueue_missing_embeddings', '9-59/15 * * * *', '15 minutes', 1000, '1 minute'),
       ('purge_expired', '47 3 * * *', '1 day', 5000, '5 minutes'),
       ('drop_expired_partitions', '53 4 * * *', '1 day', 10, '5 minutes'),
       ('decay_memories', '31 3 * * *', '1 day', 1000, '5 minutes'),
       ('sample_recall', '19 4 * * *', '1 day', 100, '1 minute'),
       ('run_backfills', '6-59/10 * * * *', '10 minutes', 1000, '8 minutes'),
       ('migrate_embeddings', '* * * * *', '1 minute', 1000, '20 seconds')
on conflict (task) do nothing;

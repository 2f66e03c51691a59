-- Maintenance writes message_words for the turns that were searchable before.
insert into recall.backfills (backfill, migration, table_name)
values ('words', '0002_add_message_words', 'message_search');

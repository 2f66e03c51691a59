-- A call that would wait for another user's transaction stores a copy of its own: of a system
-- prompt, or as a row of the day's totals. Both tables are small.
-- squawk-ignore adding-field-with-default
alter table recall.system_prompts add column prompt_id uuid not null default gen_random_uuid();
-- squawk-ignore ban-drop-constraint
alter table recall.system_prompts drop constraint system_prompts_pkey;
alter table recall.system_prompts
    -- squawk-ignore adding-serial-primary-key-field, constraint-missing-not-valid
    add constraint system_prompts_pkey primary key (prompt_hash, prompt_id);
-- squawk-ignore ban-drop-constraint
alter table recall.model_spending_totals drop constraint model_spending_totals_shard_check;

-- Settings: one typed row. `recall.configure` changes it, `recall.configure_user` overrides it for
-- one user. Sizes and roles at the top are fixed at installation.
-- This temporary table is the only definition of the columns, defaults and checks. The statements
-- after it create recall.settings from it, or adapt the table of an older version.
create table pg_temp.settings (
    singleton                       boolean     not null default true,
    embedding_dimensions            integer     not null,
    hash_partitions                 integer     not null,
    history_months_ahead            integer     not null default 3,
    role_prefix                     text        not null default 'recall',
    share_roles                     boolean     not null default false,
    scheduled_by                    text,
    scheduled_in                    oid,
    history_from                    timestamptz,
    history_until                   timestamptz,
    has_sealed_users                boolean     not null default false,
    has_overrides                   boolean     not null default false,
    hidden_embedding_model          text,
    configured                      text[]      not null default '{}',

    embedding_model                 text        not null default 'openai:text-embedding-3-small',
    embed_messages                  boolean     not null default true,
    embed_batch                     integer     not null default 64,
    language                        text        not null default 'english',

    default_context_window          integer     not null default 8192,
    default_max_response_tokens     integer     not null default 4096,
    tokens_per_message              integer     not null default 4,
    tokens_per_image                integer     not null default 1445,
    session_ttl                     interval    not null default '30 days',
    receipt_ttl                     interval    not null default '1 day',
    future_skew                     interval    not null default '5 minutes',

    extraction                      text        not null default 'llm',
    summaries                       text,
    answer_within_turns             integer     not null default 128,
    extracted_tier                  text        not null default 'semantic',
    extract_after_turns             integer     not null default 10,
    extract_after_idle              interval    not null default '10 minutes',
    prompt_language                 text        not null default 'en',
    extract_batch                   integer     not null default 200,
    max_facts_per_turn              integer     not null default 3,
    summarize_after_turns           integer     not null default 10,
    verbatim_min_words              integer     not null default 5,

    session_memory_grace            interval    not null default '24 hours',
    review_first_sessions           integer     not null default 0,
    episode_lifetime                interval    not null default '90 days',
    verbatim_lifetime               interval    not null default '90 days',
    memory_max_characters           integer     not null default 4000,
    near_duplicate_distance         real        not null default 0.20,
    durable_confidence              real        not null default 0.7,
    protect_user_stated             boolean     not null default true,
    source_memories_per_hour        integer              default 1000,
    secrets                         text        not null default 'keep',
    secret_classes                  text[]      not null
        default '{private_key,api_key,token,password,card}',

    merge_above                     integer     not null default 5,
    merge_batch                     integer     not null default 20,
    pattern_episodes                integer     not null default 3,
    pattern_within                  interval    not null default '30 days',
    pattern_similarity              real        not null default 0.80,
    pattern_deviations              real        not null default 3.5,
    pattern_jobs_per_day            integer     not null default 3,

    working_ttl                     interval    not null default '1 hour',
    items_per_user                  integer     not null default 100000,
    item_bytes_per_user             bigint      not null default 1073741824,

    scoring                         text        not null default 'hybrid',
    classic_similarity_weight       real        not null default 0.45,
    classic_freshness_weight        real        not null default 0.20,
    classic_frequency_weight        real        not null default 0.15,
    classic_authority_weight        real        not null default 0.20,
    freshness_decay_per_hour        real        not null default 0.005,
    hybrid_similarity_weight        real        not null default 0.5,
    hybrid_lexical_weight           real        not null default 0.5,
    hybrid_freshness_weight         real        not null default 0.02,
    hybrid_frequency_weight         real        not null default 0.02,
    hybrid_authority_weight         real        not null default 0.03,
    decay_mode                      text        not null default 'none',
    decay_per_day                   real        not null default 0.01,
    semantic_candidates             integer     not null default 50,
    lexical_candidates              integer     not null default 20,
    frequent_candidates             integer     not null default 20,
    exact_search_limit              integer     not null default 5000,
    rerank_candidates               integer     not null default 800,
    recall_samples                  integer     not null default 20,
    recall_floor                    real        not null default 0.95,
    message_length_penalty          real        not null default 0.4,
    message_neighbor_weight         real        not null default 0.4,
    message_second_neighbor_weight  real        not null default 0.2,
    message_session_weight          real        not null default 0.3,
    message_memory_weight           real        not null default 0.3,
    message_speaker_weight          real        not null default 0.2,
    message_feedback_weight         real        not null default 0.2,
    date_weight                     real        not null default 0.25,
    time_zone                       text        not null default 'UTC',
    recalled_turns                  integer     not null default 20,
    context_min_match               real        not null default 0.1,
    unrelated_similarity            real        not null default 0.1,
    unrelated_deviation             real        not null default 0.1,

    continuation_memory_share       real        not null default 0.15,
    cache_stable_memory_tokens      integer     not null default 1000,

    compaction_threshold            real        not null default 0.8,
    compaction_keep                 integer     not null default 4,

    job_max_attempts                integer     not null default 8,
    daily_cost_limit_microcents     bigint,
    daily_user_cost_limit_microcents bigint,
    user_cost_limit_microcents      bigint,

    maintenance_lock_time           interval    not null default '0.1 seconds',
    run_details_retention           interval    not null default '3 days',

    episodic_promotion_accesses     integer     not null default 3,
    durable_promotion_accesses      integer     not null default 10,
    demotion_age                    interval    not null default '14 days',
    demotion_accesses_per_hour      float8      not null default 0.005,
    decay_importance                real        not null default 0.3,
    decay_idle                      interval    not null default '30 days',
    decay_lifetime                  interval    not null default '90 days',
    history_retention               interval    not null default '12 months',
    drop_expired_history            boolean     not null default true,
    phase_retention                 interval    not null default '90 days',
    ledger                          text        not null default 'off',
    ledger_retention                interval    not null default '30 days',
    ledger_max_body                 integer     not null default 16777216,
    ended_vector_retention          interval    not null default '30 days',
    message_search_retention        interval    not null default '30 days',
    owner                           text,
    require_identity                boolean     not null default false,
    message_max_characters          integer     default 1000000,
    constraint settings_pkey primary key (singleton),
    constraint settings_singleton_check check (singleton),
    constraint settings_embedding_dimensions_check check (embedding_dimensions between 1 and 16000),
    constraint settings_hash_partitions_check check (hash_partitions between 0 and 1024),
    constraint settings_history_months_ahead_check check (history_months_ahead between 1 and 120),
    constraint settings_embed_batch_check check (embed_batch between 1 and 2048),
    constraint settings_default_context_window_check check (default_context_window > 0),
    constraint settings_default_max_response_tokens_check check (default_max_response_tokens >= 0),
    constraint settings_tokens_per_message_check check (tokens_per_message between 0 and 100),
    constraint settings_tokens_per_image_check check (tokens_per_image between 0 and 100000),
    constraint settings_session_ttl_check
        check (session_ttl between interval '1 minute' and interval '1000 years'),
    constraint settings_receipt_ttl_check check (receipt_ttl >= interval '1 minute'),
    constraint settings_future_skew_check check (future_skew >= interval '0'),
    constraint settings_extraction_check check (extraction in ('llm', 'verbatim', 'none')),
    constraint settings_summaries_check check (summaries in ('llm', 'none')),
    constraint settings_answer_within_turns_check check (answer_within_turns between 1 and 100000),
    constraint settings_extracted_tier_check check (extracted_tier in ('semantic', 'session')),
    constraint settings_extract_after_turns_check check (extract_after_turns between 1 and 1000),
    constraint settings_extract_after_idle_check check (extract_after_idle >= interval '0'),
    constraint settings_prompt_language_check
        check (prompt_language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'),
    constraint settings_extract_batch_check check (extract_batch between 1 and 10000),
    constraint settings_max_facts_per_turn_check check (max_facts_per_turn between 1 and 100),
    constraint settings_summarize_after_turns_check
        check (summarize_after_turns between 1 and 1000),
    constraint settings_verbatim_min_words_check check (verbatim_min_words between 1 and 100),
    constraint settings_review_first_sessions_check
        check (review_first_sessions between 0 and 1000000),
    constraint settings_session_memory_grace_check
        check (session_memory_grace between interval '0' and interval '1000 years'),
    constraint settings_episode_lifetime_check
        check (episode_lifetime between interval '1 microsecond' and interval '1000 years'),
    constraint settings_verbatim_lifetime_check
        check (verbatim_lifetime between interval '1 microsecond' and interval '1000 years'),
    constraint settings_memory_max_characters_check
        check (memory_max_characters between 100 and 100000),
    constraint settings_message_max_characters_check
        check (message_max_characters between 1000 and 10000000),
    constraint settings_near_duplicate_distance_check
        check (near_duplicate_distance between 0 and 0.5),
    constraint settings_durable_confidence_check check (durable_confidence between 0 and 1),
    constraint settings_source_memories_per_hour_check check (source_memories_per_hour >= 1),
    constraint settings_secrets_check check (secrets in ('keep', 'mask', 'refuse')),
    constraint settings_secret_classes_check check (
        secret_classes <@ '{private_key,api_key,token,password,card,iban,email,phone}'::text[]),
    constraint settings_merge_check
        check (merge_above between 1 and 1000 and merge_batch between 2 and 100
               and merge_batch > merge_above),
    constraint settings_pattern_episodes_check check (pattern_episodes between 2 and 20),
    constraint settings_pattern_within_check
        check (pattern_within between interval '1 hour' and interval '10 years'),
    constraint settings_pattern_similarity_check check (pattern_similarity between 0 and 1),
    constraint settings_pattern_deviations_check check (pattern_deviations between 2 and 100),
    constraint settings_pattern_jobs_per_day_check check (pattern_jobs_per_day between 1 and 1000),
    constraint settings_working_ttl_check
        check (working_ttl between interval '1 microsecond' and interval '1000 years'),
    constraint settings_items_check check (items_per_user >= 0 and item_bytes_per_user >= 0),
    constraint settings_scoring_check check (scoring in ('hybrid', 'classic')),
    constraint settings_classic_weights_check check (
        classic_similarity_weight between 0 and 1 and classic_freshness_weight between 0 and 1
        and classic_frequency_weight between 0 and 1 and classic_authority_weight between 0 and 1),
    constraint settings_freshness_decay_per_hour_check
        check (freshness_decay_per_hour between 0 and 10),
    constraint settings_hybrid_weights_check check (
        hybrid_similarity_weight between 0 and 1 and hybrid_lexical_weight between 0 and 1
        and hybrid_freshness_weight between 0 and 1 and hybrid_frequency_weight between 0 and 1
        and hybrid_authority_weight between 0 and 1),
    constraint settings_decay_mode_check check (decay_mode in ('none', 'multiply')),
    constraint settings_decay_per_day_check check (decay_per_day between 0 and 10),
    constraint settings_semantic_candidates_check check (semantic_candidates between 1 and 10000),
    constraint settings_lexical_candidates_check check (lexical_candidates between 0 and 10000),
    constraint settings_frequent_candidates_check check (frequent_candidates between 0 and 10000),
    constraint settings_exact_search_limit_check check (exact_search_limit >= 1),
    constraint settings_rerank_candidates_check check (rerank_candidates between 50 and 100000),
    constraint settings_recall_samples_check check (recall_samples between 0 and 10000),
    constraint settings_recall_floor_check check (recall_floor between 0 and 1),
    constraint settings_message_length_penalty_check
        check (message_length_penalty between 0 and 1),
    constraint settings_message_weights_check check (
        message_neighbor_weight between 0 and 1 and message_second_neighbor_weight between 0 and 1
        and message_session_weight between 0 and 1 and message_memory_weight between 0 and 1
        and message_speaker_weight between 0 and 1 and message_feedback_weight between 0 and 1),
    constraint settings_date_weight_check check (date_weight between 0 and 1),
    constraint settings_recalled_turns_check check (recalled_turns between 0 and 1000),
    constraint settings_context_min_match_check check (context_min_match between 0 and 1),
    constraint settings_unrelated_similarity_check check (unrelated_similarity between -1 and 0.9),
    constraint settings_unrelated_deviation_check check (unrelated_deviation between 0 and 1),
    constraint settings_continuation_memory_share_check
        check (continuation_memory_share between 0 and 1),
    constraint settings_cache_stable_memory_tokens_check check (cache_stable_memory_tokens >= 0),
    constraint settings_compaction_threshold_check check (compaction_threshold between 0.1 and 1),
    constraint settings_compaction_keep_check check (compaction_keep between 1 and 1000),
    constraint settings_job_max_attempts_check check (job_max_attempts between 1 and 100),
    constraint settings_daily_cost_limit_microcents_check
        check (daily_cost_limit_microcents >= 0),
    constraint settings_daily_user_cost_limit_microcents_check
        check (daily_user_cost_limit_microcents >= 0),
    constraint settings_user_cost_limit_microcents_check
        check (user_cost_limit_microcents >= 0),
    constraint settings_run_details_retention_check
        check (run_details_retention >= interval '1 hour'),
    constraint settings_maintenance_lock_time_check
        check (maintenance_lock_time between interval '0' and interval '1 minute'),
    constraint settings_promotion_accesses_check check (
        episodic_promotion_accesses between 1 and 1000000
        and durable_promotion_accesses between 1 and 1000000),
    constraint settings_demotion_check check (
        demotion_age >= interval '0' and demotion_accesses_per_hour between 0 and 1000),
    constraint settings_decay_importance_check check (decay_importance between 0 and 0.5),
    constraint settings_decay_times_check check (
        decay_idle >= interval '1 hour'
        and decay_lifetime between interval '0' and interval '1000 years'),
    constraint settings_history_retention_check
        check (history_retention between interval '1 day' and interval '1000 years'),
    constraint settings_ledger_check check (ledger in ('off', 'calls', 'streams')),
    constraint settings_ledger_max_body_check check (ledger_max_body between 1024 and 268435456),
    constraint settings_retention_check check (
        phase_retention >= interval '1 day' and ledger_retention >= interval '1 day'
        and ended_vector_retention >= interval '0'
        and message_search_retention >= interval '0'),
    -- The sum of a time and a longer interval overflows, unless the interval is infinite.
    constraint settings_intervals_check check (
        greatest(nullif(receipt_ttl, 'infinity'), nullif(future_skew, 'infinity'),
                 nullif(extract_after_idle, 'infinity'),
                 nullif(run_details_retention, 'infinity'), nullif(demotion_age, 'infinity'),
                 nullif(decay_idle, 'infinity'), nullif(phase_retention, 'infinity'),
                 nullif(ledger_retention, 'infinity'), nullif(ended_vector_retention, 'infinity'),
                 nullif(message_search_retention, 'infinity')) <= interval '1000 years')
);
create table if not exists recall.settings (like pg_temp.settings including all);

-- Adapt the table of an older version: columns that it lacks, changed defaults, changed checks.
-- A value that equals the former default follows the new one, unless recall.configure set it.
-- Default and NOT NULL follow the column apart: PostgreSQL 17 refuses a column that comes with them
-- where functions use the row type.
do $adapt$
declare
    v_column record;
    v_check  record;
begin
    -- An OID of a configuration keeps pg_upgrade from upgrading the cluster.
    if exists (
        select
          from pg_attribute as a
         where a.attrelid = 'recall.settings'::regclass
           and a.attname  = 'language'
           and a.atttypid = 'regconfig'::regtype
    ) then
        alter table recall.settings
            alter column language drop default,
            alter column language type text using language::text,
            alter column language set default 'english';
    end if;

    for v_column in
        select w.attname as name, format_type(w.atttypid, w.atttypmod) as type, w.attnotnull,
               h.attname is null as is_new,
               coalesce(pg_get_expr(wd.adbin, wd.adrelid), 'null') as wanted,
               coalesce(pg_get_expr(hd.adbin, hd.adrelid), 'null') as former
          from pg_catalog.pg_attribute as w
          left join pg_catalog.pg_attrdef as wd
            on wd.adrelid = w.attrelid and wd.adnum = w.attnum
          left join pg_catalog.pg_attribute as h
            on h.attrelid = 'recall.settings'::regclass and h.attname = w.attname
               and not h.attisdropped
          left join pg_catalog.pg_attrdef as hd
            on hd.adrelid = h.attrelid and hd.adnum = h.attnum
         where w.attrelid = 'pg_temp.settings'::regclass
           and w.attnum > 0
           and (h.attname is null or w.attnotnull <> h.attnotnull
                or pg_get_expr(wd.adbin, wd.adrelid)
                   is distinct from pg_get_expr(hd.adbin, hd.adrelid))
         order by w.attnum
    loop
        if v_column.is_new then
            execute format('alter table recall.settings add column %I %s',
                           v_column.name, v_column.type);
        end if;
        execute format('alter table recall.settings alter column %I set default %s',
                       v_column.name, v_column.wanted);
        execute format('update recall.settings set %1$I = default '
                       'where %1$I is not distinct from (%2$s)::%3$s '
                       'and %1$L <> all (coalesce(configured, ''{}''))',
                       v_column.name, v_column.former, v_column.type);
        execute format('alter table recall.settings alter column %I %s not null', v_column.name,
                       case when v_column.attnotnull then 'set' else 'drop' end);
    end loop;

    for v_check in
        select w.conname as name, pg_get_constraintdef(w.oid) as condition, h.oid is null as is_new
          from pg_catalog.pg_constraint as w
          left join pg_catalog.pg_constraint as h
            on h.conrelid = 'recall.settings'::regclass and h.conname = w.conname
         where w.conrelid = 'pg_temp.settings'::regclass
           and w.contype = 'c'
           and pg_get_constraintdef(w.oid) is distinct from pg_get_constraintdef(h.oid)
         order by w.conname
    loop
        if not v_check.is_new then
            execute format('alter table recall.settings drop constraint %I', v_check.name);
        end if;
        execute format('alter table recall.settings add constraint %I %s',
                       v_check.name, v_check.condition);
    end loop;
end;
$adapt$;

drop table pg_temp.settings;

comment on table recall.settings is
    'One row. Change it with recall.configure, and for one user with '
    'recall.configure_user.';
comment on column recall.settings.singleton is 'Always true: there is one row.';
comment on column recall.settings.embedding_dimensions is
    'Dimensions of embedding_model (1 to 16000; vectors up to 3700 are stored inline). The '
    'installer sets those of the first model, start_embedding_migration those of another.';
comment on column recall.settings.hash_partitions is
    'Partitions of each hash-partitioned table; fixed at installation (0 to 1024). 0: no such '
    'level, for Citus.';
comment on column recall.settings.history_months_ahead is
    'Months of history partitions created in advance (1 to 120).';
comment on column recall.settings.role_prefix is
    'Prefix of the roles that this database grants to; set by the installer.';
comment on column recall.settings.share_roles is
    'Whether other databases of the cluster may use the same roles; set by the installer.';
comment on column recall.settings.owner is
    'Role that the installer was told to make the owner (recall.owner); NULL: nobody chose one.';
comment on column recall.settings.scheduled_by is
    'Role whose pg_cron jobs run maintenance here; set by recall.set_scheduler.';
comment on column recall.settings.scheduled_in is
    'OID of the database of these jobs: a copy of the database has another OID, and no jobs.';
comment on column recall.settings.history_from is
    'Start (UTC) of the unbroken range of months that every partition has; updated by '
    'ensure_partitions.';
comment on column recall.settings.history_until is
    'End (UTC, exclusive) of that range; an append outside of it creates missing months itself.';
comment on column recall.settings.has_sealed_users is
    'Whether a user was ever encrypted; until then no write checks for plaintext. Set by a '
    'trigger.';
comment on column recall.settings.has_overrides is
    'Whether a user ever had settings of their own; until then no call reads them. Set by a '
    'trigger.';
comment on column recall.settings.hidden_embedding_model is
    'The other model while the embedding model changes: the new one before the switch, the old one '
    'until its vectors are deleted. Searches of messages skip its rows. NULL: no change.';
comment on column recall.settings.configured is
    'Names of the settings that recall.configure has set. An upgrade to a version with other '
    'defaults leaves these as they are.';
comment on column recall.settings.embedding_model is
    'Name of the model whose vectors are searched, such as openai:text-embedding-3-small or local.';
comment on column recall.settings.embed_messages is
    'Whether history is embedded and searchable, too; per user.';
comment on column recall.settings.embed_batch is 'Texts per embed job (1 to 2048).';
comment on column recall.settings.language is
    'Text search configuration of memories and messages, simple for an unknown language; per '
    'user. configure_user reindexes the user''s existing texts; a change for all users applies to '
    'new texts only.';
comment on column recall.settings.default_context_window is
    'Window in tokens of a model that `models` lacks. Small, because too small is safe.';
comment on column recall.settings.default_max_response_tokens is
    'Tokens reserved for the response, at most a quarter of the window.';
comment on column recall.settings.tokens_per_message is
    'Tokens that a provider adds to each message of a prompt (0 to 100).';
comment on column recall.settings.tokens_per_image is
    'Tokens of an image, audio or file part without a given count. The default is the maximum for '
    'an image with gpt-4o (OpenAI, "Images and vision").';
comment on column recall.settings.session_ttl is
    'Lifetime of a session after its last message; moves in steps of a day.';
comment on column recall.settings.receipt_ttl is 'How long a request id is stored.';
comment on column recall.settings.future_skew is
    'A created_at up to this far in the future is set to now; a later one is rejected.';
comment on column recall.settings.extraction is
    'How memories are extracted from turns: llm, verbatim (no model) or none; per user or '
    'session.';
comment on column recall.settings.summaries is
    'How long sessions are summarized: llm or none; NULL: llm where extraction is llm, else none. '
    'Per user.';
comment on column recall.settings.answer_within_turns is
    'A tool message must follow its call within this many turns (1 to 100000).';
comment on column recall.settings.extracted_tier is
    'Tier of statements of a user: semantic (durable at once) or session (promoted by use).';
comment on column recall.settings.extract_after_turns is
    'Pending user turns that make an extraction due (1 to 1000).';
comment on column recall.settings.extract_after_idle is
    'Idle time after which an extraction is due with fewer turns.';
comment on column recall.settings.prompt_language is
    'Language of the prompts of all steps (BCP 47); English where that language has no prompt.';
comment on column recall.settings.extract_batch is 'Messages per extraction (1 to 10000).';
comment on column recall.settings.max_facts_per_turn is
    'Facts that an extraction may return per user turn (1 to 100).';
comment on column recall.settings.summarize_after_turns is
    'User turns after which the rolling summary is rewritten (1 to 1000).';
comment on column recall.settings.verbatim_min_words is
    'Words that a statement needs to become a verbatim memory (1 to 100). A statement that names '
    'its author or gives a standing instruction needs two.';
comment on column recall.settings.review_first_sessions is
    'Memories from this many first sessions of the installation are due for review at once (0 to '
    '1000000).';
comment on column recall.settings.session_memory_grace is
    'Lifetime of a session-tier memory after its session''s expiry.';
comment on column recall.settings.episode_lifetime is 'Lifetime of an episodic memory.';
comment on column recall.settings.verbatim_lifetime is 'Lifetime of a verbatim memory.';
comment on column recall.settings.memory_max_characters is
    'Maximum length of a memory in characters (100 to 100000); a longer text is rejected.';
comment on column recall.settings.message_max_characters is
    'Maximum length of the content of a message, of its other fields together, and of a system '
    'prompt, in characters (1000 to 10000000; null: none). Parts and fields count as JSON, with '
    'images in data URLs. A longer message is rejected; those that are stored stay.';
comment on column recall.settings.near_duplicate_distance is
    'Cosine distance up to which a memory is a candidate for near-duplicate (0 to 0.5).';
comment on column recall.settings.durable_confidence is
    'Confidence from which an extracted statement of the user is durable (0 to 1). From 0.5 it '
    'applies in every session for settings.episode_lifetime, below 0.5 only in its own session.';
comment on column recall.settings.protect_user_stated is
    'Whether inferences of tools or the system never supersede statements of the user.';
comment on column recall.settings.source_memories_per_hour is
    'Memories of tools and inferences per session and hour (1 or more; NULL: unlimited). Further '
    'ones raise RC010; an extraction skips them.';
comment on column recall.settings.secrets is
    'Handling of secrets in stored texts: keep, mask (stores a mark such as [secret: api key]) or '
    'refuse (RC003; texts written by a model are masked); per user.';
comment on column recall.settings.secret_classes is
    'Classes of secrets: private_key, api_key, token, password, card; also iban, email, phone. '
    'The call log always masks the first five.';
comment on column recall.settings.require_identity is
    'Whether calls for a user need the user of their transaction (recall.user_id), else RC006. '
    'Logins with the rights of the worker, the admin or the owner do not.';
comment on column recall.settings.merge_above is
    'Memories with the same tag and kind above which a model consolidates them (1 to 1000).';
comment on column recall.settings.merge_batch is
    'Memories in one consolidation (2 to 100, more than merge_above).';
comment on column recall.settings.pattern_episodes is
    'Similar episodes that form a pattern (2 to 20).';
comment on column recall.settings.pattern_within is
    'Maximum age of the episodes of a pattern (1 hour to 10 years).';
comment on column recall.settings.pattern_similarity is
    'Cosine above which two episodes always count as similar (0 to 1).';
comment on column recall.settings.pattern_deviations is
    'Minimum mean pair score of episodes before a model looks for a pattern (2 to 100): standard '
    'deviations above the user''s typical cosine, plus up to 3 for a shared rare word.';
comment on column recall.settings.pattern_jobs_per_day is
    'Maximum pattern jobs of one user in 24 hours (1 to 1000).';
comment on column recall.settings.working_ttl is
    'Lifetime of a working memory value after its last write.';
comment on column recall.settings.items_per_user is 'At most this many items of one user.';
comment on column recall.settings.item_bytes_per_user is
    'At most this many bytes of the values and vectors of one user''s items.';
comment on column recall.settings.scoring is 'Ranking: hybrid or classic; per user.';
comment on column recall.settings.classic_similarity_weight is
    'Classic score: weight of the cosine.';
comment on column recall.settings.classic_freshness_weight is 'Classic score: weight of freshness.';
comment on column recall.settings.classic_frequency_weight is 'Classic score: weight of frequency.';
comment on column recall.settings.classic_authority_weight is
    'Classic score: weight of confidence times authority.';
comment on column recall.settings.freshness_decay_per_hour is
    'λ of exp(−λ · hours since last access).';
comment on column recall.settings.hybrid_similarity_weight is
    'Hybrid score: weight of the min-max normalized cosine.';
comment on column recall.settings.hybrid_lexical_weight is
    'Hybrid score: weight of the min-max normalized lexical rank.';
comment on column recall.settings.hybrid_freshness_weight is 'Hybrid score: weight of freshness.';
comment on column recall.settings.hybrid_frequency_weight is 'Hybrid score: weight of frequency.';
comment on column recall.settings.hybrid_authority_weight is
    'Hybrid score: weight of confidence times authority.';
comment on column recall.settings.decay_mode is
    'none, or multiply: the score times exp(−decay_per_day · days since last access).';
comment on column recall.settings.decay_per_day is 'λ per day of decay_mode multiply.';
comment on column recall.settings.semantic_candidates is 'Minimum candidates by vector.';
comment on column recall.settings.lexical_candidates is 'Minimum candidates by words.';
comment on column recall.settings.frequent_candidates is 'Candidates by access count.';
comment on column recall.settings.exact_search_limit is
    'Memories (or turns) of a user up to which a search is an exact scan. Above it, a search '
    'compares candidates: nearest by sign bits, best by words, most important.';
comment on column recall.settings.rerank_candidates is
    'Above exact_search_limit, at most this many vectors with the nearest sign bits are compared '
    'exactly, or 16 times the limit of the search (50 to 100000).';
comment on column recall.settings.recall_samples is
    'Approximate searches per day whose recall sample_recall measures, for memories and for '
    'messages each (0 to 10000; 0: none).';
comment on column recall.settings.recall_floor is
    'Recall of approximate searches below which health() warns (0 to 1).';
comment on column recall.settings.message_length_penalty is
    'b of BM25 for messages: how much the words of a long turn are discounted (0 to 1).';
comment on column recall.settings.message_neighbor_weight is
    'Share of the better adjacent turn''s score that is added to a turn.';
comment on column recall.settings.message_second_neighbor_weight is
    'The same for turns at distance two.';
comment on column recall.settings.message_session_weight is
    'Share of its session''s best score that is added to a turn.';
comment on column recall.settings.message_memory_weight is
    'Share of a memory''s score that is added to the turns it cites.';
comment on column recall.settings.message_speaker_weight is
    'Score added to a turn whose speaker the query names.';
comment on column recall.settings.message_feedback_weight is
    'Weight of words shared by the best turns, relative to the words of the query; 0: no '
    'feedback.';
comment on column recall.settings.date_weight is
    'Share of its score that a hit gains when it lies in the time named by the query, less in the '
    'week after it (0 to 1; 0: dates in queries are ignored); per user.';
comment on column recall.settings.time_zone is
    'Time zone for relative dates in queries, such as "yesterday": a name of pg_timezone_names; '
    'per user.';
comment on column recall.settings.recalled_turns is
    'Maximum older turns that a context quotes (0 to 1000).';
comment on column recall.settings.context_min_match is
    'Match (recall._match) from which a context derives the least match of a memory, unless the '
    'option min_match overrides it (0 to 1; 0: no limit): 0.4 times this for a query with a word '
    'for its author, 1.5 times this for any other. Per user.';
comment on column recall.settings.unrelated_similarity is
    'Mean cosine that the embedding model gives to unrelated texts: the zero point of '
    'recall._match (-1 to 0.9). calibrate_embeddings measures it.';
comment on column recall.settings.unrelated_deviation is
    'Standard deviation of these cosines (0 to 1).';
comment on column recall.settings.continuation_memory_share is
    'Share of memories in the budget of a continuation; history gets the rest.';
comment on column recall.settings.cache_stable_memory_tokens is
    'Tokens of memories after the history of a cache-stable context, unless memory_budget is '
    'given; a provider''s prompt cache never contains them.';
comment on column recall.settings.compaction_threshold is
    'Share of the history budget from which a session is compacted.';
comment on column recall.settings.compaction_keep is
    'User turns that compaction keeps while they stay below compaction_threshold.';
comment on column recall.settings.job_max_attempts is 'Attempts after which a job is dead.';
comment on column recall.settings.daily_cost_limit_microcents is
    'Micro-cents that the jobs of all users may spend on models in a day (UTC; 0 or more; NULL: '
    'no limit). Checked before each call, so calls in flight can exceed it.';
comment on column recall.settings.daily_user_cost_limit_microcents is
    'The same for the jobs of one user (0 or more; NULL: no limit); per user.';
comment on column recall.settings.user_cost_limit_microcents is
    'Total cost of a user''s sessions in micro-cents, including their jobs, from which '
    'compile_context raises an error (0 or more; NULL: no limit); per user.';
comment on column recall.settings.run_details_retention is
    'How long pg_cron keeps the run details of our jobs (an hour or more); schedule_maintenance '
    'puts it into a job.';
comment on column recall.settings.maintenance_lock_time is
    'Time after which a maintenance transaction ends with the current batch (up to a minute): the '
    'longest wait of a writer.';
comment on column recall.settings.episodic_promotion_accesses is
    'Accesses from which a session-tier memory can become episodic.';
comment on column recall.settings.durable_promotion_accesses is
    'Accesses from which an episodic memory can become semantic or, for behavioral kinds, '
    'procedural.';
comment on column recall.settings.demotion_age is
    'Age from which an episodic memory can be demoted.';
comment on column recall.settings.demotion_accesses_per_hour is
    'An episodic memory of that age expires when accesses ÷ hours since the last access are below '
    'this; 0: never. A memory without any access keeps its lifetime.';
comment on column recall.settings.decay_importance is
    'Memories with a lower importance decay (0 to 0.5; 0: none). Unused for decay_idle, they are '
    'stale: contexts leave them out, except instructions, and those without an expiry get one. A '
    'change applies to contexts at once. It applies to the expiry of memories that are written, '
    'or change their importance, from then on.';
comment on column recall.settings.decay_idle is
    'Time without an access after which a memory below decay_importance is stale (at least an '
    'hour); a use ends it.';
comment on column recall.settings.decay_lifetime is 'Remaining lifetime of a stale memory.';
comment on column recall.settings.history_retention is
    'Minimum time that months of history are kept after their end (a day or more), and until '
    'their sessions are closed, expired or compacted past them. Per user: a longer value keeps '
    'the months that the user shares with others; a shorter one deletes the user''s own rows.';
comment on column recall.settings.drop_expired_history is
    'Whether a detached month of history is dropped; else it stays as a separate table.';
comment on column recall.settings.phase_retention is
    'How long job spans and daily spending are kept (a day or more).';
comment on column recall.settings.ledger is
    'Detail of the drivers'' call log: off, calls (with bodies) or streams (also single stream '
    'events and tool traffic); per user.';
comment on column recall.settings.ledger_retention is
    'How long the call log is kept (a day or more); a month is dropped when all of it is older.';
comment on column recall.settings.ledger_max_body is
    'Bytes of a body that the call log stores (1024 to 268435456); the rest is cut, which '
    'metadata records.';
comment on column recall.settings.ended_vector_retention is
    'How long the vector of an ended memory is kept for searches with as_of.';
comment on column recall.settings.message_search_retention is
    'How long search_messages can find a compacted turn; per user.';

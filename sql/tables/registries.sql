-- Small shared tables: models and their prices, kinds of memory, system prompts.
create table if not exists recall.models (
    model_id            text    not null,
    context_window_size integer not null,
    tokenizer           text,
    input_price         bigint  not null default 0,
    cached_input_price  bigint  not null default 0,
    output_price        bigint  not null default 0,
    constraint models_pkey primary key (model_id),
    constraint models_context_window_size_check check (context_window_size > 0),
    constraint models_prices_check
        check (input_price between 0 and 1000000000000
               and cached_input_price between 0 and 1000000000000
               and output_price between 0 and 1000000000000)
);

comment on table recall.models is
    'Registered models: window, tokenizer, prices. Calls of an unregistered model cost 0 and are '
    'marked.';
comment on column recall.models.model_id is 'Name as sent to the endpoint.';
comment on column recall.models.context_window_size is 'Tokens of prompt and response together.';
comment on column recall.models.tokenizer is 'tiktoken encoding; NULL: unknown.';
comment on column recall.models.input_price is 'Micro-cents per million prompt tokens.';
comment on column recall.models.cached_input_price is
    'Micro-cents per million cached prompt tokens.';
comment on column recall.models.output_price is 'Micro-cents per million completion tokens.';

create table if not exists recall.memory_kinds (
    kind          text     not null,
    description   text     not null,
    lifetime      interval,
    is_behavioral boolean  not null default false,
    review_after  interval,
    constraint memory_kinds_pkey primary key (kind),
    constraint memory_kinds_kind_check check (kind ~ '^[a-z][a-z0-9_]{0,62}$'),
    constraint memory_kinds_lifetime_check
        check (lifetime > interval '0' and lifetime <= interval '1000 years'),
    constraint memory_kinds_review_after_check
        check (review_after > interval '0' and review_after <= interval '1000 years')
);

comment on table recall.memory_kinds is
    'Kinds of memory. An application can add kinds with recall.register_kind.';
comment on column recall.memory_kinds.kind is 'Name: lower case letters, digits, underscores.';
comment on column recall.memory_kinds.description is
    'Description of the kind in the extraction prompt.';
comment on column recall.memory_kinds.lifetime is 'Lifetime of such a memory; NULL: unlimited.';
comment on column recall.memory_kinds.is_behavioral is
    'Whether use promotes such a memory to procedural instead of semantic.';
comment on column recall.memory_kinds.review_after is
    'Time after which the user should be asked to confirm such a memory; NULL: never.';

create table if not exists recall.verbatim_phrases (
    phrase   text collate "C" not null,
    place    text             not null,
    meaning  text             not null,
    language text             not null,
    constraint verbatim_phrases_pkey primary key (place, phrase),
    constraint verbatim_phrases_place_check check (place in ('first', 'last', 'any', 'whole')),
    constraint verbatim_phrases_meaning_check check (
        meaning in ('question', 'request', 'courtesy', 'remark', 'statement', 'filler', 'self',
                    'always', 'you', 'personal', 'material')),
    constraint verbatim_phrases_phrase_check check (
        phrase <> '' and phrase = normalize(lower(phrase collate pg_c_utf8), nfkc)
        and phrase !~ '[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff'
                      '\uf900-\ufaff]{2}')
);

comment on table recall.verbatim_phrases is
    'Phrases by which verbatim extraction recognizes statements. An installation can add its own; '
    'phrases of all languages apply to every message, so a message needs no language.';
comment on column recall.verbatim_phrases.phrase is
    'Words in lower case with one space between them; a character of a script without spaces is a '
    'word. With place any, -x matches the end of the last word.';
comment on column recall.verbatim_phrases.place is
    'Where in a clause: first, last, any, or whole; the longest phrase counts.';
comment on column recall.verbatim_phrases.meaning is
    'Effect on the clause: question, request, courtesy, remark, statement. A filler is skipped, '
    'self refers to the author, you to the assistant, always turns a request into a standing '
    'instruction. Personal marks matters of a person''s life (family, health, work, dates). '
    'Material marks what concerns the chat only: a text, its parts, an error, the screen, the '
    'moment (today, in a meeting).';
comment on column recall.verbatim_phrases.language is 'Language of the phrase, for readers only.';

create table if not exists recall.system_prompts (
    prompt_hash bytea       not null,
    content     text        not null,
    token_count integer     not null,
    created_at  timestamptz not null,
    released_at timestamptz,
    prompt_id   uuid        not null default gen_random_uuid(),
    constraint system_prompts_pkey primary key (prompt_hash, prompt_id),
    constraint system_prompts_token_count_check check (token_count >= 0)
);

comment on table recall.system_prompts is
    'System prompts by hash, shared by sessions; deleted when no session uses them.';
comment on column recall.system_prompts.prompt_hash is 'SHA-256 of the UTF-8 text.';
comment on column recall.system_prompts.content is 'The prompt.';
comment on column recall.system_prompts.token_count is
    'Tokens, given or estimated on the safe side.';
comment on column recall.system_prompts.created_at is 'When it was first stored.';
comment on column recall.system_prompts.released_at is
    'When a session replaced it by another prompt, or an erasure had to leave it; purge_expired '
    'then checks whether any session uses it.';
comment on column recall.system_prompts.prompt_id is
    'Tells copies of a prompt apart. A call stores a copy of its own where it would have to wait '
    'for another user''s transaction.';

create table if not exists recall.prompts (
    name                text        not null,
    language            text        not null default 'en',
    version             text        not null,
    content             text        not null,
    schema              jsonb       not null,
    token_count         integer     not null,
    schema_token_count  integer     not null,
    checksum            bytea       not null,
    is_shipped          boolean     not null default false,
    is_current          boolean     not null default false,
    created_at          timestamptz not null,
    constraint prompts_pkey primary key (name, language, version),
    constraint prompts_name_check check (
        name in ('extract', 'consolidate', 'summarize', 'compact', 'merge', 'pattern', 'verify')),
    constraint prompts_version_check check (version ~ '^[A-Za-z0-9._-]{1,40}$'),
    constraint prompts_language_check check (language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'),
    constraint prompts_content_check check (btrim(content) <> ''),
    constraint prompts_schema_check check (jsonb_typeof(schema) = 'object'),
    constraint prompts_token_counts_check check (token_count > 0 and schema_token_count > 0)
);

comment on table recall.prompts is
    'System prompts of the steps that call a language model, with the JSON schema of the answer. '
    'recall.set_prompt replaces one; versions that were used stay.';
comment on column recall.prompts.name is
    'The step: extract, consolidate, summarize, compact, merge, pattern or verify.';
comment on column recall.prompts.language is
    'Language of the text (BCP 47); settings.prompt_language selects it.';
comment on column recall.prompts.version is
    'Recorded in the provenance of its results: extract@1, or extract@own-1:de when the language '
    'is not English. Plain numbers are releases.';
comment on column recall.prompts.content is 'The system message.';
comment on column recall.prompts.schema is
    'JSON Schema of the answer, in the form that strict modes require; "default" fills in a value '
    'that the model left out, and is not sent.';
comment on column recall.prompts.token_count is 'Tokens of content, estimated on the safe side.';
comment on column recall.prompts.schema_token_count is
    'Tokens of schema, estimated on the safe side.';
comment on column recall.prompts.checksum is 'SHA-256 of content and schema.';
comment on column recall.prompts.is_shipped is 'Whether it is part of a release.';
comment on column recall.prompts.is_current is
    'Whether it is in use; one prompt for each name and language is.';
comment on column recall.prompts.created_at is 'When it was stored.';

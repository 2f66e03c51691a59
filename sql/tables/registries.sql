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
        check (input_price >= 0 and cached_input_price >= 0 and output_price >= 0)
);

comment on table recall.models is
    'Models that are known: window, tokenizer, prices. An unknown model costs nothing and says so.';
comment on column recall.models.model_id is 'Name as sent to the endpoint.';
comment on column recall.models.context_window_size is 'Tokens of prompt and answer together.';
comment on column recall.models.tokenizer is 'tiktoken encoding, or NULL when not known.';
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
    constraint memory_kinds_lifetime_check check (lifetime > interval '0'),
    constraint memory_kinds_review_after_check check (review_after > interval '0')
);

comment on table recall.memory_kinds is
    'What a memory can be. An application may add its own with recall.register_kind.';
comment on column recall.memory_kinds.kind is 'Name: lower case letters, digits, underscores.';
comment on column recall.memory_kinds.description is 'What the extraction prompt says of it.';
comment on column recall.memory_kinds.lifetime is 'Life of such a memory; NULL: for ever.';
comment on column recall.memory_kinds.is_behavioral is
    'Whether use promotes it to procedural instead of semantic.';
comment on column recall.memory_kinds.review_after is
    'Time after which such a memory should be asked again; NULL: never by itself.';

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
    'Phrases by which verbatim extraction tells statements from the rest. An installation may add '
    'its own; all languages are looked up together, so that a message needs no language.';
comment on column recall.verbatim_phrases.phrase is
    'Words in lower case with one space between them; a character of a script without spaces is a '
    'word. With place any, -x is the end of the last word.';
comment on column recall.verbatim_phrases.place is
    'Where in a clause: first, last, any, or whole; the longest phrase counts.';
comment on column recall.verbatim_phrases.meaning is
    'What it makes of the clause: question, request, courtesy, remark, statement. A filler is '
    'skipped, self names the author, you the assistant, always turns a request into '
    'a standing instruction. Personal is what somebody''s life consists of (family, health, work, '
    'dates), material what a chat works on (a text, its parts, an error, the screen).';
comment on column recall.verbatim_phrases.language is 'Language it comes from, for readers only.';

create table if not exists recall.system_prompts (
    prompt_hash bytea       not null,
    content     text        not null,
    token_count integer     not null,
    created_at  timestamptz not null,
    released_at timestamptz,
    constraint system_prompts_pkey primary key (prompt_hash),
    constraint system_prompts_token_count_check check (token_count >= 0)
);

comment on table recall.system_prompts is
    'System prompts by hash, shared by the sessions that use them; collected when none does.';
comment on column recall.system_prompts.prompt_hash is 'SHA-256 of the UTF-8 text.';
comment on column recall.system_prompts.content is 'The prompt.';
comment on column recall.system_prompts.token_count is
    'Tokens, given or estimated on the safe side.';
comment on column recall.system_prompts.created_at is 'When it was first seen.';
comment on column recall.system_prompts.released_at is
    'When a session gave it up for another one; purge_expired looks whether any session uses it.';

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
    'Instructions of the steps that ask a language model, with the JSON schema of the answer. An '
    'installation replaces one by recall.set_prompt; versions that were used stay.';
comment on column recall.prompts.name is
    'The step: extract, consolidate, summarize, compact, merge, pattern or verify.';
comment on column recall.prompts.language is
    'Language of the text (BCP 47); settings.prompt_language chooses.';
comment on column recall.prompts.version is
    'Named in the provenance of what it produced: extract@1, or extract@own-1:de where the '
    'language is not English. Plain numbers are releases.';
comment on column recall.prompts.content is 'The system message.';
comment on column recall.prompts.schema is
    'JSON Schema of the answer, as strict modes want it; "default" fills a value in that a model '
    'left out, and is not sent.';
comment on column recall.prompts.token_count is 'Tokens of content, on the safe side.';
comment on column recall.prompts.schema_token_count is 'Tokens of schema, on the safe side.';
comment on column recall.prompts.checksum is 'SHA-256 of content and schema.';
comment on column recall.prompts.is_shipped is 'Whether it comes with a release.';
comment on column recall.prompts.is_current is 'Whether it is used; one of a name and language.';
comment on column recall.prompts.created_at is 'When it came.';

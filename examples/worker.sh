#!/usr/bin/env bash
# A worker for pgrecall in a shell, with psql and curl: a loop around recall.next_request.
#
# The database plans each request and judges each answer: see docs/reference/job-protocol.md.
# It reads and writes the endpoint's JSON, too.
#
# psql gets the connection by the environment: the process list shows a DSN with its password.
#
#     export PGHOST=… PGDATABASE=… PGUSER=… PGPASSWORD=…
#     export OPENAI_BASE_URL=https://…/v1 OPENAI_API_KEY=…
#     export PGRECALL_WORKER='{"chat_model": "gpt-4o-mini",
#                              "embedding_model": "openai:text-embedding-3-small"}'
#     examples/worker.sh [--until-idle]
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'stopping=yes' TERM # after the job at hand
cd "$folder"
printf 'Content-Type: application/json\nAuthorization: Bearer %s\n' "$OPENAI_API_KEY" >headers
worker=$(tr '\n' ' ' <<<"$PGRECALL_WORKER")

# Run a script in the database and print one value a line; arguments set variables of the script.
database() { psql -XAtq -F $'\n' -v ON_ERROR_STOP=1 "${@/#/--set=}"; }

# Hand in the endpoint's response to the last request, if there was one. Print what is next, the
# worker with the features that its endpoint lacks, and the next request: its id, path and body.
next_request() {
    database user="$user" job="$job" token="$token" worker="$worker" id="$id" \
        status="${status% *}" seconds="${status#* }" <<'SQL'
\set body `cat response 2>/dev/null`
with response as materialized (
    select :'body' as text, :'worker'::jsonb as worker, :status in (400, 413, 422) as is_refused,
           :'body' ~* 'context.?(length|size|window)|too (long|many)' as is_too_long,
           coalesce(:'worker'::jsonb -> 'features', '{}') as known
), learned as (
    select r.*, case when pg_input_is_valid(text, 'jsonb') then text::jsonb end as body, case
               when not is_refused or is_too_long then null
               when text ~ 'max_completion_tokens' and not known ? 'limit'
                   then jsonb '{"limit": "max_completion_tokens"}'
               when text ~ 'temperature' and not known ? 'temperature'
                   then '{"temperature": false}'
               when text ~ 'schema|format|grammar' and not known ? 'schema_lengths'
                   then '{"schema_lengths": false}'
               when text ~ 'schema|format|grammar' and not known ? 'response_format'
                   then '{"response_format": "text"}' end as feature
      from response as r
), answered as (
    select '{"encryption": false}' || worker
               || jsonb_build_object('features', known || coalesce(feature, '{}')), case
               when :'id' = '' or feature is not null then null
               when :status = 200 and body #> '{data,0,embedding}' is not null
                   then jsonb_build_object('vectors', jsonb_path_query_array(
                       body, '$.data[*].embedding'))
               when :status = 200 and body #> '{choices,0,message}' is not null
                   then jsonb_build_object('content', body #> '{choices,0,message,content}',
                                           'refusal', body #> '{choices,0,message,refusal}',
                                           'finish_reason', body #> '{choices,0,finish_reason}')
               else jsonb_build_object('error', jsonb_build_object(
                   'code', case when is_refused and is_too_long then 'context_length'
                                else 'HTTP ' || :status end,
                   'message', left(text, 1000), 'retryable', not is_refused))
           end || jsonb_build_object('request_id', :'id', 'model', body -> 'model',
                                     'usage', body -> 'usage', 'latency_ms', :seconds * 1000)
      from learned
), asked as (
    select worker, recall.next_request(:'user', :'job', :'token', worker, answer) as next
      from answered as a (worker, answer)
)
select next ->> 'type', worker, next ->> 'request_id',
       case next ->> 'type' when 'chat' then 'chat/completions' else 'embeddings' end,
       case next ->> 'type'
           when 'chat' then next - '{type,request_id,purpose}'::text[]
           when 'embed' then jsonb_build_object(
               'model', regexp_replace(next ->> 'model', '^openai:', ''), 'input', next -> 'inputs')
           else next end
  from asked;
SQL
}

while [ -z "${stopping:-}" ]; do
    database >job <<<"select user_id, job_id, lease_token
                        from recall.claim_jobs('worker.sh', p_lease => '15 minutes')"
    if ! { read -r user && read -r job && read -r token; } <job; then
        [ "${1:-}" != --until-idle ] || break
        sleep 1
        continue
    fi
    id='' status='0 0'
    while :; do
        next_request >next
        { read -r type; read -r worker; read -r id; read -r path; read -r request; } <next
        case $type in chat | embed) ;; *) break ;; esac
        # A request ends after twice 420 seconds. Without a connection the status is 000.
        : >response
        status=$(curl -sS --max-time 420 --retry 1 -H @headers --data-binary @- -o response \
            -w '%{http_code} %{time_total}' "$OPENAI_BASE_URL/$path" <<<"$request") || true
    done
    printf '%s\n' "$request"
done

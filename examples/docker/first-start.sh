#!/bin/bash
# Install the schema at the first start, and create the logins of the application and the worker.
# The image runs it as the superuser of the new server, on its socket.
#   POSTGRES_USER, POSTGRES_DB               as the image documents them
#   PGRECALL_EMBEDDING_DIMENSIONS            numbers of a vector (default 1536)
#   PGRECALL_APP_PASSWORD, PGRECALL_WORKER_PASSWORD
set -euo pipefail
: "${PGRECALL_APP_PASSWORD:?} ${PGRECALL_WORKER_PASSWORD:?}"
export PGOPTIONS="-c recall.embedding_dimensions=${PGRECALL_EMBEDDING_DIMENSIONS:-1536}"

sql() { psql -qX -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" "$@"; }

sql -c 'create extension pg_cron'
sql -f "${PGRECALL_FILES:-/usr/local/share/pgrecall}/sql/install.sql"
sql -v app="$PGRECALL_APP_PASSWORD" -v worker="$PGRECALL_WORKER_PASSWORD" <<'SQL'
create role app login password :'app';
create role worker login password :'worker';
grant recall_writer to app;
grant recall_worker to worker;
select recall.configure('{"require_identity": true}');
select from recall.schedule_maintenance();
SQL

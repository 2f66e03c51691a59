#!/usr/bin/env bash
# debian_pg.sh setup|mount|start|stop|dsn|pgbouncer: PostgreSQL 17 of Debian 13, with pg_cron,
# vector, PL/Proxy, pgTAP and plpgsql_check, in a chroot: a second server to test on, without
# containers.
#
# `pgbouncer PORT [SETTING=VALUE ...]` runs PgBouncer before the server, on 127.0.0.1:PORT in
# transaction mode, in the foreground until it is terminated. `mount` prepares the chroot for a
# server that somebody else starts.
#
#   PGRECALL_CHROOT   folder of the chroot (default /var/tmp/pgrecall-debian); reused if complete
#   PGRECALL_PORT     the port on 127.0.0.1 (default 54217)
#   PGRECALL_CRON_DB  the database pg_cron works in (default recall_cron)
#
# Needs root. The superuser `postgres` is trusted on 127.0.0.1, and `start` removes the data of a
# server that has ended: for tests only.
set -euo pipefail

root=${PGRECALL_CHROOT:-/var/tmp/pgrecall-debian}
if [ -e "$root" ] && [ ! -O "$root" ]; then
    echo "$root belongs to another account" >&2
    exit 1
fi
port=${PGRECALL_PORT:-54217}
cron_db=${PGRECALL_CRON_DB:-recall_cron}
bin=/usr/lib/postgresql/17/bin
data=/srv/pgrecall-$port
packages=postgresql-17,postgresql-17-cron,postgresql-17-pgvector,postgresql-17-pgtap
packages+=,postgresql-17-plpgsql-check,postgresql-17-plproxy,pgbouncer,locales

say() { printf '%s\n' "$*" >&2; }

as_postgres() { chroot "$root" /usr/sbin/runuser -u postgres -- "$@"; }

complete() {
    [ -x "$root$bin/postgres" ] &&
        [ -x "$root/usr/sbin/pgbouncer" ] &&
        chroot "$root" locale -a 2>/dev/null | grep -qx tr_TR.utf8 &&
        [ -e "$root/usr/share/postgresql/17/extension/plpgsql_check.control" ] &&
        [ -e "$root/usr/share/postgresql/17/extension/plproxy.control" ] &&
        [ -e "$root/usr/share/postgresql/17/extension/pg_cron.control" ]
}

setup() {
    if complete; then
        say "chroot $root is complete"
        return
    fi
    if [ -x "$root$bin/postgres" ]; then
        # an older chroot: a running server finds a new extension without a restart
        say "adding packages to $root"
        chroot "$root" apt-get update -q >&2
        DEBIAN_FRONTEND=noninteractive chroot "$root" \
            apt-get install -qy --no-install-recommends ${packages//,/ } >&2 && complete && return
    fi
    if ! command -v debootstrap >/dev/null; then
        apt-get update -q >&2
        DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends debootstrap >&2
    fi
    local mirror
    # the Debian mirror of this machine, whichever it is
    # shellcheck disable=SC2016
    mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep '/debian/\?$' | sort -u | head -n 1)
    say "installing Debian 13 with PostgreSQL 17 into $root"
    rm -rf "$root"
    mkdir -p "$root"
    debootstrap --variant=minbase --include="$packages" trixie "$root" "$mirror" >&2
    chroot "$root" localedef -i tr_TR -f UTF-8 tr_TR.UTF-8 >&2
    complete || { say "debootstrap left $root incomplete"; exit 1; }
}

mount_what_it_needs() {
    # A machine that forbids mounts may have them already, or a server that does without: the
    # shared memory of PostgreSQL then goes to the folder of the chroot.
    if ! mountpoint -q "$root/proc"; then
        mount -t proc proc "$root/proc" 2>/dev/null || say "no /proc in the chroot"
    fi
    mkdir -p "$root/dev/shm"
    if ! mountpoint -q "$root/dev/shm"; then
        mount -t tmpfs -o size=1g tmpfs "$root/dev/shm" 2>/dev/null ||
            { chmod 1777 "$root/dev/shm"; say "no tmpfs in the chroot"; }
    fi
    [ -c "$root/dev/null" ] || mknod -m 666 "$root/dev/null" c 1 3 2>/dev/null || true
}

# The server's files are in memory, where there is room: the tests make and drop databases of
# thousands of files each.
keep_data_in_memory() {
    local available
    available=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
    if ! mountpoint -q "$root$data" && ((available > 8 << 20)); then
        mount -t tmpfs -o size=4g tmpfs "$root$data" 2>/dev/null || true
    fi
}

start() {
    complete || { say "run '$0 setup' first"; exit 1; }
    mount_what_it_needs
    chroot "$root" install -d -o postgres -g postgres /run/postgresql
    if as_postgres $bin/pg_isready -q -h 127.0.0.1 -p "$port"; then
        say "the server runs already"
        return
    fi
    # a run of the tests that was killed leaves databases, which hold the roles recall_*
    umount "$root$data" 2>/dev/null || true
    rm -rf "${root:?}$data" "$root/run/postgresql/.s.PGSQL.$port"{,.lock}
    mkdir -p "$root$data"
    keep_data_in_memory
    chroot "$root" install -d -o postgres -g postgres -m 700 "$data"
    as_postgres $bin/initdb -D "$data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 \
        --no-sync >/dev/null
    cat >>"$root$data/postgresql.conf" <<CONF
port = $port
listen_addresses = '127.0.0.1'
unix_socket_directories = '/run/postgresql'
shared_preload_libraries = 'pg_cron,pg_stat_statements'
cron.database_name = '$cron_db'
cron.use_background_workers = on
cron.timezone = 'UTC'
max_worker_processes = 16
timezone = 'UTC'
fsync = off
synchronous_commit = off
full_page_writes = off
max_wal_size = 256MB
CONF
    if ! as_postgres $bin/pg_ctl -D "$data" -l "$data/server.log" -w -t 60 start >/dev/null; then
        tail -n 20 "$root$data/server.log" >&2
        exit 1
    fi
    as_postgres psql -qX -p "$port" -d postgres -c "create database \"$cron_db\"" >&2
}

stop() {
    if [ -s "$root$data/PG_VERSION" ]; then
        as_postgres $bin/pg_ctl -D "$data" -m fast -w stop >/dev/null || true
        umount "$root$data" 2>/dev/null || true
    fi
    # another server in this chroot may still need what start mounted
    local users
    users=$(find /proc -mindepth 2 -maxdepth 2 -name root -lname "$(realpath "$root")" \
        2>/dev/null) || true # processes come and go
    if [ -z "$users" ]; then
        umount "$root/dev/shm" "$root/proc" 2>/dev/null || true
    fi
}

pgbouncer() {
    complete || { say "run '$0 setup' first"; exit 1; }
    local folder=/run/pgbouncer-$1
    chroot "$root" install -d -o postgres -g postgres -m 700 "$folder"
    cat >"$root$folder/pgbouncer.ini" <<INI
[databases]
* = host=127.0.0.1 port=$port
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $1
unix_socket_dir =
auth_type = trust
auth_file = $folder/users
pool_mode = transaction
ignore_startup_parameters = extra_float_digits
$(printf '%s\n' "${@:2}")
INI
    echo '"postgres" ""' >"$root$folder/users"
    # no process between: what ends this one ends PgBouncer
    exec chroot --userspec=postgres:postgres "$root" /usr/sbin/pgbouncer -q "$folder/pgbouncer.ini"
}

case ${1:-} in
    setup) setup ;;
    mount) complete && mount_what_it_needs ;;
    start) start ;;
    stop) stop ;;
    dsn) echo "postgresql://postgres@127.0.0.1:$port/postgres" ;;
    pgbouncer) pgbouncer "${@:2}" ;;
    *) say "usage: $0 setup|mount|start|stop|dsn|pgbouncer"; exit 2 ;;
esac

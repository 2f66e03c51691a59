"""`python -m soak`: run a soak, print its table, and exit with 1 when something was wrong."""

from __future__ import annotations

import argparse
import json
import secrets
import signal
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from soak.ledger import read_ledgers
from soak.record import record, table
from soak.run import Choices, is_debian_here, running


def soaked(choices: Choices, *, keep: bool = False) -> dict[str, Any]:
    """Run a soak and return its record."""
    with running(choices) as soak:
        began = time.monotonic()
        soak.load()
        soak.finish()
        entries, _ = read_ledgers(choices.folder)
        with soak.servers.primary.connect() as conn:
            version = (conn.execute("show server_version").fetchone() or ("?",))[0]
        left_out = [] if choices.is_debian else ["PgBouncer", "pg_cron"]
        left_out += [f"the {name} worker" for name in ("shell", "node")
                     if name not in soak.worker_names()]  # fmt: skip
        made = record(
            entries, list(soak.violations), soak.outages, soak.samples, soak.counts,
            date=f"{datetime.now(UTC):%Y-%m-%d}", server=f"PostgreSQL {version}",
            left_out=left_out, minutes=choices.minutes, seed=choices.seed,
            seconds=round(time.monotonic() - began), checks=len(soak.checked),
        )  # fmt: skip
        if not keep:
            soak.servers.remove()
    return made


def main() -> int:
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--port", type=int, default=54306)
    parser.add_argument("--folder", type=Path, help="default: a new one")
    parser.add_argument("--server", choices=["debian", "embedded"],
                        help="default: Debian's, where its chroot is complete")  # fmt: skip
    parser.add_argument("--output", type=Path, help="file of the record, as JSON")
    parser.add_argument("--sabotage", type=Path, help="SQL that breaks the schema, for a proof")
    parser.add_argument("--keep", action="store_true", help="keep the servers' folders")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="pgrecall-soak-", dir="/var/tmp"))
    is_debian = is_debian_here() if given.server is None else given.server == "debian"
    choices = Choices(
        given.minutes, given.seed, given.port, folder, is_debian,
        None if given.sabotage is None else given.sabotage.read_text(encoding="utf-8"),
    )  # fmt: skip
    # a terminated soak ends its servers, too
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"seed {choices.seed}, {choices.minutes:g} minutes, folder {choices.folder}", flush=True)
    made = soaked(choices, keep=given.keep)
    if given.output is not None:
        given.output.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    print(table(made))
    for what in made["left_out"]:
        print(f"left out: {what}")
    for text in made["violation_texts"]:
        print(f"violation: {text[:1000]}")
    return 1 if made["violations"] else 0


if __name__ == "__main__":
    sys.exit(main())

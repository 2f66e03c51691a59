"""Measure masking on texts that are full of secrets, or of the beginnings of secrets.

python benchmarks/masking.py [--dsn DSN] [--rounds 3] [--show 12]

The benchmark repeats each text of PREFIXES and DENSE (tests/support/secret_shapes.py) to 1 MB. It
prints the fewest milliseconds of the server's process and of the driver, the slowest text first.
The reference is regexp_count of the numbers in 1 MB, 10 ms on a quiet machine. Exit status 1 when a
text takes more than 200 ms by that measure.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from pgrecall.calls._redaction import Redactor
from target import database, processor_ms

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from support.secret_shapes import DENSE, PREFIXES  # noqa: E402

SIZE = 1_000_000
GOAL = 200.0
REFERENCE_MS = 10.0
CLASSES = ["private_key", "api_key", "token", "password", "card", "iban", "email", "phone"]


def filled(text: str) -> str:
    """Return 1 MB of a text."""
    return (text * (SIZE // len(text) + 1))[:SIZE]


def fewest(work: Callable[[], object], clock: Callable[[], float], rounds: int) -> float:
    """Return the fewest milliseconds of some work, by a clock."""
    taken = []
    for _ in range(rounds):
        started = clock()
        work()
        taken.append(clock() - started)
    return min(taken)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dsn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--show", type=int, default=12)
    arguments = parser.parse_args()
    with database(arguments.dsn, dimensions=384) as db:
        report(db, arguments.rounds, arguments.show)


def report(db: psycopg.Connection[Any], rounds: int, show: int) -> None:
    """Measure and print; exit with status 1 above the goal."""
    db.prepare_threshold = None  # a generic plan would hold the result of the reference
    patterns = db.execute("select recall._pattern_list(%s)", [CLASSES]).fetchone()
    assert patterns is not None
    redactor = Redactor(patterns[0], headers="")

    def server_ms() -> float:
        worked = processor_ms(db)
        return time.perf_counter() * 1000 if worked is None else worked

    def driver_ms() -> float:
        return time.process_time() * 1000

    def in_server(query: str, *parameters: Any) -> float:
        return fewest(lambda: db.execute(query.encode(), parameters), server_ms, rounds)

    reference = in_server("select regexp_count(%s, '\\d+')",
                          filled("The quick brown fox 12 jumps. "))  # fmt: skip
    taken = []
    for repeated in [*PREFIXES, *DENSE]:
        text = filled(repeated)
        server = in_server("select length(recall._redact(%s, %s))", text, CLASSES)
        driver = fewest(lambda text=text: redactor.text(text), driver_ms, rounds)  # type: ignore[misc]
        taken.append((max(server, driver), server, driver, repeated))
    quiet = REFERENCE_MS / reference
    print(f"ms of processor time for 1 MB; the reference took {reference:.1f}\n")
    print("| | SQL | driver |\n|---|---|---|")
    for _, server, driver, repeated in sorted(taken, reverse=True)[:show]:
        print(f"| `{repeated[:40]!r}` | {server:.0f} | {driver:.0f} |")
    worst = max(taken)[0] * min(quiet, 1)
    print(f"\n{len(taken)} texts, the slowest {worst:.0f} by the reference, at most {GOAL:.0f}")
    if worst > GOAL:
        sys.exit(1)


if __name__ == "__main__":
    main()

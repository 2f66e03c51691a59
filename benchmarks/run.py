"""Run the main benchmarks: `make bench ARGS="--data locomo.json --scorer retrieval_score.py"`.

Without the data for retrieval quality the run omits that part and prints a message. `--peers` adds
the peers, which come from PyPI and take a while.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> int:
    """Run them one after the other; the first failure ends the run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dsn", help="a superuser's DSN (default: a temporary embedded server)")
    parser.add_argument("--data", help="conversations in the format of LoCoMo")
    parser.add_argument("--scorer", help="the scorer that comes with them")
    parser.add_argument("--peers", action="store_true", help="measure the peers, too")
    options = parser.parse_args()
    server = ["--dsn", options.dsn] if options.dsn else []

    print("## Beside the bare statements\n", flush=True)
    subprocess.run([sys.executable, HERE / "floor.py", *server], check=True)
    print("\n## Beside the peers\n", flush=True)
    if options.peers:
        subprocess.run([sys.executable, HERE / "peers" / "run.py", *server], check=True)
    else:
        print("left out: give --peers")
    print("\n## Retrieval quality\n", flush=True)
    if options.data is None or options.scorer is None:
        print("left out: give --data and --scorer")
        return 0
    data = ["--data", options.data, "--scorer", options.scorer]
    return subprocess.run(
        [sys.executable, HERE / "retrieval_quality.py", *data, *server], check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())

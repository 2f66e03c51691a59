"""Cut a release: check the tree, build what is published, and freeze the fixture of the version.

`make release` runs it from a clean checkout. It writes `tests/releases/VERSION` with two filled
installations, what they answer, the release's wheel and a session for its driver. The next version
is set by `make bump VERSION=…`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RELEASED = re.compile(r"\d+\.\d+\.\d+")
VERSION = re.compile(RELEASED.pattern + r"(\.dev\d+)?")
PLACES = {
    "pyproject.toml": re.compile(r'(?m)^(version = ")([^"]*)(")$'),
    "functions/observability/version.sql": re.compile(r"(?m)^(return ')([^']*)(';)$"),
}
"""Where the version stands, as the second group."""
FILES = ("roles.sql", "session.py", "small.sql.gz", "small.json.gz", "awkward.sql.gz",
         "awkward.json.gz")  # fmt: skip
"""The frozen files of a release, beside its wheel."""


def main() -> int:
    """Run one of the two commands, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bump", metavar="VERSION", help="set the version, and do nothing else")
    parser.add_argument("--provisional", action="store_true", help="try it on any tree")
    arguments = parser.parse_args()
    if arguments.bump:
        bump(arguments.bump)
    else:
        release(provisional=arguments.provisional)
    return 0


def versions() -> dict[str, str]:
    """Return the version by the file in which it stands."""
    found = {}
    for name, pattern in PLACES.items():
        ((_, version, _),) = pattern.findall((ROOT / name).read_text(encoding="utf-8"))
        found[name] = version
    return found


def check() -> Iterator[str]:
    """Yield what is wrong with the version and with the frozen releases, for `make lint`."""
    found = versions()
    if len(set(found.values())) > 1:
        yield f"versions differ: {found}"
    for name, version in found.items():
        if not VERSION.fullmatch(version):
            yield f"{name}: {version} is neither X.Y.Z nor X.Y.Z.devN"
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for version in re.findall(rf"(?m)^## ({RELEASED.pattern}) - ", text):
        folder = ROOT / "tests" / "releases" / version
        names = {path.name for path in folder.glob("*")} | {
            path.suffix for path in folder.glob("*")
        }
        missing = {*FILES, ".whl"} - names
        if missing:
            yield f"tests/releases/{version} lacks {', '.join(sorted(missing))}: run `make release`"


def bump(version: str) -> None:
    """Set the version."""
    if not VERSION.fullmatch(version):
        sys.exit(f"{version} is neither X.Y.Z nor X.Y.Z.devN")
    for name, pattern in PLACES.items():
        path = ROOT / name
        text = pattern.sub(rf"\g<1>{version}\g<3>", path.read_text(encoding="utf-8"))
        path.write_text(text, encoding="utf-8")
    changelog = ROOT / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8")
    if ".dev" in version and "\n## Unreleased\n" not in text:
        changelog.write_text(text.replace("\n## ", "\n## Unreleased\n\n## ", 1), encoding="utf-8")


def release(*, provisional: bool) -> None:
    """Write the fixture and the files to publish."""
    (version,) = set(versions().values())
    folder = ROOT / "tests" / "releases" / version
    changelog = ROOT / "CHANGELOG.md"
    before = changelog.read_text(encoding="utf-8")
    if not provisional:
        if not RELEASED.fullmatch(version):
            sys.exit(f"{version} is a development version: run `make bump VERSION=X.Y.Z` first")
        if folder.exists():
            sys.exit(f"{folder.relative_to(ROOT)} exists, and a release never changes")
        if _git("status", "--porcelain", "--untracked-files=no"):
            sys.exit("commit first: a release is made of what is committed")
        if before.count("\n## Unreleased\n") != 1:
            sys.exit("CHANGELOG.md has no heading 'Unreleased'")
        heading = f"\n## {version} - {datetime.now(UTC):%Y-%m-%d}\n"
        changelog.write_text(before.replace("\n## Unreleased\n", heading), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        _write(folder)
    except BaseException:
        changelog.write_text(before, encoding="utf-8")
        shutil.rmtree(folder)
        raise
    size = sum(file.stat().st_size for file in folder.iterdir() if file.suffix != ".whl")
    print(f"{folder.relative_to(ROOT)}: {size / 1e6:.2f} MB and a wheel")
    if not provisional:
        print(
            "Test it, then:\n"
            f"    git add tests/releases CHANGELOG.md && git commit -m 'Release {version}'\n"
            f"    git tag v{version}\n"
            "    make bump VERSION=X.Y.0.dev0, and commit that"
        )


def _write(folder: Path) -> None:
    subprocess.run(["make", "dist"], cwd=ROOT, check=True)
    (wheel,) = (ROOT / "dist").glob("*.whl")
    shutil.copy(wheel, folder)
    shutil.copy(ROOT / "tests" / "support" / "released_session.py", folder / "session.py")
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]
    from support import released  # type: ignore[import-not-found]
    from support.servers import running_server  # type: ignore[import-not-found]

    with running_server("embedded") as server:
        released.write(server, folder)


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


if __name__ == "__main__":
    sys.exit(main())

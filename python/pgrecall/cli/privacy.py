"""`pgrecall forget`, `export`, `import-user`, `seal`, `rotate-key`, `verify`: all of one user."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import IO, Any

import click

from pgrecall._names import id_or_name
from pgrecall._plain import escaped_json
from pgrecall._sql import User
from pgrecall.cli._output import (
    confirm,
    note,
    print_error,
    print_json,
    print_status,
    print_table,
    say,
)
from pgrecall.cli._target import (
    described,
    json_option,
    named_dsn,
    opened,
    target_option,
    user_option,
)

__all__ = [
    "export_command",
    "forget_command",
    "import_user_command",
    "rotate_key_command",
    "seal_command",
    "verify_command",
]


def _print_counts(title: str, counts: dict[str, int]) -> None:
    print_table(
        ["table", "rows"],
        ([name, number] for name, number in sorted(counts.items()) if number),
        title=title,
    )


def _object(text: bytes, file: Any, what: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise click.ClickException(f"{file.name} is no JSON document: {error}") from None
    if not isinstance(document, dict):
        raise click.ClickException(f"{file.name} is no {what}")
    return document


def _documents(file: Any) -> Iterator[dict[str, Any]]:
    """Yield the documents of an export: one a line, or one over several lines."""
    first = file.readline()
    is_whole = first.startswith(b"{") and first.rstrip().endswith(b"}")
    for line in chain([first], file) if is_whole else [first + file.read()]:
        yield _object(line, file, "export of a user")


@click.command("forget")
@user_option
@click.option("--yes", is_flag=True, help="Do not ask. Needed without a terminal.")
@target_option
@json_option
def forget_command(user: User, yes: bool, dsn: str | None, as_json: bool) -> int:
    """Erase all data of a user. Fails when the user has no data.

    Keep the receipt (--json): it cleans a restored backup.
    """
    confirm(f"Delete everything of {user} in {described(named_dsn(dsn))}, for good?", yes=yes)
    with opened(dsn, no_embedding=True) as memory:
        receipt = memory.privacy.forget_user(user)
    # a prompt that no session uses any more goes with any erasure
    was_known = any(rows for name, rows in receipt["counts"].items() if name != "system_prompts")
    if as_json:
        print_json(receipt)
    elif was_known:
        _print_counts(f"forgotten: {user}", receipt["counts"])
        say("Not reached:")
        for line in receipt["not_reached"]:
            say(f"- {line}")
    if not was_known:
        print_error(f"there is no user {user}: nothing was deleted here")
    return int(not was_known)


@click.command("export")
@user_option
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file. Default: stdout."
)
@click.option(
    "--sealed", is_flag=True, help="Export ciphertexts and wrapped keys, for import elsewhere."
)
@target_option
@json_option
def export_command(
    user: User, output: Path | None, sealed: bool, dsn: str | None, as_json: bool
) -> None:
    """Write everything of a user: a line of JSON, or several for a large user."""
    counts: Counter[str] = Counter()
    with opened(dsn, no_embedding=True) as memory, ExitStack() as stack:
        file: IO[str] | None = None
        for piece in memory.privacy.export_user_pieces(user, sealed=sealed):
            counts.update({name: len(rows) for name, rows in piece["tables"].items()})
            if output is None:
                print_json(piece, indent=None)
                continue
            if file is None:  # not before there is such a user
                # somebody's whole life: for nobody else on this machine
                handle = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                file = stack.enter_context(os.fdopen(handle, "w", encoding="utf-8"))
            file.write(escaped_json(json.dumps(piece, ensure_ascii=False)) + "\n")
    if output is None:
        return
    if as_json:
        print_json({"output": str(output), "counts": counts})
    else:
        note(f"{counts.total()} rows in {output}")


@click.command("import-user")
@click.argument("file", type=click.File("rb"))
@click.option(
    "--allow-weaker",
    is_flag=True,
    help="Import settings that are weaker than those of this database, such as secrets: keep.",
)
@target_option
@json_option
def import_user_command(file: Any, allow_weaker: bool, dsn: str | None, as_json: bool) -> None:
    """Import a user from a FILE of `export` (- for stdin)."""
    documents = _documents(file)
    first = next(documents)
    with opened(dsn, no_embedding=True) as memory:
        if first.get("version") == 2:
            counts = memory.privacy.import_user_pieces(
                chain([first], documents), allow_weaker=allow_weaker
            )
        else:  # alone, since a proxy takes no transaction
            counts = memory.privacy.import_user(first, allow_weaker=allow_weaker)
    if as_json:
        print_json({"user_id": first["user_id"], "counts": counts})
    else:
        _print_counts(f"imported: {first['user_id']}", counts)


@click.command("seal")
@user_option
@click.option(
    "--vectors",
    is_flag=True,
    help="Store unencrypted vectors, to search by meaning; they reveal what a text is about.",
)
@target_option
@json_option
def seal_command(user: User, vectors: bool, dsn: str | None, as_json: bool) -> None:
    """Encrypt a user without data: the driver encrypts every text before it sends it.

    The key encryption keys (KEK) come from PGRECALL_WRAPPING_KEY_FILE or PGRECALL_WRAPPING_KEYS,
    the current one first. Without them nobody can read the user's data. A repeated call changes
    nothing; it fails when these keys cannot unwrap the user's data keys.
    """
    with opened(dsn, no_embedding=True) as memory:
        user_id, is_new = memory.users.id(user), memory.encryption.seal_user(user, vectors=vectors)
    if as_json:
        print_json({"user_id": user_id, "is_new": is_new})
    else:
        note(f"encrypted: {user}" if is_new else f"encrypted already: {user}")


@click.command("rotate-key")
@click.option("--user", type=id_or_name, metavar="USER", help="Whose: a UUID, or any name.")
@click.option("--all", "everybody", is_flag=True, help="All users, with --wrapping-only.")
@click.option(
    "--wrapping-only",
    is_flag=True,
    help="Keep the data key, and rewrap it by the current key encryption key.",
)
@target_option
@json_option
def rotate_key_command(
    user: User | None, everybody: bool, wrapping_only: bool, dsn: str | None, as_json: bool
) -> None:
    """Rotate the data key of an encrypted user: encrypt all of the user's data by a new one.

    The key encryption keys (KEK) come from PGRECALL_WRAPPING_KEY_FILE or PGRECALL_WRAPPING_KEYS,
    the current one first. After --all --wrapping-only the others can be dropped. Reads and writes
    continue meanwhile. After an interruption, run it again.
    """
    if (user is not None) == everybody or (everybody and not wrapping_only):
        raise click.UsageError("name one --user, or --all with --wrapping-only")
    with (
        opened(dsn, no_embedding=True) as memory,
        print_status("encrypting again") as update,
    ):
        rows = 0
        if user is None:
            keys = memory.encryption.rewrap_users(
                progress=lambda count: update(f"{count} keys rewrapped")
            )
        else:
            if not wrapping_only:
                rows = memory.encryption.rotate_user(
                    user, progress=lambda count: update(f"{count} rows encrypted again")
                )
            keys = memory.encryption.rewrap_user(user)
    if as_json:
        print_json({"rows": rows, "rewrapped_keys": keys})
    else:
        note(f"{rows} rows encrypted again, {keys} keys rewrapped")


@click.command("verify")
@user_option
@click.option("--head", type=click.File("rb"), help="A file of --save-head, to compare with.")
@click.option(
    "--save-head",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write number and hash of the last event to this file, for safekeeping elsewhere.",
)
@target_option
@json_option
def verify_command(
    user: User, head: Any | None, save_head: Path | None, dsn: str | None, as_json: bool
) -> int:
    """Find changes of a user's memories and audit that the functions did not make.

    Exits with 1 when there are any, and then saves no head.
    """
    kept = None if head is None else _object(head.read(), head, "head of an audit")
    with opened(dsn, no_embedding=True) as memory:
        findings = memory.privacy.verify_integrity(user, head=kept)
        now = None if findings or save_head is None else memory.privacy.export_head(user)
    if as_json:
        print_json({"findings": findings, "head": now})
    elif findings:
        print_table(
            ["finding", "event", "memory", "detail"],
            ([f.finding, f.event_no, f.memory_id, f.detail] for f in findings),
            title=f"not as it was left: {user}",
        )
    else:
        note(f"intact: {user}")
    if now is not None and save_head is not None:
        save_head.write_text(json.dumps(now) + "\n", encoding="utf-8")
    return int(bool(findings))

"""`pgrecall shards`: several servers behind a PL/Proxy database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any
from uuid import UUID

import click
import psycopg

from pgrecall._limits import Limits
from pgrecall._names import id_or_name
from pgrecall._sql import User
from pgrecall.cli._output import note, print_json, print_table, say
from pgrecall.cli._shards import (
    Shard,
    abandon_move,
    add_shard,
    init_shards,
    move_user,
    shard_states,
)
from pgrecall.cli._target import json_option, named_dsn, target_option

__all__ = ["shards_command"]


@contextmanager
def _proxy(dsn: str | None) -> Iterator[psycopg.Connection[Any]]:
    """Connect to the proxy.

    Raises:
        click.UsageError: no server is named; the embedded one has no PL/Proxy.
    """
    target = named_dsn(dsn)
    if target is None:
        raise click.UsageError("name the proxy by --dsn or PGRECALL_DSN")
    with psycopg.connect(target, autocommit=True, **Limits().connection(target)) as conn:
        conn.execute("set search_path = pg_catalog, pg_temp")  # others may create in public
        yield conn


def _named(
    ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Read NAME=CONNECTION."""
    found: dict[str, str] = {}
    for value in values:
        name, separator, connection = value.partition("=")
        if not separator or not connection.strip():
            raise click.BadParameter("not NAME='host=… dbname=…'", ctx, parameter)
        if name in found:
            raise click.BadParameter(f"shard {name} is given twice", ctx, parameter)
        found[name] = connection
    return found


@click.group("shards")
def shards_command() -> None:
    """Spread users over several servers behind a PL/Proxy database.

    --dsn names the proxy. Its user must be a superuser there, and may act as the owner of the
    schema on each shard.
    """


@shards_command.command("init")
@target_option
@click.option("--shard", "shards", multiple=True, metavar="NAME=CONNECTION", callback=_named,
              help="A shard: its name, and a libpq string without a user, such as "
              "a='host=10.0.0.5 dbname=recall'. Repeat it for each.")  # fmt: skip
@json_option
def init(dsn: str | None, shards: dict[str, str], as_json: bool) -> None:
    """Make a database the proxy of installed shards, or make its functions anew.

    Run it without --shard when all shards are upgraded.
    """
    with _proxy(dsn) as proxy:
        init_shards(proxy, shards)
        _print(shard_states(proxy), as_json)


@shards_command.command("add")
@target_option
@click.argument("name")
@click.argument("connection")
@click.option("--slots", type=click.IntRange(0, 1024), default=0, show_default=True,
              help="How many of the 1,024 slots it gets. Their new users come to it; present "
              "users stay where they are.")  # fmt: skip
@json_option
def add(dsn: str | None, name: str, connection: str, slots: int, as_json: bool) -> None:
    """Add a shard; no user moves. With a known name, change the connection of that shard."""
    with _proxy(dsn) as proxy:
        add_shard(proxy, name, connection, slots=slots)
        _print(shard_states(proxy), as_json)


@shards_command.command("move")
@target_option
@click.argument("user", type=id_or_name)
@click.option("--to", "target", metavar="SHARD", help="The shard to move to.")
@click.option("--abandon", is_flag=True, help="End an interrupted move instead: the user stays.")
@json_option
def move(dsn: str | None, user: User, target: str | None, abandon: bool, as_json: bool) -> None:
    """Move a user, named by a UUID or any name, to another shard.

    Calls go on while the rows are copied, and wait while the last changes are. Run an interrupted
    move again: it continues.
    """
    if (target is None) != abandon:
        raise click.UsageError("pass either --to or --abandon")
    with _proxy(dsn) as proxy:
        user_id = user
        if not isinstance(user_id, UUID):
            row = proxy.execute("select recall.user_id(%s)", [user]).fetchone()
            assert row is not None  # noqa: S101
            user_id = row[0]
        if target is None:
            abandon_move(proxy, user_id, progress=note)
            note(f"the move of {user} is abandoned")
            return
        done = move_user(proxy, user_id, target, progress=None if as_json else note)
    if as_json:
        print_json(asdict(done))
    elif done.source == target:
        say(f"{user} lives on {target} already")
    else:
        say(
            f"moved {user} from {done.source} to {target}: {sum(done.rows.values())} rows in "
            f"{done.seconds:.1f} s; calls waited at most {done.held_seconds * 1000:.0f} ms"
        )


@shards_command.command("status")
@target_option
@json_option
def status(dsn: str | None, as_json: bool) -> int:
    """List the shards. Fails when a shard is down, of another release, or configured otherwise."""
    with _proxy(dsn) as proxy:
        shards = shard_states(proxy)
        unfinished = proxy.execute(
            "select m.user_id::text, f.name, t.name, m.state, m.started_at"
            "  from recall_proxy.moves as m"
            "  join recall_proxy.shards as f on f.shard_no = m.from_shard"
            "  join recall_proxy.shards as t on t.shard_no = m.to_shard order by m.started_at"
        ).fetchall()
    if as_json:
        moves = [dict(zip(("user_id", "source", "target", "state", "started_at"), row, strict=True))
                 for row in unfinished]  # fmt: skip
        print_json({"shards": [asdict(shard) for shard in shards], "unfinished_moves": moves})
    else:
        _print(shards, as_json=False)
        for user_id, source, target, state, started_at in unfinished:
            note(
                f"move of {user_id} from {source} to {target} is not finished ({state}, begun "
                f"{started_at:%Y-%m-%d %H:%M}): pgrecall shards move {user_id} --to {target}"
            )
    return int(any(shard.problems for shard in shards))


def _print(shards: list[Shard], as_json: bool) -> None:
    if as_json:
        print_json([asdict(shard) for shard in shards])
        return
    print_table(
        ("shard", "connection", "version", "users", "slots", "exceptions", "problems"),
        ((shard.name, shard.connection, shard.version, shard.users, shard.slots, shard.exceptions,
          "; ".join(shard.problems)) for shard in shards),
        wide="problems",
    )  # fmt: skip

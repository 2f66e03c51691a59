"""`pgrecall install`."""

from __future__ import annotations

from dataclasses import asdict

import click
import psycopg

from pgrecall._limits import Limits
from pgrecall._setup import EmbeddedDatabase, set_up
from pgrecall.cli._output import print_error, print_json, say
from pgrecall.cli._target import described, json_option, named_dsn, target_option
from pgrecall.models._embedders import embedder_from_name

__all__ = ["install_command"]


def _embedding(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        try:
            embedder_from_name(value)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx, parameter) from None
    return value


def _print_warning(notice: psycopg.errors.Diagnostic) -> None:
    if notice.severity_nonlocalized == "WARNING":
        texts = (notice.message_primary, notice.message_detail, notice.message_hint)
        print_error(f"warning: {'. '.join(text for text in texts if text)}")


@click.command("install")
@target_option
@click.option(
    "--embedding",
    metavar="MODEL",
    callback=_embedding,
    help="local, local:/folder, openai:MODEL or fastembed:NAME. Default for a new installation: "
    "openai:text-embedding-3-small; local on the embedded server.",
)
@click.option(
    "--dimensions",
    type=click.IntRange(1, 16000),
    help="Numbers per vector. Default: that of the model.",
)
@click.option(
    "--hash-partitions",
    type=click.IntRange(0, 1024),
    help="Hash partitions per table. Default for a new installation: 8; 1 is fine for a small one.",
)
@click.option(
    "--extraction",
    type=click.Choice(["llm", "verbatim", "none"]),
    help="How memories are extracted from turns. Default: llm; verbatim on the embedded server.",
)
@click.option(
    "--role-prefix",
    metavar="PREFIX",
    help="Prefix of the roles that the schema grants to. Default for a new installation: recall.",
)
@click.option(
    "--share-roles/--no-share-roles",
    default=None,
    help="Accept that other databases of the cluster use the same roles: their members then have "
    "the same rights in each of them.",
)
@click.option(
    "--owner",
    metavar="ROLE",
    help="Role that owns the schema; an installed schema is handed over to it. Default for a new "
    "installation: PREFIX_owner where the installing role may create it, else that role.",
)
@json_option
def install_command(
    dsn: str | None,
    embedding: str | None,
    dimensions: int | None,
    hash_partitions: int | None,
    extraction: str | None,
    role_prefix: str | None,
    share_roles: bool | None,
    owner: str | None,
    as_json: bool,
) -> None:
    """Install or upgrade the schema. An option that is left out keeps its installed value."""
    target = named_dsn(dsn)
    choices = {
        "embedding": embedding,
        "dimensions": dimensions,
        "hash_partitions": hash_partitions,
        "extraction": extraction,
        "role_prefix": role_prefix,
        "share_roles": share_roles,
        "owner": owner,
    }
    if target is None:
        database = EmbeddedDatabase()
        try:
            with psycopg.connect(database.server.start()) as conn:
                conn.add_notice_handler(_print_warning)
                installed = database.install(conn, **choices)
        finally:
            database.stop()
    else:
        with psycopg.connect(target, **Limits().connection(target)) as conn:
            conn.add_notice_handler(_print_warning)
            installed = set_up(conn, **choices)  # type: ignore[arg-type]
    if as_json:
        print_json(asdict(installed))
        return
    done = "installed" if installed.was_new else "up to date:"
    say(f"{done} schema recall {installed.version} in {described(target)}")
    say(f"  embedding   {installed.embedding_model}, {installed.embedding_dimensions} numbers")
    say(f"  extraction  {installed.extraction}")
    say(f"  partitions  {installed.hash_partitions}")
    say(f"  roles       {installed.role_prefix}_*")

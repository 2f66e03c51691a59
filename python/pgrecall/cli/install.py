"""`pgrecall install`."""

from __future__ import annotations

from dataclasses import asdict

import click
import psycopg

from pgrecall._limits import Limits
from pgrecall._setup import EmbeddedDatabase, set_up
from pgrecall.cli._output import out, print_json
from pgrecall.cli._target import described, json_option, named_dsn, target_option
from pgrecall.embedding import embedder_from_name

__all__ = ["install_command"]


def _embedding(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        try:
            embedder_from_name(value)
        except ValueError as error:
            raise click.BadParameter(str(error), ctx, parameter) from None
    return value


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
    help="Numbers per vector. Default: what the model has.",
)
@click.option(
    "--hash-partitions",
    type=click.IntRange(1, 1024),
    help="Leaves per table. Default for a new installation: 8; 1 is fine for a small one.",
)
@click.option(
    "--extraction",
    type=click.Choice(["llm", "verbatim", "none"]),
    help="How memories are drawn from turns. Default: llm; verbatim on the embedded server.",
)
@json_option
def install_command(
    dsn: str | None,
    embedding: str | None,
    dimensions: int | None,
    hash_partitions: int | None,
    extraction: str | None,
    as_json: bool,
) -> None:
    """Install the schema, or upgrade it. What is not given stays as installed."""
    target = named_dsn(dsn)
    choices = {
        "embedding": embedding,
        "dimensions": dimensions,
        "hash_partitions": hash_partitions,
        "extraction": extraction,
    }
    if target is None:
        database = EmbeddedDatabase()
        try:
            with psycopg.connect(database.server.start()) as conn:
                installed = database.install(conn, **choices)
        finally:
            database.stop()
    else:
        with psycopg.connect(target, **Limits().connection(target)) as conn:
            installed = set_up(conn, **choices)  # type: ignore[arg-type]
    if as_json:
        print_json(asdict(installed))
        return
    done = "installed" if installed.was_new else "up to date:"
    out().print(
        f"{done} schema recall {installed.version} in {described(target)}\n"
        f"  embedding   {installed.embedding_model}, {installed.embedding_dimensions} numbers\n"
        f"  extraction  {installed.extraction}\n"
        f"  partitions  {installed.hash_partitions}"
    )

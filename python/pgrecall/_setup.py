"""Installing with the settings that go with it, and the embedded server made ready."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from pgrecall import schema
from pgrecall._json import to_jsonb
from pgrecall.embedded import EmbeddedServer
from pgrecall.errors import ConfigurationError, raise_translated
from pgrecall.models._embedders import embedder_from_name

__all__ = ["EmbeddedDatabase", "Installed", "set_up"]

DEFAULT_EMBEDDING = "openai:text-embedding-3-small"
EMBEDDED_EMBEDDING = "local"


@dataclass(frozen=True, slots=True)
class Installed:
    """The result of an installation.

    Attributes:
        was_new: whether there was no schema before.
        version: of the schema.
        embedding_model: in the settings.
        embedding_dimensions: in the settings.
        extraction: in the settings.
        hash_partitions: in the settings.
        role_prefix: in the settings.
    """

    was_new: bool
    version: str
    embedding_model: str
    embedding_dimensions: int
    extraction: str
    hash_partitions: int
    role_prefix: str


# Vectors that another model has made; memories and turns are counted once for each model.
_OTHER_VECTORS = b"""
    select s.embedding_model,
           (select count(*) from recall.memory_embedding as e where e.embedding_model <> %(new)s)
           + (select count(*) from recall.memory_embedding_ended as e
               where e.embedding_model <> %(new)s)
           + (select count(*) from recall.message_search as m where m.embedding_model <> %(new)s)
           + (select count(*) from recall.session_summaries as u
               where u.embedding_model <> %(new)s)
      from recall.settings as s
     where s.embedding_model <> %(new)s
"""


# The installer may act as the owner, and need not inherit its rights.
_ACT_AS_OWNER = b"""
    select set_config('role', pg_get_userbyid(n.nspowner), true)
      from pg_namespace as n
     where n.nspname = 'recall'
"""


def set_up(
    conn: psycopg.Connection[Any],
    *,
    embedding: str | None = None,
    dimensions: int | None = None,
    hash_partitions: int | None = None,
    extraction: str | None = None,
    role_prefix: str | None = None,
    share_roles: bool | None = None,
    owner: str | None = None,
    default_embedding: str = DEFAULT_EMBEDDING,
    default_extraction: str | None = None,
) -> Installed:
    """Install or upgrade the schema and write what is chosen into its settings, in one transaction.

    On a new installation None means the defaults, on an installed schema "as installed". The
    dimensions follow from the embedding model when it is known.

    Raises:
        InstallError: the installation was refused; nothing changed.
        ConfigurationError: the dimensions of the model are unknown, or the stored vectors
            come from another model.
    """
    is_new = not _is_installed(conn)
    if is_new:
        embedding = embedding or default_embedding
        extraction = extraction or default_extraction
    if embedding is not None and dimensions is None:
        dimensions = known_dimensions(embedding)
    changes = {
        key: value
        for key, value in (("embedding_model", embedding), ("extraction", extraction))
        if value is not None
    }
    try:
        with conn.transaction():
            conn.execute("set transaction isolation level read committed")
            schema.install(
                conn,
                embedding_dimensions=dimensions,
                hash_partitions=hash_partitions,
                role_prefix=role_prefix,
                share_roles=share_roles,
                owner=owner,
            )
            conn.execute(_ACT_AS_OWNER)
            if not is_new and embedding is not None:
                _check_vectors(conn, embedding)
            if changes:
                conn.execute(
                    "select recall.configure(p_changes => %s)", (to_jsonb(changes, "changes"),)
                )
            [row] = conn.execute(
                "select recall.version(), s.embedding_model, s.embedding_dimensions, s.extraction,"
                " s.hash_partitions, s.role_prefix from recall.settings as s"
            ).fetchall()
    except psycopg.Error as error:
        raise_translated(error)
    return Installed(is_new, *row)


def _check_vectors(conn: psycopg.Connection[Any], embedding: str) -> None:
    """Refuse another embedding model: searches would find none of the vectors that are stored."""
    for installed, count in conn.execute(_OTHER_VECTORS, {"new": embedding}).fetchall():
        if count:
            raise ConfigurationError(
                f"installed with embedding model {installed}, not {embedding}: "
                f"{count} vectors would have to be computed again",
                hint="Leave --embedding out to upgrade. To change the model of stored vectors: "
                f"pgrecall embeddings migrate --to {embedding}",
            )


def known_dimensions(embedding: str) -> int:
    """Return the length of a model's vectors, without asking an endpoint."""
    embedder = embedder_from_name(embedding)
    if embedding.startswith("openai:"):
        known: int | None = getattr(embedder, "_dimensions", None)
        if known is None:
            raise ConfigurationError(
                f"the dimensions of {embedding} are not known", hint="Give --dimensions."
            )
        return known
    return embedder.dimensions


class EmbeddedDatabase:
    """The embedded server of one folder, with the schema installed once it is started.

    Args:
        path: the folder; None is `PGRECALL_HOME`, or its default.
    """

    def __init__(self, path: Path | str | None = None) -> None:
        self.server = EmbeddedServer(path)

    def start(self) -> str:
        """Start or join the server, install or upgrade the schema, and return the DSN."""
        dsn = self.server.start()
        # the digest spares the installation at every start; of a checkout the version is not enough
        stamp = self.server.home / "schema.sha256"
        digest = _schema_digest()
        with psycopg.connect(dsn) as conn:
            if not (_is_installed(conn) and stamp.exists() and stamp.read_text() == digest):
                self.install(conn)
        return dsn

    def install(self, conn: psycopg.Connection[Any], **choices: Any) -> Installed:
        """Install or upgrade as `set_up`, with the defaults of the embedded server."""
        installed = set_up(
            conn,
            default_embedding=EMBEDDED_EMBEDDING,
            default_extraction="verbatim",
            **choices,
        )
        (self.server.home / "schema.sha256").write_text(_schema_digest())
        return installed

    def stop(self) -> None:
        """Leave the server; the last process stops it."""
        self.server.stop()


def _schema_digest() -> str:
    digest = hashlib.sha256()
    for file in schema.install_files():
        digest.update(file.text.encode())
    return digest.hexdigest()


def _is_installed(conn: psycopg.Connection[Any]) -> bool:
    [found] = conn.execute(
        "select pg_catalog.to_regclass('recall.settings') is not null"
    ).fetchall()
    conn.rollback()
    return bool(found[0])

"""Settings of a database that concern the driver, and the embedder that fits them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import ClassVar

from pgrecall.errors import ConfigurationError, InvalidEmbeddingError
from pgrecall.models._embedders import Embedder, embedder_from_name

__all__ = ["DatabaseInfo", "checked_embedder", "default_embedder"]


@dataclass(frozen=True, slots=True)
class DatabaseInfo:
    """The settings that concern the driver.

    Attributes:
        version: of the installed schema.
        embedding_model: the model whose vectors are compared, as `embedder_from_name` takes it.
        embedding_dimensions: their length.
        extraction: how memories are drawn from turns: llm, verbatim or none.
        role_prefix: prefix of the roles that the schema grants to.
    """

    version: str
    embedding_model: str
    embedding_dimensions: int
    extraction: str
    role_prefix: str

    QUERY: ClassVar[bytes] = b"""
        select recall.version(), s.settings ->> 'embedding_model',
               (s.settings ->> 'embedding_dimensions')::integer, s.settings ->> 'extraction',
               s.settings ->> 'role_prefix'
          from recall.get_settings() as s (settings)
    """


def default_embedder(
    info: DatabaseInfo, *, base_url: str | None = None, api_key: str | None = None
) -> Embedder:
    """Return the embedder that the database's settings name.

    Raises:
        ConfigurationError: they name none that is known, or one that needs a key.
    """
    name = info.embedding_model
    base_url = base_url or os.environ.get("OPENAI_BASE_URL")
    api_key = api_key or os.environ.get("OPENAI_API_KEY")
    if name.startswith("openai:") and not (base_url or api_key):
        raise ConfigurationError(
            f"embedding model {name} needs a key",
            hint="Set OPENAI_API_KEY or OPENAI_BASE_URL, pass embedder=…, or work by words with "
            "embedder=False (--no-embedding); pgrecall install --embedding local needs no key.",
        )
    if base_url and not api_key:
        api_key = "none"  # a local server accepts any key
    try:
        return embedder_from_name(
            name, base_url=base_url, api_key=api_key, dimensions=info.embedding_dimensions or None
        )
    except ValueError as error:
        raise ConfigurationError(
            str(error), hint="Change settings.embedding_model, or pass embedder=…"
        ) from error


def checked_embedder(embedder: Embedder, info: DatabaseInfo) -> Embedder:
    """Return the embedder if the database compares vectors like its.

    Raises:
        ConfigurationError: it is another model.
        InvalidEmbeddingError: its vectors are of another length.
    """
    if embedder.model != info.embedding_model:
        raise ConfigurationError(
            f"the embedder is {embedder.model}, the database holds vectors of "
            f"{info.embedding_model}",
            hint="Pass an embedder of that model, or change the model: pgrecall embeddings migrate "
            f"--to {embedder.model}",
        )
    if embedder.dimensions != info.embedding_dimensions:
        raise InvalidEmbeddingError(
            f"vectors of {embedder.model} have {embedder.dimensions} numbers, "
            f"those of this database have {info.embedding_dimensions}",
            hint="Pass an embedder with as many, or change to a model of another name: pgrecall "
            "embeddings migrate",
        )
    return embedder

"""Recognize ciphertexts of client-side encryption, without a key.

Every driver needs this, so that no ciphertext is stored for a user who is not encrypted, and none
is returned as content. `pgrecall.encryption` makes and opens them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from psycopg.types.json import Jsonb

from pgrecall._sql import Call
from pgrecall.errors import InvalidInputError

__all__ = ["PREFIX", "TOKEN", "has_ciphertext", "has_sealed", "is_damaged", "is_sealed", "is_token",
           "refuse_ciphertext"]  # fmt: skip

PREFIX = "sealed:v1:"
TOKEN = re.compile(
    r"sealed:v1:(\d{1,5}):([a-z]+):([A-Za-z0-9_-]{43})?:([A-Za-z0-9_-]{60,})(?![A-Za-z0-9_-])"
)
_HOLDING = {list, tuple, dict}  # what psycopg makes of rows, arrays and JSON
_VECTORS = ("embedding", "embeddings", "query_embedding")


def is_sealed(text: str) -> bool:
    """Return whether a text is, or contains, a ciphertext."""
    return PREFIX in text and TOKEN.search(text) is not None


def is_token(text: str) -> bool:
    """Return whether a text is one ciphertext and nothing else."""
    return text.startswith(PREFIX) and TOKEN.fullmatch(text) is not None


def is_damaged(text: str) -> bool:
    """Return whether a text holds the beginning of a ciphertext without the rest."""
    return PREFIX in text and text.count(PREFIX) > len(TOKEN.findall(text))


def has_sealed(value: Any) -> bool:
    """Return whether a value holds a ciphertext, or the beginning of one, at any depth."""
    return next(_marked(value), None) is not None


def has_ciphertext(value: Any) -> bool:
    """Return whether a value holds a whole ciphertext at any depth."""
    return any(map(is_sealed, _marked(value)))


def _marked(value: Any) -> Iterator[str]:
    """Yield the texts in a value that hold the beginning of a ciphertext.

    Every answer of the database passes here, hence a loop that keeps aside only containers.
    """
    waiting: list[Any] = [(value,)]
    for inner in waiting:  # it grows meanwhile
        for item in (*inner, *inner.values()) if type(inner) is dict else inner:
            kind = type(item)
            if kind is str:
                if PREFIX in item:
                    yield item
            elif kind in _HOLDING:
                waiting.append(item)


def refuse_ciphertext(call: Call) -> None:
    """Refuse a ciphertext in a call for a user who is not encrypted.

    It would be stored as it stands, and no driver would read it again.

    Raises:
        InvalidInputError: a parameter holds one.
    """
    for name, value in call.parameters.items():
        given = value.obj if isinstance(value, Jsonb) else value
        if name not in _VECTORS and has_ciphertext(given):
            raise InvalidInputError(
                f"{name} of {call.function} holds a ciphertext, and the user is not encrypted",
                hint="Pass the readable text. import_user takes an encrypted export.",
            )

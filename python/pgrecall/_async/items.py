"""Items: JSON values of the application under namespaces and keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pgrecall._async.core import AsyncCore
from pgrecall._sql import JSON, UNSET, Unset, User
from pgrecall.rows import Item

__all__ = ["AsyncItems"]

Distance = Literal["cosine", "l2", "inner_product"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Namespace:
    namespace: list[str]


class AsyncItems:
    """A key-value store with namespaces; `AgentMemory.items`."""

    def __init__(self, core: AsyncCore) -> None:
        self._core = core

    async def put(
        self,
        user: User,
        items: Iterable[Mapping[str, Any]],
        *,
        embedding_model: str | Unset = UNSET,
    ) -> int:
        """Store items in one transaction; return how many different ones were named.

        Args:
            user: whose they are.
            items: objects with namespace, key, value (None deletes), and if wanted ttl (minutes)
                and vectors (path, embedding).
            embedding_model: the model of the vectors.

        Raises:
            InvalidInputError: a malformed item, or a secret.
            InvalidEmbeddingError: a malformed vector.
            QuotaError: more items or bytes than the settings allow one user.
        """
        stored: int = await self._core.change_value(
            user, "put_items", items=list(items), embedding_model=embedding_model
        )
        return stored

    async def get(self, user: User, namespace: Sequence[str], keys: Sequence[str]) -> list[Item]:
        """Return items of a namespace by their keys, without unknown and expired ones."""
        return await self._core.read_memory(
            Item, user, "get_items", namespace=list(namespace), keys=list(keys)
        )

    async def search(
        self,
        user: User,
        namespace: Sequence[str] = (),
        *,
        filter: JSON | Unset = UNSET,  # noqa: A002
        embedding: Sequence[float] | Unset = UNSET,
        embedding_model: str | Unset = UNSET,
        distance: Distance | Unset = UNSET,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
    ) -> list[Item]:
        """Return items whose namespace begins with these labels.

        Args:
            user: whose they are.
            namespace: the first labels; none for all namespaces.
            filter: fields of the value, each with a value or an object of `$eq`, `$ne`, `$gt`,
                `$gte`, `$lt`, `$lte`.
            embedding: a vector; the nearest items come first. Without one the latest do.
            embedding_model: its model.
            distance: how vectors are compared.
            limit: at most so many.
            offset: leaves out so many first.

        Raises:
            InvalidInputError: a malformed namespace or filter.
            NotAllowedError: a filter over an encrypted user.
        """
        return await self._core.read_memory(
            Item, user, "search_items", namespace=list(namespace), filter=filter,
            query_embedding=embedding, embedding_model=embedding_model, distance=distance,
            limit=limit, offset=offset,
        )  # fmt: skip

    async def namespaces(
        self,
        user: User,
        *,
        prefix: Sequence[str] = (),
        suffix: Sequence[str] = (),
        max_depth: int | None = None,
        limit: int | Unset = UNSET,
        offset: int | Unset = UNSET,
    ) -> list[tuple[str, ...]]:
        """Return namespaces that hold items, cut to `max_depth`; `*` is any label."""
        found = await self._core.read_memory(
            _Namespace, user, "list_namespaces", prefix=list(prefix), suffix=list(suffix),
            max_depth=max_depth, limit=limit, offset=offset,
        )  # fmt: skip
        return [tuple(row.namespace) for row in found]

    async def touch(self, user: User, items: Iterable[tuple[Sequence[str], str]]) -> int:
        """Renew the lifetime of items, by namespace and key; return how many were renewed."""
        keys: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for namespace, key in items:
            keys[tuple(namespace)].append(key)
        renewed = 0
        for namespace, names in keys.items():
            renewed += await self._core.change_value(
                user, "touch_items", namespace=list(namespace), keys=names
            )
        return renewed

"""Parts of all pages: the database, parameters of a request, and parts that may be refused."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
from starlette.exceptions import HTTPException
from starlette.requests import Request

from pgrecall._sql import UNSET, Unset
from pgrecall.errors import ConfigurationError
from pgrecall.inspector._errors import describe, embedding_failures
from pgrecall.inspector._gate import form_of
from pgrecall.inspector._source import Row, Source

__all__ = ["PAGE_SIZE", "Inspector", "Page", "PageRoute", "Pages", "form", "number", "shortened",
           "text_of", "time_of", "uuid_of"]  # fmt: skip

PAGE_SIZE = 50
_LONGEST_ERROR = 500  # characters of an embedder's error
_LONGEST_NUMBER = 18  # digits; more do not fit a bigint


@dataclass
class Page:
    """A page as data.

    Attributes:
        template: makes HTML of it.
        data: the same as JSON.
        title: of the page.
        status: HTTP status.
    """

    template: str
    data: dict[str, Any]
    title: str
    status: int = 200


Handler = Callable[["Inspector", Request], Awaitable[Any]]


@dataclass(frozen=True)
class PageRoute:
    """The address of a page, its method, and what answers."""

    path: str
    handler: Handler
    method: str = "GET"


class Pages(list[PageRoute]):
    """The pages of a module."""

    def at(self, path: str, method: str = "GET") -> Callable[[Handler], Handler]:
        """Return a decorator that adds a page."""

        def add(handler: Handler) -> Handler:
            self.append(PageRoute(path, handler, method))
            return handler

        return add


@dataclass
class Inspector:
    """The database, with what several pages ask of it."""

    source: Source
    _kinds: tuple[str, ...] = field(default=())

    async def parts(self, **parts: Awaitable[Any]) -> dict[str, Any]:
        """Return the parts of a page, read at the same time.

        A part that the role may not read, or that fails, is shown as its error.
        """
        found = await asyncio.gather(*(self._part(part) for part in parts.values()))
        return dict(zip(parts, found, strict=True))

    @staticmethod
    async def _part(part: Awaitable[Any]) -> dict[str, Any]:
        try:
            return {"rows": await part, "error": None}
        except psycopg.Error as error:
            return {"rows": None, "error": describe(error)}
        except embedding_failures() as error:
            return {
                "rows": None,
                "error": {"message": shortened(error), "code": None, "hint": None},
            }

    async def user(self, request: Request) -> dict[str, Any]:
        """Return the user of an address; the name is known to the rights of `recall_admin` only.

        Raises:
            HTTPException: an administrator sees that there is no such user.
        """
        user_id = uuid_of(request.path_params["user"], "user")
        try:
            row = await self.source.user(user_id)
        except psycopg.errors.InsufficientPrivilege:
            return {"user_id": user_id, "name": str(user_id), "row": None, "is_sealed": None}
        if row is None:
            raise HTTPException(404, f"There is no user {user_id}.")
        return {
            "user_id": user_id,
            "name": row["external_id"] or str(user_id),
            "row": row,
            "is_sealed": row["is_sealed"],
        }

    async def vector(self, user_id: UUID, query: str) -> tuple[Any, str | None]:
        """Return the vector of a query, and why there is none; None searches by words."""
        try:
            found = await self.source.reading.vector(user_id, query, UNSET)
        except ConfigurationError as error:
            return None, f"Searched by words only: {error}"
        except embedding_failures() as error:
            return None, f"Searched by words only: {shortened(error)}"
        if found is UNSET:
            return None, "Searched by words only: no embedding model, or no vectors of this user."
        return found, None


def shortened(error: Exception) -> str:
    """Return the message of an error; an endpoint may answer with a page of HTML."""
    text = str(error).strip() or type(error).__name__
    return text if len(text) <= _LONGEST_ERROR else text[:_LONGEST_ERROR] + "…"


async def form(request: Request) -> Mapping[str, str]:
    """Return the fields of a posted form."""
    return form_of(request, await request.body())


def text_of(values: Mapping[str, str], name: str) -> str | None:
    """Return a parameter without white space around it, None when it is empty."""
    return values.get(name, "").strip() or None


def number(
    values: Mapping[str, str], name: str, *, least: int = 0, most: int = 10**15
) -> int | None:
    """Return a whole number, None when it is left out.

    Raises:
        HTTPException: it is none, or out of range.
    """
    given = text_of(values, name)
    if given is None:
        return None
    is_number = given.isascii() and given.isdigit() and len(given) <= _LONGEST_NUMBER
    if not is_number or not least <= int(given) <= most:
        raise HTTPException(400, f"{name} is {given[:40]}: pass a number from {least} to {most}.")
    return int(given)


def uuid_of(given: str, name: str) -> UUID:
    """Return an id.

    Raises:
        HTTPException: it is none.
    """
    try:
        return UUID(given)
    except ValueError:
        raise HTTPException(400, f"{name} is {given[:40]}: pass a UUID.") from None


def optional_uuid(values: Mapping[str, str], name: str) -> UUID | Unset:
    """Return an id, UNSET when it is left out."""
    given = text_of(values, name)
    return UNSET if given is None else uuid_of(given, name)


def time_of(values: Mapping[str, str], name: str) -> datetime | None:
    """Return a time, in UTC unless it names a zone; None when it is left out.

    Raises:
        HTTPException: it is none.
    """
    given = text_of(values, name)
    if given is None:
        return None
    try:
        found = datetime.fromisoformat(given)
    except ValueError:
        raise HTTPException(
            400, f"{name} is {given[:40]}: pass a time such as 2026-11-26T08:00."
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def next_link(request: Request, rows: list[Row] | None, size: int, **cursor: str) -> str | None:
    """Return the address of the next page; None when this page is not full."""
    if not rows or len(rows) < size:
        return None
    changed = {name: rows[-1][column] for name, column in cursor.items()}
    return str(request.url.include_query_params(**changed).query)

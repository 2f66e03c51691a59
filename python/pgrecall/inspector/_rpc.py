"""REST access to the public functions: `POST /rpc/{function}`, and its OpenAPI document."""

from __future__ import annotations

import base64
import json
from typing import Any
from uuid import UUID

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from pgrecall._signatures import SIGNATURES
from pgrecall.inspector._shown import json_response
from pgrecall.inspector._view import Inspector, Pages

__all__ = ["PAGES"]

PAGES = Pages()

# The functions that the role may call, as the catalog has them.
_FUNCTIONS = b"""
select p.proname, pg_catalog.obj_description(p.oid, 'pg_proc'), p.provolatile <> 'v',
       p.proretset, pg_catalog.format_type(p.prorettype, null),
       coalesce(p.proargnames, '{}'), coalesce(p.proargmodes::text[], '{}'), p.pronargs,
       p.pronargdefaults,
       (select coalesce(array_agg(pg_catalog.format_type(t.id, null) order by t.place), '{}')
          from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[]))
               with ordinality as t (id, place)),
       (select coalesce(array_agg(a.attname::text order by a.attnum), '{}')
          from pg_catalog.pg_type as y
          join pg_catalog.pg_attribute as a on a.attrelid = y.typrelid
         where y.oid = p.prorettype and a.attnum > 0 and not a.attisdropped)
  from pg_catalog.pg_proc as p
 where p.pronamespace = 'recall'::regnamespace
   and p.prokind = 'f'
   and not starts_with(p.proname::text, '_')
   and pg_catalog.has_function_privilege(p.oid, 'execute')
 order by p.proname
"""

_JSON_TYPES: dict[str, dict[str, Any]] = {
    "uuid": {"type": "string", "format": "uuid"},
    "text": {"type": "string"},
    "boolean": {"type": "boolean"},
    "integer": {"type": "integer", "format": "int32"},
    "bigint": {"type": "integer", "format": "int64"},
    "real": {"type": "number"},
    "double precision": {"type": "number"},
    "timestamp with time zone": {"type": "string", "format": "date-time"},
    "date": {"type": "string", "format": "date"},
    "interval": {"type": "string", "description": "An interval, such as 5 minutes."},
    "bytea": {"type": "string", "format": "byte"},
    "jsonb": {},
    "halfvec": {"type": "array", "items": {"type": "number"}},
    "void": {"type": "null"},
}


async def _functions(inspector: Inspector) -> dict[str, dict[str, Any]]:
    """Return the functions that the role may call, by name."""
    found: dict[str, dict[str, Any]] = {}
    for (name, comment, reads, is_set, result, names, modes, inputs, defaults, types,
         columns) in await inspector.source.query(_FUNCTIONS):  # fmt: skip
        if name not in SIGNATURES:
            continue
        required = inputs - defaults
        kinds = modes or ["i"] * len(names)
        arguments = [
            {
                "name": argument.removeprefix("p_"),
                "type": _plain_type(kind),
                "required": place < required,
            }
            for place, (argument, kind) in enumerate(zip(names[:inputs], types, strict=False))
        ]
        outputs = [
            argument for argument, mode in zip(names, kinds, strict=False) if mode in ("t", "o")
        ]
        found[name] = {
            "comment": comment or "", "reads": reads, "is_set": is_set, "result": result,
            "arguments": arguments, "columns": outputs or columns,
        }  # fmt: skip
    return found


@PAGES.at("/rpc/{function}", "POST")
async def rpc(inspector: Inspector, request: Request) -> Response:
    """Call a public function with the object of arguments in the body."""
    name = request.path_params["function"]
    functions = await _functions(inspector)
    if name not in functions:
        raise HTTPException(404, f"There is no function {name[:80]} that this role may call.")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "Send the arguments as application/json.")
    try:
        given = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        raise HTTPException(400, "The body is not JSON.") from None
    if not isinstance(given, dict):
        raise HTTPException(400, "The body is not an object of arguments.")
    described = functions[name]
    arguments = _arguments(given, described["arguments"])
    rows = await inspector.source.call(name, arguments, write=not described["reads"])
    if described["columns"]:
        return json_response(rows)
    values = [next(iter(row.values()), None) for row in rows]
    return json_response(values if described["is_set"] else (values or [None])[0])


def _arguments(given: dict[str, Any], known: list[dict[str, Any]]) -> dict[str, Any]:
    """Return arguments as the driver takes them.

    Raises:
        HTTPException: one is unknown, missing or malformed.
    """
    types = {one["name"]: one["type"] for one in known}
    named = {name.removeprefix("p_"): value for name, value in given.items()}
    if twice := sorted(name for name in named if name in given and f"p_{name}" in given):
        raise HTTPException(400, f"The parameter {twice[0][:80]} is given with p_ and without.")
    if unknown := sorted(named.keys() - types.keys()):
        raise HTTPException(400, f"There is no parameter {unknown[0][:80]}.")
    if missing := [one["name"] for one in known if one["required"] and one["name"] not in named]:
        raise HTTPException(400, f"The parameter {missing[0]} is missing.")
    return {name: _argument(name, value, types[name]) for name, value in named.items()}


def _plain_type(kind: str) -> str:
    """Return halfvec without the schema of its extension, and other types as they are."""
    last = kind.rpartition(".")[2]
    return last if last in ("halfvec", "halfvec[]") else kind


def _argument(name: str, value: Any, kind: str) -> Any:
    if value is None:
        return None
    try:
        if kind == "uuid":
            return UUID(value)
        if kind == "bytea":
            return base64.b64decode(value, validate=True)
        if kind in ("real", "double precision") and type(value) is int:
            return float(value)  # psycopg sends no array of both int and float
    except (ValueError, AttributeError, TypeError, OverflowError):
        raise HTTPException(400, f"{name} is no {kind}.") from None
    is_list = isinstance(value, list)
    if kind == "jsonb" or (kind == "halfvec" and is_list):
        return value
    if kind.endswith("[]") and is_list:
        return [_argument(f"{name}[{n}]", one, kind[:-2]) for n, one in enumerate(value)]
    if is_list or isinstance(value, dict) or kind == "halfvec" or kind.endswith("[]"):
        raise HTTPException(400, f"{name} is no {kind}.")
    return value


@PAGES.at("/openapi.json")
async def openapi(inspector: Inspector, request: Request) -> Response:  # noqa: ARG001
    """Describe the functions that the role may call."""
    functions = await _functions(inspector)
    return JSONResponse(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "pgrecall",
                "version": str(await inspector.source.value("version")),
                "description": "Functions of the schema recall, with the rights of the server's "
                "role. A function that writes needs pgrecall inspect --write.",
            },
            "security": [{"token": []}],
            "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
            "paths": {f"/rpc/{name}": _path(name, one) for name, one in functions.items()},
        }
    )


def _path(name: str, described: dict[str, Any]) -> dict[str, Any]:
    arguments = described["arguments"]
    schema = {
        "type": "object",
        "properties": {one["name"]: _schema(one["type"]) for one in arguments},
        "required": [one["name"] for one in arguments if one["required"]],
        "additionalProperties": False,
    }
    if described["columns"]:
        result: dict[str, Any] = {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {column: {} for column in described["columns"]},
            },
        }
    else:
        result = _schema(described["result"])
        if described["is_set"]:
            result = {"type": "array", "items": result}
    return {
        "post": {
            "operationId": name,
            "summary": described["comment"].partition(". ")[0].rstrip(".")[:120],
            "description": described["comment"],
            "tags": ["reads" if described["reads"] else "writes"],
            "requestBody": {"required": bool(schema["required"]),
                            "content": {"application/json": {"schema": schema}}},
            "responses": {
                "200": {"description": "The result.",
                        "content": {"application/json": {"schema": result}}},
                "4XX": {"description": "Refused: {error: {message, code, hint}}."},
            },
        }
    }  # fmt: skip


def _schema(kind: str) -> dict[str, Any]:
    if kind.endswith("[]"):
        return {"type": "array", "items": _schema(kind[:-2])}
    return _JSON_TYPES.get(kind, {"type": "string"})

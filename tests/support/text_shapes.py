"""Shapes of text that have made parsers slow: each is a piece to repeat, or a long run."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable

__all__ = ["SHAPES", "shaped"]

_CHANCE = random.Random(7)
_BYTES = _CHANCE.randbytes(60_000)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WORDS = [
    "".join(_CHANCE.choices(_LETTERS, k=_CHANCE.randint(2, 11))) for _ in range(3_000)
]  # fmt: skip

_PIECES = {
    "snake": "a_",
    "kebab": "a-",
    "dotted": "a.",
    "slashed": "a/",
    "at signs": "a@",
    "plus": "a+",
    "colons": "a:",
    "ampersands": "a&",
    "equals": "a=",
    "tildes": "a~",
    "commas": "a,",
    "hashes": "a#",
    "apostrophes": "a'",
    "stars": "a*",
    "words with digits": "a1",
    "snake with digits": "a1_",
    "kebab with digits": "a-1-",
    "dotted digits": "1.",
    "kebab digits": "1-",
    "signed digits": "-1",
    "digits": "1234567890",
    "grouped digits": "123,456,",
    "exponents": "1e5",
    "hexadecimal": "0x1f",
    "long options": "--a",
    "IPv4": "127.0.0.1 ",
    "dates": "2024-01-02 ",
    "months": "in March and ",
    "times": "12:30:45.678 ",
    "phone numbers": "+49 30 1234567 ",
    "card numbers": "4111 1111 1111 1111 ",
    "URLs": "https://example.com/a/b?c=d&e=f#g ",
    "one URL": "example.com/a/",
    "protocols": "http://",
    "hosts": "a.example.",
    "addresses": "ada@example.com ",
    "addresses without end": "a.b@c",
    "paths": "/usr/lib/a.so ",
    "one path": "/usr/lib/a_b",
    "Windows paths": "C:\\a\\b\\",
    "opened tags": "<a ",
    "thoughts": "<think>",
    "tags": "<a href='b'>c</a>",
    "angles": "<",
    "comments": "<!-- ",
    "entities": "&amp;",
    "half entities": "&#x",
    "key and value": "key=value; ",
    "passwords": "password: hunter2 ",
    "bearer": "Bearer abcdef",
    "keys of an API": "sk-abcdef-",
    "quotes": '"',
    "single quotes": "'",
    "escaped quotes": '\\"',
    "brackets": "[",
    "braces": '{"a":',
    "round brackets": "(",
    "percent": "%",
    "percent codes": "%20",
    "backslashes": "\\",
    "backticks": "`",
    "code fences": "``` a ",
    "dots": ".",
    "question marks": "? ",
    "spaces": " ",
    "newlines": "\n",
    "tabs": "a\t",
    "no-break spaces": "a\u00a0",
    "emoji": "\U0001f600",
    "joined emoji": "\U0001f469\u200d\U0001f4bb",
    "Chinese": "\u6211\u5bf9\u82b1\u751f\u8fc7\u654f",
    "Japanese": "\u30e6\u30fc\u30b6\u30fc\u306f\u732b\u3002",
    "Korean": "\ub098\ub294 \uace0\uc591\uc774 ",
    "Thai": "\u0e09\u0e31\u0e19\u0e23\u0e31\u0e01\u0e41\u0e21\u0e27",
    "Arabic": "\u0645\u0631\u062d\u0628\u0627 ",
    "Cyrillic": "\u043c\u043e\u0441\u043a\u0432\u0430-",
    "combining characters": "e\u0301",
    "only combining characters": "\u0301",
    "one letter": "a",
    "one consonant": "x",
    "one capital": "A",
    "one accented letter": "\u00e9",
    "sentences": "The cat sat on the mat. ",
    "first person": "I am allergic to a nut, ",
    "speakers": "a: ",
}


def _repeated(piece: str) -> Callable[[int], str]:
    return lambda length: (piece * (length // len(piece) + 1))[:length]


def _encoded(length: int) -> str:
    return (base64.b64encode(_BYTES).decode() * (length // 80_000 + 1))[:length]


def _hexadecimal(length: int) -> str:
    return (_BYTES.hex() * (length // 120_000 + 1))[:length]


def _vocabulary(joint: str) -> Callable[[int], str]:
    return lambda length: (joint.join(_WORDS) * (length // 15_000 + 1))[:length]


SHAPES: dict[str, Callable[[int], str]] = {
    **{name: _repeated(piece) for name, piece in _PIECES.items()},
    "one quote, then sentences": lambda length: ('"' + "The cat sat. " * length)[:length],
    "one bracket, then words": lambda length: ("[" + "a b " * length)[:length],
    "base64": _encoded,
    "hexadecimal bytes": _hexadecimal,
    "many words": _vocabulary(" "),
    "many words, snake": _vocabulary("_"),
    "many words, kebab": _vocabulary("-"),
    "many words, camel": _vocabulary("X"),
}
"""Text of a length in characters, by the name of its shape."""


def shaped(length: int) -> list[tuple[str, str]]:
    """Return each shape at a length."""
    return [(name, make(length)) for name, make in SHAPES.items()]

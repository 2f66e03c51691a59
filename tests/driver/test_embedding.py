"""Embeddings: the local model as it stands, and the endpoint's protocol."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pgrecall.models import (
    Embedder,
    EmbeddingError,
    LocalEmbedder,
    OpenAIEmbedder,
    embedder_from_name,
)
from pgrecall.models import _embedders as embedding


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


@pytest.fixture(scope="module")
def local() -> LocalEmbedder:
    return LocalEmbedder()


def test_local_embedder_gives_close_vectors_to_similar_texts(local: LocalEmbedder) -> None:
    texts = ["I live in Lisbon.", "My home is Lisbon.", "The compiler is written in Rust."]
    vectors = local.embed(texts)
    assert [len(vector) for vector in vectors] == [local.dimensions] * 3 == [384] * 3
    assert all(math.isclose(cosine(vector, vector), 1, abs_tol=1e-5) for vector in vectors)
    assert cosine(vectors[0], vectors[1]) > 0.8
    assert cosine(vectors[0], vectors[2]) < 0.3
    assert isinstance(vectors[0][0], float)


def test_local_embedder_gives_the_same_vector_alone_and_in_a_batch(local: LocalEmbedder) -> None:
    """Batches are sorted by length and padded; neither may be seen in the result."""
    texts = [f"number {i} " * (i % 9 + 1) for i in range(50)]
    together = local.embed(texts)
    for text, vector in list(zip(texts, together, strict=True))[::7]:
        assert cosine(local.embed([text])[0], vector) > 0.99999


def test_local_embedder_accepts_empty_and_very_long_texts(local: LocalEmbedder) -> None:
    assert local.embed([]) == []
    for text in ("", " ", "\x00", "😀", "字" * 10_000, "word " * 100_000):
        assert math.isclose(cosine(*local.embed([text]) * 2), 1, abs_tol=1e-5)
    # cut at 256 tokens: what follows cannot be seen
    assert cosine(*local.embed(["word " * 254, "word " * 254 + "tail"])) > 0.99999


@pytest.mark.parametrize("digest", ["_LOCAL_SHA256", "_WORDS_SHA256"])
def test_local_model_with_another_hash_is_refused(
    digest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files of the model and of its tokenizer; the error says how to use another one."""
    monkeypatch.setattr(embedding, digest, "0" * 64)
    embedding._packaged_model.cache_clear()
    with pytest.raises(EmbeddingError, match=r"its SHA-256 is .* local:/folder"):
        LocalEmbedder().embed(["x"])
    embedding._packaged_model.cache_clear()


def test_local_embedder_serves_many_threads() -> None:
    shared = LocalEmbedder()
    results: list[list[float]] = []
    threads = [
        threading.Thread(target=lambda: results.extend(shared.embed(["same text"])))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert all(cosine(results[0], other) > 0.99999 for other in results)


def test_model_of_a_folder_is_loaded(tmp_path: Path, local: LocalEmbedder) -> None:
    model, vocabulary = embedding._packaged_model()
    (tmp_path / "model.onnx").symlink_to(model)
    with pytest.raises(EmbeddingError, match="tokenizer"):
        LocalEmbedder(tmp_path).embed(["x"])
    (tmp_path / "vocab.txt").symlink_to(vocabulary)
    own = embedder_from_name(f"local:{tmp_path}")
    assert own.dimensions == 384
    assert own.model == f"local:{tmp_path}"
    assert cosine(own.embed(["a cat"])[0], local.embed(["a cat"])[0]) > 0.99999


@pytest.mark.parametrize(
    "name", ["local", "openai:text-embedding-3-small", "fastembed:BAAI/bge-small-en-v1.5"]
)
def test_embedder_from_name_gives_the_embedder_of_that_name(name: str) -> None:
    embedder: Embedder = embedder_from_name(name)
    assert embedder.model == name


@pytest.mark.parametrize("name", ["", "cohere:x", "openai", "openai:"])
def test_unknown_names_of_models_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="unknown embedding model"):
        embedder_from_name(name)


class Endpoint(ThreadingHTTPServer):
    """A server that answers /embeddings; `width` is the length of its vectors."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[dict[str, Any]] = []
        self.width = 8
        self.answer: str | None = None  # instead of vectors


class Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(request)
        width = request.get("dimensions", self.server.width)
        data = [
            {"object": "embedding", "index": i, "embedding": [float(len(text))] * width}
            for i, text in enumerate(request["input"])
        ]
        answer = json.dumps(
            {
                "object": "list",
                "model": request["model"],
                "data": data[::-1],  # the order is the index, not the place
                "usage": {"prompt_tokens": len(data), "total_tokens": len(data)},
            }
        ).encode()
        if self.server.answer is not None:
            answer = self.server.answer.encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def connected(endpoint: Endpoint, model: str, dimensions: int | None = None) -> OpenAIEmbedder:
    return OpenAIEmbedder(
        model,
        base_url=f"http://127.0.0.1:{endpoint.server_port}/v1",
        api_key="x",
        dimensions=dimensions,
    )


def test_endpoint_batches_in_order(endpoint: Endpoint) -> None:
    embedder = connected(endpoint, "some-model")
    texts = ["x" * (i % 50 + 1) for i in range(600)]
    vectors = embedder.embed(texts)
    assert [vector[0] for vector in vectors] == [float(len(text)) for text in texts]
    assert [len(request["input"]) for request in endpoint.requests] == [256, 256, 88]
    assert embedder.usage == embedding.EmbeddingUsage(requests=3, tokens=600)
    assert embedder.dimensions == 8


@pytest.mark.parametrize(
    "answer",
    [
        "<html>Welcome</html>", '{"error": {"message": "Unexpected endpoint"}}', "null", "[]",
        '{"data": [{"embedding": null}]}', '{"data": [{"embedding": ["a"]}]}', '{"data": null}',
    ],
)  # fmt: skip
def test_answer_without_vectors_is_an_error(endpoint: Endpoint, answer: str) -> None:
    endpoint.answer = answer
    with pytest.raises(EmbeddingError, match=r"openai:other: .*URL"):
        connected(endpoint, "other").embed(["x"])


def test_endpoint_shortens_only_what_can_be(endpoint: Endpoint) -> None:
    assert connected(endpoint, "text-embedding-3-small").dimensions == 1536
    assert len(connected(endpoint, "text-embedding-3-small", 512).embed(["x"])[0]) == 512
    assert endpoint.requests[-1]["dimensions"] == 512
    with pytest.raises(EmbeddingError, match="8 numbers instead of 16"):
        connected(endpoint, "other", 16).embed(["x"])
    assert "dimensions" not in endpoint.requests[-1]


def test_endpoint_gets_no_empty_and_no_endless_text(endpoint: Endpoint) -> None:
    connected(endpoint, "other").embed(["", "word " * 20_000])
    empty, long = endpoint.requests[-1]["input"]
    assert empty
    assert 8_000 < len(long.split()) <= 8_191

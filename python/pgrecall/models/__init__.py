"""Models that the driver uses: chat models, embedders, rerankers and tokenizers.

A chat model is an endpoint that the package `openai` can call (`ModelSettings`). An embedder turns
texts into vectors of a fixed length (`Embedder`); `LocalEmbedder` needs no network. A reranker is a
function of the caller (`Reranker`). Tokens are counted by the tokenizer of the chat model.
"""

from pgrecall.models._chat import ChatModel, ModelAnswerError, ModelSettings
from pgrecall.models._embedders import (
    Embedder,
    EmbeddingError,
    EmbeddingUsage,
    FastEmbedEmbedder,
    LocalEmbedder,
    MeasuredEmbedder,
    OpenAIEmbedder,
    embedder_from_name,
)
from pgrecall.models._rerankers import Reranker
from pgrecall.models._tokens import (
    TokenEstimateWarning,
    count_message_tokens,
    count_text_tokens,
    truncate_text,
)

__all__ = [
    "ChatModel",
    "Embedder",
    "EmbeddingError",
    "EmbeddingUsage",
    "FastEmbedEmbedder",
    "LocalEmbedder",
    "MeasuredEmbedder",
    "ModelAnswerError",
    "ModelSettings",
    "OpenAIEmbedder",
    "Reranker",
    "TokenEstimateWarning",
    "count_message_tokens",
    "count_text_tokens",
    "embedder_from_name",
    "truncate_text",
]

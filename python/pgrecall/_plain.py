"""Stored texts as they may stand in a prompt: the driver's own `recall._plain_text`.

For what the database cannot read (sealed users) or does not compile (answers of memory tools).
"""

from __future__ import annotations

import re

__all__ = ["plain_text"]

_SPACE = "[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]*"
_CONTROL = re.compile("[\u0001-\u001f\u007f-\u009f\u2028\u2029]+")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
_ANGLE = re.compile(
    f"[<\ufe64\uff1c]({_SPACE}(?:[|\uff5c]|<?/?SYS>|/?{_SPACE}(?:"
    "memories|working_memory|summary|recalled|(?:s|bos|eos|unk|pad|(?:start|end)_of_turn|"
    "system|developer|user|assistant|human|model|tools?|tool_[a-z]+|functions?|"
    "function_[a-z]+|invoke|instructions?|think|thinking)(?![a-z0-9_.@:-]))))",
    re.IGNORECASE | re.ASCII,
)
_SQUARE = re.compile(
    r"\[([ \u00a0]*/?[ \u00a0]*(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|"
    r"TOOL_CONTENT)[ \u00a0]*\])",
    re.IGNORECASE | re.ASCII,
)


def plain_text(text: str) -> str:
    """Return a text on one line, with nothing that could act in a prompt."""
    seen = _INVISIBLE.sub("", _CONTROL.sub(" ", text))
    return _SQUARE.sub(r"&#91;\1", _ANGLE.sub(r"&lt;\1", seen))

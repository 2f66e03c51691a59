"""Stored texts as they may stand in a prompt, in a log, on a terminal and on a page.

`plain_text` and `prompt_text` are the driver's own `recall._plain_text` and `recall._prompt_text`,
for what the database cannot read (encrypted users) or does not compile (answers of memory tools).
"""

from __future__ import annotations

import json
import re

__all__ = [
    "HIDDEN",
    "INVISIBLE",
    "escaped",
    "escaped_json",
    "escaped_line",
    "one_line",
    "plain_block",
    "plain_text",
    "prompt_text",
    "shortened",
]

INVISIBLE = re.compile(  # recall._invisible
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
# U+FE0F selects the emoji form of the symbol before it; there, and at the start, it hides nothing.
_EMOJI_FORM = "(?:(?<=[#*0-9\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff])|\\A)\ufe0f"
HIDDEN = re.compile(
    f"(?!{_EMOJI_FORM})(?:"
    f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|{INVISIBLE.pattern})"
)
"""A character that moves a cursor, reorders or hides text, or is half of a pair.

Tabs and line feeds are not among them: `escaped_line` is for places where they could act, too."""

_SPACES = " \t\n\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"  # recall._spaces
_WIDE = "\uff21-\uff3a\uff41-\uff5a"
_BRACKET = "[\\[\uff3b\u3010]"
_CLOSING = f"[{_SPACES}]*[\\]\uff3d\u3011]"
_CONTROL = re.compile("[\u0001-\u001f\u007f-\u009f\u2028\u2029]+")
_CONTROL_IN_LINES = re.compile("[\u0001-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]+")
_ANGLE = re.compile(
    "[<\u02c2\u1438\u2039\u2329\u276c\u276e\u27e8\u3008\ufe64\uff1c]"  # recall._opening_signs
    f"(?=[/\uff0f{_SPACES}]*(?:[|\uff5c{_WIDE}]|<?/?SYS>|"
    "memories|working_memory|summary|recalled|system[-_]|"
    "(?:conversation|profile|candidates|episodes|known)(?![a-z0-9_])|"
    "(?:s|bos|eos|unk|pad|(?:start|end)_of_turn|"
    "(?:system|developer|user|assistant|human|model)(?:[-_](?:prompt|message|turn|reminder))?|"
    "tools?|tool_[a-z]+|functions?|"
    "function_[a-z]+|invoke|instructions?|think|thinking)(?![a-z0-9_.@:-])))",
    re.IGNORECASE | re.ASCII,
)
_SQUARE = re.compile(
    f"{_BRACKET}(?=[/\uff0f{_SPACES}]*(?:[{_WIDE}]|(?:INST|SYS|SYSTEM_PROMPT|"
    f"AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT){_CLOSING}))",
    re.IGNORECASE | re.ASCII,
)
_SPEAKER = re.compile(
    f"{_BRACKET}(?=[{_SPACES}]*[0-9\uff10-\uff19]+{_CLOSING}[{_SPACES}]*(?:"
    f"(?:system|developer|user|assistant|tool|function)(?![a-z0-9_])|[{_WIDE}]))",
    re.IGNORECASE | re.ASCII,
)


def plain_text(text: str) -> str:
    """Return a text on one line, with nothing that could act in a prompt."""
    return _neutralized(_CONTROL.sub(" ", text), "&lt;", "&#91;")


def prompt_text(text: str) -> str:
    """Return a text with its line breaks, and with nothing that could act in the prompt of a job.

    It differs from the text by punctuation and white space only, as a model's quotes of it do.
    """
    return _SPEAKER.sub("(", _neutralized(_CONTROL_IN_LINES.sub(" ", text), "(", "("))


def _neutralized(text: str, less_than: str, bracket: str) -> str:
    return _SQUARE.sub(bracket, _ANGLE.sub(less_than, INVISIBLE.sub("", text)))


def plain_block(text: str) -> str:
    """Return a text of several lines without hidden characters."""
    return HIDDEN.sub("", text)


def escaped(text: str) -> str:
    r"""Return a text with hidden characters escaped as in Python, such as \x1b or \u202e."""
    return HIDDEN.sub(_escape, text.replace("\r\n", "\n"))


def escaped_line(text: str) -> str:
    r"""Return a text as one line: as `escaped`, with tabs and line feeds as \t and \n."""
    return escaped(text).replace("\n", "\\n").replace("\t", "\\t")


def escaped_json(document: str) -> str:
    r"""Return a JSON document with the hidden characters of its texts as \uXXXX."""
    return HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], document)


def _escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def one_line(text: str) -> str:
    """Return a text with every run of white space as one space."""
    return " ".join(text.split())


def shortened(text: str, limit: int) -> str:
    """Return a text with its middle left out when it is too long."""
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]} … {text[-(limit // 3) :]}"

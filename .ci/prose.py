"""Check the prose of comments, docstrings, COMMENT ON and pages.

A sentence has at most 25 words, names its actor and uses the terms of the field. Code in
backticks counts as one word, text in parentheses and a list after a colon do not count.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MOST_WORDS = 25
PAGES = ("README.md", "CONTRIBUTING.md")
FOLDERS = (
    ".ci",
    "benchmarks",
    "docs",
    "examples",
    "functions",
    "migrations",
    "python",
    "sql",
    "tests",
)
# generated, or not ours
SKIPPED = ("_sync", "reference", "node_modules")
# the term of PostgreSQL's manual or the OpenAI API reference, and what we once wrote instead
TERMS = {
    "encrypted": r"(?:sealed|sealing)(?!:)|resealed?|unsealed",
    "partition": r"lea(?:f|ves) of (?:a|the) (?:table|partition)",
    "candidate": r"nominees?|the likely ones",
    "deferred": r"put off|puts off|putting off",
    "asynchronous": r"off the path",
    "prompt injection": r"poison(?:s|ed|ing)?(?! messages?)",
    "messages of a session": r"what was said",
    "client-side encryption": r"wrapping key",
    "erasure": r"forgetting|forgotten (?:user|session)s?",
    "rewrite the chain": r"made? anew",
}
Text = tuple[int, str]


def main() -> int:
    """Print each place, and return the exit status."""
    problems = [problem for path in sources() for problem in problems_of(path)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def sources() -> Iterator[Path]:
    """Yield the files that people write prose in."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in READERS and not set(SKIPPED) & set(path.parts):
                yield path.relative_to(ROOT)
    yield from (Path(page) for page in PAGES)


def problems_of(path: Path) -> Iterator[str]:
    """Yield what is wrong with the prose of one file."""
    for line, text in READERS[path.suffix]((ROOT / path).read_text()):
        for sentence in sentences(text):
            count = len(re.findall(r"[\w'’-]+", sentence))
            if count > MOST_WORDS:
                yield f"{path}:{line}: a sentence of {count} words: {sentence[:90]}"
            if re.match(r"(What|Who|Whoever|Whatever)\b", sentence) and not sentence.endswith("?"):
                yield f"{path}:{line}: name the actor: {sentence[:90]}"
            for term, former in TERMS.items():
                if found := re.search(rf"\b(?:{former})\b", sentence, re.IGNORECASE):
                    yield f"{path}:{line}: write {term}, not {found[0]}: {sentence[:90]}"


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text without its code, links and parentheses."""
    text = re.sub(r"``[^`]*``|`[^`]*`", "X", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\([^()]*\)", "", text)
    text = re.sub(r":\s[^.:;]*,[^.:;]*,[^.:;]*", ":", text)
    yield from (part.strip() for part in re.split(r"(?<=[.!?;:])\s+", text))


def page(text: str) -> Iterator[Text]:
    """Yield the paragraphs, list items and table cells of a page in Markdown."""
    text = re.sub(r"^(```|~~~).*?^\1", blank, text, flags=re.DOTALL | re.MULTILINE)
    # report.py writes the blocks between two marks
    text = re.sub(r"<!-- (\w+): begin -->.*?<!-- \1: end -->", blank, text, flags=re.DOTALL)
    text = re.sub(r"<[^>]*>", blank, text)
    yield from paragraphs(
        (line, re.sub(r"^([-*]|\d+\.)\s+", "\n", stripped))
        for line, stripped in enumerate(map(str.strip, text.split("\n")), 1)
        if not stripped.startswith(("#", "!"))
    )


def blank(match: re.Match[str]) -> str:
    """Keep the lines of a match, so that those after it keep their numbers."""
    return "\n" * match[0].count("\n")


def paragraphs(lines: Iterator[Text]) -> Iterator[Text]:
    """Join consecutive lines; an empty one and one that begins anew end a paragraph."""
    first = 0
    parts: list[str] = []
    for line, text in lines:
        if text.startswith("|"):
            yield from ((line, cell.strip()) for cell in text.split("|"))
        if parts and (not text or text.startswith(("\n", "|"))):
            yield first, " ".join(parts)
            parts = []
        if text and not text.startswith("|"):
            first = first if parts else line
            parts.append(text.strip())
    if parts:
        yield first, " ".join(parts)


def sql_comments(text: str) -> Iterator[Text]:
    """Yield the comments of an SQL file, and the texts of COMMENT ON."""
    comments = (re.match(r"\s*--(?: (.*))?$", line) for line in text.split("\n"))
    yield from paragraphs(
        # two blanks align a term with its meaning
        (number, re.sub(r"^.*?\S {2,}", "\n", (found[1] or "").strip())) if found else (number, "")
        for number, found in enumerate(comments, 1)
    )
    for found in re.finditer(
        r"^comment on [^;']*?\bis\s+((?:'(?:[^']|'')*'\s*)+)", text, re.MULTILINE
    ):
        parts = re.findall(r"'((?:[^']|'')*)'", found[1])
        yield text.count("\n", 0, found.start()) + 1, "".join(parts).replace("''", "'")


def python_comments(text: str) -> Iterator[Text]:
    """Yield the comments and docstrings of a Python file."""
    comments = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
        and not re.match(r"#\s*(noqa|type:|fmt:|mypy:)", token.string)
    }
    yield from paragraphs(
        (number, comments.get(number, "")) for number in range(1, text.count("\n") + 2)
    )
    for node in ast.walk(ast.parse(text)):
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, kinds) and (docstring := ast.get_docstring(node)):
            first = node.body[0].lineno
            yield from ((first + line - 1, part) for line, part in page(docstring))


READERS = {".md": page, ".sql": sql_comments, ".py": python_comments}

if __name__ == "__main__":
    sys.exit(main())

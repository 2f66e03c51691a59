"""Hooks of mkdocs: files outside of docs/ that its pages link to become part of the site.

In the repository a page links to benchmarks/README.md or to an example by its relative path. On the
site such a file stands under project/, and the link leads there.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
FOLDER = "project"
LINK = re.compile(r"(\]\()([^()#\s]+)((?:#[^()\s]*)?\))")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages of the modules below the index of functions, in its order."""
    index = (ROOT / "docs" / "reference" / "sql.md").read_text(encoding="utf-8")
    pages = re.findall(r"(?m)^## \[\w+\]\((.+)\)$", index)
    for section in config.nav or []:
        for title, entries in section.items():
            if title == "Reference":
                place = entries.index("reference/sql.md")
                entries[place] = {
                    "SQL functions": ["reference/sql.md", *(f"reference/{page}" for page in pages)]
                }
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add every file that a page links to, and those that it links to in turn."""
    waiting = [f"docs/{file.src_uri}" for file in files.documentation_pages()]
    seen = set(waiting)
    while waiting:
        source = waiting.pop()
        if not source.endswith(".md"):
            continue
        for target in targets(source):
            if target not in seen and (ROOT / target).is_file():
                seen.add(target)
                waiting.append(target)
                if not target.startswith("docs/"):
                    files.append(
                        File.generated(
                            config, f"{FOLDER}/{target}", abs_src_path=str(ROOT / target)
                        )
                    )
    return files


def targets(source: str) -> list[str]:
    """Return the files of the project that a page links to."""
    text = (ROOT / source).read_text(encoding="utf-8")
    return [
        posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
        for _, link, _ in LINK.findall(text)
        if ":" not in link
    ]


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Let links between docs/ and the rest of the project lead to their place on the site."""
    uri = page.file.src_uri
    source = uri.removeprefix(f"{FOLDER}/") if uri.startswith(f"{FOLDER}/") else f"docs/{uri}"

    def moved(match: re.Match[str]) -> str:
        begin, link, end = match.groups()
        if ":" in link:
            return match[0]
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link))
        if target.startswith("docs/"):
            place = target.removeprefix("docs/")
        elif (ROOT / target).is_file():
            place = f"{FOLDER}/{target}"
        else:
            return match[0]
        return f"{begin}{posixpath.relpath(place, posixpath.dirname(uri) or '.')}{end}"

    return LINK.sub(moved, markdown)

"""The command that installs what is missing, as it works in this environment."""

from __future__ import annotations

import json
import shlex
import sys
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

__all__ = ["pip_install", "pip_install_extra"]


def pip_install_extra(extra: str) -> str:
    """Return the command that installs an extra of this package into this environment.

    The source is the one that pip recorded (PEP 610): a clone, an archive, a repository. Without a
    record the package came from an index.
    """
    try:
        recorded = metadata.distribution("pgrecall").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        recorded = None
    origin = json.loads(recorded) if recorded else {}
    url = origin.get("url", "")
    if "dir_info" in origin:
        folder = Path(url2pathname(urlsplit(url).path))
        option = "-e " if origin["dir_info"].get("editable") else ""
        return pip_install(f"{folder}[{extra}]", option)
    if "vcs_info" in origin:
        url = f"{origin['vcs_info']['vcs']}+{url}"
    return pip_install(f"pgrecall[{extra}]" + (f" @ {url}" if url else ""))


def pip_install(requirement: str, option: str = "") -> str:
    """Return the command that installs a requirement into this environment."""
    return f"{shlex.quote(sys.executable)} -m pip install {option}{shlex.quote(requirement)}"

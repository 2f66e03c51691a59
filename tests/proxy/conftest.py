from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.proxies import Fleet, running_fleet
from support.servers import TestServer


@pytest.fixture(scope="module")
def fleet(server: TestServer, request: pytest.FixtureRequest) -> Iterator[Fleet]:
    """A proxy before the shards a and b."""
    label = request.module.__name__.rpartition(".")[2].removeprefix("test_")
    with running_fleet(server, label, "a", "b") as running:
        yield running

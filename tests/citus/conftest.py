"""A Citus cluster, where PGRECALL_CITUS_DSN names the coordinator of one."""

from __future__ import annotations

import os
from collections.abc import Iterator

import psycopg
import pytest

from support.clusters import Cluster, running_cluster


@pytest.fixture(scope="session")
def coordinator() -> str:
    """The DSN of the coordinator that the environment names, or the reason to skip."""
    admin = os.environ.get("PGRECALL_CITUS_DSN")
    if not admin:
        pytest.skip("PGRECALL_CITUS_DSN names no Citus coordinator: make test-citus DSN=…")
    return admin


@pytest.fixture(scope="session")
def cluster(coordinator: str) -> Iterator[Cluster]:
    """A database of the tests on all nodes, its schema distributed."""
    with running_cluster(coordinator) as cluster:
        yield cluster


@pytest.fixture
def conn(cluster: Cluster) -> Iterator[psycopg.Connection]:
    """A superuser's connection to the coordinator that names the user of each call."""
    with cluster.connect() as conn:
        yield conn

"""Databases for tests: both kinds, a fresh one for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.postgres import Server, running_postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """One PostgreSQL for the whole run; it starts with the first test that asks for it."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: Server) -> Iterator[str]:
    """An empty PostgreSQL database of this test alone."""
    with postgres.fresh() as url:
        yield url


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """An SQLite file of this test alone; it does not exist yet."""
    return f"sqlite:///{tmp_path / 'nardy.sqlite3'}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """An empty database of this test alone; the test runs once on each kind."""
    url: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
    return url

"""Databases for tests: both kinds, a fresh one for each test; and the order of the files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from tests.support.postgres import Server, running_postgres

# They wait more than they work: for servers to start and to die, for clocks to run down, for matches to be played.
_WAITING = (
    "test_connection.py",
    "test_killed.py",
    "test_leaving.py",
    "test_lent_computers.py",
    "test_organisers_guide.py",
    "test_outages.py",
    "test_races.py",
    "test_rough_event.py",
    "test_stopping.py",
    "test_two_nodes.py",
    "test_whole_analysis.py",
    "test_whole_event.py",
    "test_whole_match.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files of which most tests wait are mixed with two others each, so that the cores always have work for some of the
    processes; the largest come first, so that all processes end together.
    """
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    largest = sorted(files, key=lambda file: -len(files[file]))
    working = iter([file for file in largest if file.name not in _WAITING])
    order: list[Path] = []
    for file in largest:
        if file.name in _WAITING:
            order += [file, *islice(working, 2)]
    items[:] = [item for file in (*order, *working) for item in files[file]]


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

"""A live server for tests that talk to it as browsers do, and stores on both databases."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from app.settings import Settings
from app.store import Store, open_store, upgrade
from tests.support.postgres import Server
from tests.support.server import LiveServer, running_server
from tests.support.stores import elsewhere, settings_of


@pytest_asyncio.fixture
async def server(sqlite_url: str, tmp_path: Path) -> AsyncIterator[LiveServer]:
    """A server on the embedded database."""
    async with running_server(sqlite_url, tmp_path / "data") as running:
        yield running


@pytest.fixture(scope="session")
def postgres_template(postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A PostgreSQL database with all tables and nothing in them, to be copied."""
    url = postgres.create()
    settings = settings_of(url, tmp_path_factory.mktemp("template"))
    elsewhere(lambda: upgrade(settings))
    yield url
    postgres.drop(url)


@pytest.fixture
def migrated_postgres_url(postgres: Server, postgres_template: str) -> Iterator[str]:
    """A PostgreSQL database of this test alone, ready for a store."""
    with postgres.fresh(postgres_template) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def store_settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of a store of this test alone; the test runs once on each kind of database."""
    fixture = "sqlite_url" if request.param == "sqlite" else "migrated_postgres_url"
    return settings_of(request.getfixturevalue(fixture), tmp_path)


@pytest_asyncio.fixture
async def store(store_settings: Settings) -> AsyncIterator[Store]:
    """An empty store."""
    opened = await open_store(store_settings)
    yield opened
    await opened.close()


@pytest_asyncio.fixture
async def other_node(store: Store, store_settings: Settings) -> AsyncIterator[Store]:
    """The same store, opened by another server."""
    opened = await open_store(store_settings)
    yield opened
    await opened.close()

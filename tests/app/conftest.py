"""A live server for tests that talk to it as browsers do."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from tests.support.server import LiveServer, running_server


@pytest_asyncio.fixture
async def server(sqlite_url: str, tmp_path: Path) -> AsyncIterator[LiveServer]:
    """A server on the embedded database."""
    async with running_server(sqlite_url, tmp_path / "data") as running:
        yield running

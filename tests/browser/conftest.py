"""A real browser for tests, and one server for them all. One event loop serves every test in this folder."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright

from engine.turn import Seat
from tests.browser.screens import Screens
from tests.browser.staged import Staged
from tests.builders import A, Table
from tests.support.chromium import FLAGS, find_chromium
from tests.support.server import LiveServer, running_server

MOST_KEPT = 4  # pages between tests: their clocks run on, and a few dozen of them would take a whole core


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The browser lives in the session's loop, so its tests run there too."""
    for item in items:
        if Path(__file__).parent in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One Chromium for the whole run."""
    try:
        program = find_chromium()
    except RuntimeError as missing:
        raise pytest.fail.Exception(str(missing), pytrace=False) from None
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def live(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LiveServer]:
    """One server for the whole run; tests make matches of their own in it."""
    folder = tmp_path_factory.mktemp("live")
    async with running_server(f"sqlite:///{folder / 'nardy.sqlite3'}", folder / "data") as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def screens(browser: Browser, live: LiveServer) -> AsyncIterator[Screens]:
    """Screens that know nothing of earlier tests. A page of theirs that fails inside fails the test."""
    screens = Screens(browser, live.url)
    yield screens
    await screens.close()
    assert screens.errors == []


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A page of a browser that knows nothing of earlier tests."""
    context = await browser.new_context()
    yield await context.new_page()
    await context.close()


Stage = Callable[..., Awaitable[Staged]]


@pytest.fixture
def stage(screens: Screens) -> Stage:
    """Opens a match page on a new screen and plays the server to it: `await stage(a_phase(…), B, **PHONE)`."""

    async def staged(table: Table, seat: Seat | None = A, *, answers: bool = True, **screen: Any) -> Staged:
        staged = Staged(await screens.page(**screen), screens.url, table, seat, answers=answers)
        await staged.open()
        return staged

    return staged


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def kept_screens(browser: Browser, live: LiveServer) -> AsyncIterator[Screens]:
    """Screens that stay from test to test, since most time goes into opening them."""
    screens = Screens(browser, live.url)
    yield screens
    await screens.close()


@pytest.fixture(scope="session")
def kept_tables() -> dict[str, Staged]:
    """The match pages on the kept screens."""
    return {}


@pytest.fixture
def deal(kept_screens: Screens, kept_tables: dict[str, Staged]) -> Iterator[Stage]:
    """As `stage`, but puts the table before a page that is open already, if there is one for such a screen."""

    async def dealt(table: Table, seat: Seat | None = A, *, answers: bool = True, **screen: Any) -> Staged:
        key = repr(sorted(screen.items()))
        if key not in kept_tables:
            if len(kept_tables) == MOST_KEPT:
                oldest = kept_tables.pop(next(iter(kept_tables)))
                await oldest.page.context.close()
            page = await kept_screens.page(**screen)
            kept_tables[key] = Staged(page, kept_screens.url, table, seat)
            await kept_tables[key].open()
        kept_tables[key] = staged = kept_tables.pop(key)  # the newest comes last
        await staged.deal(table, seat, answers=answers)
        return staged

    kept_screens.errors.clear()
    yield dealt
    assert kept_screens.errors == []

"""A real browser for tests. Its one event loop serves every test in this folder."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright

from tests.support.chromium import FLAGS, find_chromium


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


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A page of a browser that knows nothing of earlier tests."""
    context = await browser.new_context()
    yield await context.new_page()
    await context.close()

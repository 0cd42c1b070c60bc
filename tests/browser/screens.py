"""Screens of people at a match: a desktop, a phone; and what a page of ours must never do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, WebSocket

from tests.support.server import Person

DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 360, "height": 740},
    "has_touch": True,
    "is_mobile": True,
    "device_scale_factor": 2,
}
RU: dict[str, Any] = {"locale": "ru-RU"}
EN: dict[str, Any] = {"locale": "en-GB"}
STILL: dict[str, Any] = {"reduced_motion": "reduce"}


class Screens:
    """Browser contexts that are closed together; errors inside their pages are kept and raised at the end."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.url = url
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.errors: list[str] = []

    async def page(self, *, somebody: Person | None = None, **options: Any) -> Page:
        """A page on a new screen; `somebody`'s session goes with it. Russian desktop unless told otherwise."""
        context = await self._browser.new_context(**{**DESKTOP, **RU, "base_url": self.url, **options})
        context.set_default_timeout(8_000)
        self._contexts.append(context)
        page = await context.new_page()
        if somebody is not None:
            await self.become(page, somebody)
        page.on("pageerror", lambda error: self.errors.append(f"{page.url}: {error}"))
        page.on("console", self._console)
        return page

    async def become(self, page: Page, somebody: Person) -> None:
        """From now on this screen has somebody's session."""
        cookies = [
            {"name": name, "value": value, "url": self.url} for name, value in somebody.http.cookies.items()
        ]
        await page.context.add_cookies(cookies)  # type: ignore[arg-type]

    def _console(self, message: ConsoleMessage) -> None:
        # A connection that a test cuts is no fault of the page's; a refused script or style is.
        cut = ("WebSocket connection", "Failed to load resource")
        if message.type == "error" and not any(words in message.text for words in cut):
            self.errors.append(message.text)

    async def close(self) -> None:
        """Close them all."""
        for context in self._contexts:
            await context.close()


class Wire:
    """All that goes over the sockets of one page, from its opening on."""

    def __init__(self, page: Page) -> None:
        self.received: list[str] = []
        self.sent: list[str] = []
        self.view: Any = None
        self.info: Any = None
        page.on("websocket", self._opened)

    def _opened(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._received)
        socket.on("framesent", lambda text: self.sent.append(str(text)))

    def _received(self, text: str | bytes) -> None:
        self.received.append(str(text))
        frame = json.loads(text)
        if frame["type"] == "view":
            self.view = frame["view"]
            self.info = frame.get("info", self.info)

    def messages(self, type_: str) -> list[Any]:
        """What the page has sent of one type."""
        return [message for message in map(json.loads, self.sent) if message["type"] == type_]

    async def until(self, holds: Callable[[Any], Any], patience: float = 8.0) -> Any:
        """The newest view, once it is so."""
        await until(lambda: self.view is not None and holds(self.view), patience)
        return self.view


async def until(holds: Callable[[], Any], patience: float = 8.0) -> None:
    """Wait until this holds."""
    async with asyncio.timeout(patience):
        while not holds():
            await asyncio.sleep(0.005)

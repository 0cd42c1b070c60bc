"""A display that does not read is dropped, however many it has read before; none that reads is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from starlette.websockets import WebSocketState

from app.service.displays import Accepted, Display
from app.web import socket as socket_module
from engine.turn import Seat

PATIENCE_S = 0.8  # slack enough for a busy machine


class Socket:
    """A browser's end that reads until it is told not to."""

    client_state = WebSocketState.CONNECTED

    def __init__(self) -> None:
        self.reads = asyncio.Event()
        self.reads.set()
        self.sent = 0
        self.closed: tuple[int, str] | None = None

    async def send_text(self, text: str) -> None:
        await self.reads.wait()
        self.sent += 1

    async def close(self, code: int, reason: str) -> None:
        self.closed = code, reason


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_module, "SEND_PATIENCE_S", PATIENCE_S)


async def sending(browser: Any, display: Display) -> None:
    await socket_module._send(browser, display, lambda: 0, socket_module._Counted())


async def test_who_reads_is_never_dropped() -> None:
    browser, display = Socket(), Display("m", Seat.A)
    task = asyncio.create_task(sending(browser, display))
    for number in range(5):  # each at once, all together longer than anybody is waited for
        display.reply(Accepted(str(number)))
        await asyncio.sleep(PATIENCE_S / 4)
    assert (browser.sent, browser.closed, task.done()) == (5, None, False)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_who_reads_slowly_is_waited_for() -> None:
    browser, display = Socket(), Display("m", Seat.A)
    task = asyncio.create_task(sending(browser, display))
    for number in range(4):
        browser.reads.clear()
        display.reply(Accepted(str(number)))
        await asyncio.sleep(PATIENCE_S / 4)
        browser.reads.set()
        await asyncio.sleep(0)
    await asyncio.sleep(PATIENCE_S)
    assert (browser.sent, browser.closed) == (4, None)
    display.close("restart")
    await task
    assert browser.closed == (1001, "restart")


async def test_who_does_not_read_is_dropped() -> None:
    browser, display = Socket(), Display("m", Seat.A)
    task = asyncio.create_task(sending(browser, display))
    display.reply(Accepted("read"))
    await asyncio.sleep(PATIENCE_S / 4)
    browser.reads.clear()
    display.reply(Accepted("not read"))
    async with asyncio.timeout(5):
        await task
    assert (browser.sent, browser.closed, display.goodbye) == (1, (1013, "slow"), "slow")
    current = asyncio.current_task()
    assert asyncio.all_tasks() == {current}, "nothing is left behind"


async def test_a_display_that_goes_is_no_slow_one() -> None:
    browser, display = Socket(), Display("m", Seat.A)
    task = asyncio.create_task(sending(browser, display))
    browser.reads.clear()
    display.reply(Accepted("on its way"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (browser.closed, display.is_closed) == (None, False)

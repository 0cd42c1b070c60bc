"""A display hears something often enough to know that its line carries, and no more than that."""

from __future__ import annotations

import asyncio

import pytest

from app.service.displays import Display, Frame, Ping, ViewFrame
from app.service.matches import HEARTBEAT_S, PING_EVERY
from engine.turn import Seat
from engine.view import view_for
from tests.builders import a_match

SPEAKS_EVERY_S = 10  # what docs/PROTOCOL.md promises and static/js/socket.js waits for


async def waiting(display: Display) -> list[Frame]:
    """What it is to be sent now."""
    found: list[Frame] = []
    while True:
        frame = asyncio.ensure_future(display.next_frame())
        await asyncio.sleep(0)
        if not frame.done():
            frame.cancel()
            return found
        found.append(frame.result())


async def test_whoever_was_just_asked_for_a_pong_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr("app.service.displays.time.monotonic", lambda: now)
    display = Display("m", Seat.A)
    display.ping(unless_within_s=5)
    display.ping(unless_within_s=5)
    assert await waiting(display) == [Ping(1)]
    display.ping(unless_within_s=5)
    assert await waiting(display) == [], "it has been asked just now"
    now += 5
    display.ping(unless_within_s=5)
    assert await waiting(display) == [Ping(2)]


async def test_a_view_asks_for_a_pong_too(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr("app.service.displays.time.monotonic", lambda: now)
    display = Display("m", Seat.A)
    display.ping()
    display.show(view_for(a_match().match, Seat.A))
    (frame,) = await waiting(display)
    assert isinstance(frame, ViewFrame)
    display.ping(unless_within_s=5)
    assert await waiting(display) == []
    assert display.pong(frame.ping) == (1_000.0, 0)


async def test_the_way_to_a_display_and_back_is_timed_from_when_it_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A display that is not written to yet, or does not read, gets no time for that (§7.1)."""
    now = 1_000.0
    monkeypatch.setattr("app.service.displays.time.monotonic", lambda: now)
    display = Display("m", Seat.A)
    display.ping()
    now += 4
    assert await waiting(display) == [Ping(1)]
    now += 0.5
    assert display.pong(1) == (1_004.0, 500)


def test_between_two_frames_there_is_never_more_than_is_promised() -> None:
    """Just less than one round before its turn comes a view; then the next round asks."""
    assert 2 * PING_EVERY * HEARTBEAT_S <= SPEAKS_EVERY_S

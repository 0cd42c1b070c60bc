"""A display hears something often enough to know that its line carries, and no more than that."""

from __future__ import annotations

import pytest

from app.service.displays import Display, Frame, Ping, ViewFrame
from app.service.matches import HEARTBEAT_S, PING_EVERY
from engine.turn import Seat
from engine.view import view_for
from tests.builders import a_match

SPEAKS_EVERY_S = 10  # what docs/PROTOCOL.md promises and static/js/socket.js waits for


class Watched(Display):
    """Notes what it is asked to send."""

    def waiting(self) -> list[Frame]:
        return list(self._replies)


def test_whoever_was_just_asked_for_a_pong_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr("app.service.displays.time.monotonic", lambda: now)
    display = Watched("m", Seat.A)
    display.ping(unless_within_s=5)
    display.ping(unless_within_s=5)
    assert display.waiting() == [Ping(1)], "the first asks, the second has been asked just now"
    now += 5
    display.ping(unless_within_s=5)
    assert display.waiting() == [Ping(1), Ping(2)]


async def test_a_view_asks_for_a_pong_too(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr("app.service.displays.time.monotonic", lambda: now)
    display = Watched("m", Seat.A)
    display.show(view_for(a_match().match, Seat.A))
    frame = await display.next_frame()
    assert isinstance(frame, ViewFrame)
    display.ping(unless_within_s=5)
    assert display.waiting() == []
    assert display.pong(frame.ping) == (1_000.0, 0)


def test_between_two_frames_there_is_never_more_than_is_promised() -> None:
    """Just less than one round before its turn comes a view; then the next round asks."""
    assert 2 * PING_EVERY * HEARTBEAT_S <= SPEAKS_EVERY_S

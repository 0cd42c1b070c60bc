"""A display: one open socket, and what is still to be sent to it.

A display is always sent whole views, so what waits for a slow one is its newest view and never a queue of old ones.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from app.service.errors import AppError
from app.service.info import Info
from app.store.accounts import Link
from engine.errors import RuleError
from engine.turn import Seat
from engine.view import View

Goodbye = Literal["restart", "slow", "flood", "revoked"]
_REPLIES = 128  # answers that may wait for a display that does not read
_PINGS = 16  # round trips being measured at once


@dataclass(frozen=True, slots=True)
class ViewFrame:
    """The whole view, and the match around it if that is new to this display."""

    view: View | None
    info: Info | None
    ping: int


@dataclass(frozen=True, slots=True)
class Accepted:
    """The message with this id was carried out."""

    id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The message was refused; nothing happened."""

    id: str | None
    error: RuleError | AppError


@dataclass(frozen=True, slots=True)
class Ping:
    """Asks for a pong, to measure the round trip."""

    ping: int


@dataclass(frozen=True, slots=True)
class Bye:
    """The last frame: why the server closes."""

    reason: Goodbye


Frame = ViewFrame | Accepted | Refused | Ping | Bye


class Display:
    """One open socket. Its seat was decided when it connected; None is a spectator."""

    def __init__(
        self,
        match_id: str,
        seat: Seat | None,
        number: int = 0,
        token: bytes | None = None,
        links: Collection[Link] = (),
    ) -> None:
        self.token = token  # the hash of the token that opened it, of a bot's
        self.links = links  # the personal links that it hangs on: of who opened it, of whose seat it is
        self.number = number  # in the order in which they came to this server
        self.match_id = match_id
        self.seat = seat
        self._view: View | None = None
        self._info: Info | None = None
        self._view_is_new = False
        self._info_is_new = False
        self._replies: deque[Frame] = deque()
        self._wake = asyncio.Event()
        self._bye: Bye | None = None
        self._pings: dict[int, float] = {}
        self._pinged = 0
        self._asked = -math.inf  # when the last pong was asked for (monotonic)
        self._ping_is_due = False

    def show(self, view: View | None) -> None:
        """This view is to be sent, unless the display has it already."""
        if view != self._view:
            self._view, self._view_is_new = view, True
            self._wake.set()

    def show_info(self, info: Info) -> None:
        """The match around it is to be sent with the next view, unless the display has it already."""
        if info != self._info:
            self._info, self._info_is_new = info, True
            self._wake.set()

    def reply(self, frame: Accepted | Refused) -> None:
        """An answer to something this display has sent."""
        if len(self._replies) >= _REPLIES:
            self.close("slow")
            return
        self._replies.append(frame)
        self._wake.set()

    def ping(self, *, unless_within_s: float = 0.0) -> None:
        """Ask for a pong, unless one was asked for just so long ago. Its time runs from when it is sent."""
        if time.monotonic() - self._asked >= unless_within_s:
            self._ping_is_due = True
            self._wake.set()

    def close(self, reason: Goodbye) -> None:
        """Nothing more is sent but the reason; at a restart, after the answers that wait."""
        self._bye = self._bye or Bye(reason)
        self._wake.set()

    @property
    def is_closed(self) -> bool:
        """Whether the last frame is on its way."""
        return self._bye is not None

    @property
    def goodbye(self) -> Goodbye | None:
        """Why the server closes, if it does."""
        return self._bye.reason if self._bye else None

    async def next_frame(self) -> Frame:
        """The next thing to send; after a Bye there is nothing more."""
        while True:
            if self._bye is not None and (self._bye.reason != "restart" or not self._replies):
                return self._bye
            if self._replies:
                return self._replies.popleft()
            if self._view_is_new or self._info_is_new:
                info = self._info if self._info_is_new else None
                self._view_is_new = self._info_is_new = False
                return ViewFrame(self._view, info, self._new_ping())
            if self._ping_is_due:
                return Ping(self._new_ping())
            self._wake.clear()
            await self._wake.wait()

    def _new_ping(self) -> int:
        self._pinged += 1
        self._ping_is_due = False
        self._pings[self._pinged] = self._asked = time.monotonic()
        while len(self._pings) > _PINGS:
            del self._pings[next(iter(self._pings))]
        return self._pinged

    def pong(self, ping: int) -> tuple[float, int] | None:
        """When that ping was sent (monotonic s) and how long it took (ms); None for one that was not sent."""
        sent = self._pings.pop(ping, None)
        if sent is None:
            return None
        return sent, int((time.monotonic() - sent) * 1000)

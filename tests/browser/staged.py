"""A match page that is played the server to, so that any position can be put before it.

The frames are made by the engine and by the code that writes them in the server; only time and table are the test's.
"""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

from playwright.async_api import Page, Route, WebSocketRoute

from app.service.displays import Accepted, Bye, Refused, ViewFrame
from app.service.downloads import ids_of
from app.service.info import Info, PlayerInfo
from app.service.matches import HistoryView
from app.web.messages import write_frame, write_json
from engine.errors import RuleError
from engine.match import AcceptDraw, Command, MakePlay, OfferDraw, Resign
from engine.plays import Hop
from engine.turn import Seat, Seats, Turn
from engine.view import NO_DRAFTS, View, boards_of, phases_of, view_for
from tests.browser.hand import Hand
from tests.browser.screens import until
from tests.builders import Table, a_new_match, hops

NAMES = Seats("Вера", "Глеб")

# A server's time never goes back, but that of the next table may: the next frame alone says what time it is.
FORGET_THE_TIME = """async () => {
  const { ServerTime } = await import('/static/js/clock.js');
  const { note } = ServerTime.prototype;
  ServerTime.prototype.note = function (...frame) {
    this.samples = [];
    ServerTime.prototype.note = note;
    return this.note(...frame);
  };
}"""


class Staged:
    """One page at one table. `sent` is all that the page has sent but pongs; `answers` false: nobody answers it."""

    def __init__(
        self,
        page: Page,
        url: str,
        table: Table,
        seat: Seat | None,
        *,
        names: Seats[str] = NAMES,
        answers: bool = True,
    ) -> None:
        self.page = page
        self.hand = Hand(page)
        self.table = table
        self.seat = seat
        self.names = names
        self.answers = answers
        self.sent: list[dict[str, Any]] = []
        self.pongs: list[int] = []
        self.refusing = False
        self.computer_missing = False
        self.drafts = NO_DRAFTS
        self.opened = 0
        self.analysis: dict[str, Any] | None = None  # what the server answers; None: it knows of no analysis
        self.analyses_asked: list[str] = []  # by which methods it was asked for one
        self._drafted = table.match.turn
        self._url = url
        self._socket: WebSocketRoute | None = None
        self._shown: View | None = None
        self._pings = 0
        self._ahead = table.match.shown_at - time.monotonic() * 1000

    # ---- time ----

    def now(self) -> int:
        """The server's time: the dice of the open phase have just come to rest when the page is opened."""
        return int(self._ahead + time.monotonic() * 1000)

    def pass_time(self, ms: int) -> None:
        """Let so much time have passed."""
        self._ahead += ms

    # ---- the page ----

    async def open(self, path: str = "/match/{id}", until: str = ".match .board, .result") -> None:
        """Open the match page, or another one about the match, and wait until it shows the table."""
        api = f"**/api/matches/{self.table.match.id}"
        await self.page.route(api, self._info_route)
        await self.page.route(f"{api}/history", self._history_route)
        await self.page.route(f"{api}/analysis", self._analysis_route)
        await self.page.route_web_socket("**/ws/matches/*", self._connected)
        await self.page.goto(self._url + path.format(id=self.table.match.id))
        await self.page.wait_for_selector(until)

    async def deal(self, table: Table, seat: Seat | None, *, answers: bool = True) -> None:
        """Put another table before the open page, which then knows nothing of the last one."""
        self.answers = True
        for _ in range(8):  # a page that has heard nothing for long is connecting anew
            self._set(
                a_new_match(table.match.ruleset), seat
            )  # no turn is open: what was half made is forgotten
            with contextlib.suppress(TimeoutError):
                asked = self._pings
                await until(lambda: asked in self.pongs, patience=1)  # noqa: B023 — and what it had to say is said
                break
        await self.page.evaluate("document.activeElement?.blur()")
        await self.page.mouse.move(0, 0)
        await self.page.evaluate(FORGET_THE_TIME)
        self._set(table, seat)
        self.answers = answers
        await self.page.wait_for_function(
            "roll => document.querySelector('.record .open td:nth-child(2)')?.textContent === roll",
            arg="-".join(map(str, (table.roll.first, table.roll.second))),
        )
        self.sent.clear()

    def _set(self, table: Table, seat: Seat | None) -> None:
        self.table, self.seat = table, seat
        self._drafted, self.drafts = table.match.turn, NO_DRAFTS
        self._ahead = table.match.shown_at - time.monotonic() * 1000
        self._shown = self._view()
        self._send(ViewFrame(self._shown, self._info(), self._ping()))

    async def show(self) -> None:
        """Send the page the view of now, if it differs from the last one."""
        self._show()

    def _show(self) -> None:
        view = self._view()
        if self._socket and view != self._shown:
            info = self._info() if view.stage == "over" else None
            self._shown = view
            self._send(ViewFrame(view, info, self._ping()))

    def _view(self) -> View:
        if self._drafted != self.table.match.turn:  # drafts end with their turn
            self._drafted, self.drafts = self.table.match.turn, NO_DRAFTS
        return view_for(self.table.match, self.seat, self.drafts)

    async def lack_computer(self, missing: bool) -> None:
        """No server has the computer at this table, or one has it again."""
        self.computer_missing = missing
        self._shown = self._view()
        self._send(ViewFrame(self._shown, self._info(), self._ping()))

    async def other_plays(self, text: str | None = None) -> None:
        """The other player makes this play, or his first legal one."""
        assert self.seat
        other = self.seat.other
        moves = self.table.a_play(other, text).hops
        self.table.do(MakePlay(other, self.table.turn, moves, self.now()))
        await self.show()

    async def other_drafts(self, text: str) -> None:
        """The other player has made so much of his play."""
        assert self.seat
        self.drafts = self.drafts.with_(self.seat.other, hops(text))
        await self.show()

    async def say(self, text: str) -> None:
        """A frame, word by word."""
        assert self._socket
        self._socket.send(text)

    async def refuse(self, message_id: str, error: RuleError) -> None:
        """Refuse a message of the page's."""
        self._send(Refused(message_id, error))

    async def cut(self, *, for_good: bool = False, reason: str | None = None) -> None:
        """Close the socket from the server's side; `for_good`: refuse to be connected to again."""
        assert self._socket
        self.refusing = for_good
        if reason:
            self._send(Bye(reason))
        socket, self._socket = self._socket, None
        await socket.close(code=1001, reason=reason or "")

    def plays(self) -> list[dict[str, Any]]:
        """The plays that the page has sent."""
        return [message for message in self.sent if message["type"] == "play"]

    # ---- what the server does ----

    def _ping(self) -> int:
        self._pings += 1
        return self._pings

    def _send(self, frame: Any) -> None:
        if self._socket:
            self._socket.send(write_frame(frame, self.now()))

    def _info(self) -> Info:
        match = self.table.match
        player = [PlayerInfo(name, None, "guest", 1000, 1500) for name in (self.names.A, self.names.B)]
        return Info(
            id=match.id,
            state="over" if match.score else "playing",
            created_at=0,
            started_at=0,
            finished_at=self.now() if match.score else None,
            cancelled=None,
            preset="objective",
            ruleset=match.ruleset.to_dict(),
            public=False,
            code=None,
            seat=None if self.seat is None else self.seat.value,
            players=Seats(*player),
            computer_missing=self.computer_missing,
            competition=None,
            shared_dice=False,
            ratings=None,
            rematch=None,
        )

    async def _info_route(self, route: Route) -> None:
        await route.fulfill(body=write_json(self._info()), content_type="application/json")

    async def _history_route(self, route: Route) -> None:
        match = self.table.match
        start = boards_of(self.table.start.games)
        ids = ids_of(self.table.start.games, match)
        history = HistoryView(
            self._info(), view_for(match, self.seat), match.dice_id, start, phases_of(match), ids
        )
        await route.fulfill(body=write_json(history), content_type="application/json")

    async def _analysis_route(self, route: Route) -> None:
        self.analyses_asked.append(route.request.method)
        if self.analysis is None:
            await route.fulfill(status=404, json={"code": "not-found"})
        else:
            await route.fulfill(
                status=202 if route.request.method == "POST" else 200, body=json.dumps(self.analysis)
            )

    async def _connected(self, socket: WebSocketRoute) -> None:
        if self.refusing:
            await socket.close(code=1013)
            return
        self._socket = socket
        self.opened += 1
        socket.on_message(lambda text: self._hear(socket, json.loads(text)))
        self._shown = self._view()
        self._send(ViewFrame(self._shown, self._info(), self._ping()))

    def _hear(self, socket: WebSocketRoute, message: dict[str, Any]) -> None:
        if message["type"] == "pong":
            self.pongs.append(message["ping"])
            return
        self.sent.append(message)
        if socket is not self._socket or not self.answers or self.seat is None:
            return
        moves = tuple(Hop(*move) for move in message.get("moves", ()))
        turn = Turn.parse(message["turn"]) if "turn" in message else None
        if turn is None:
            self._send(Accepted(message["id"]))  # seeds: the dice are the test's
        elif message["type"] == "draft":
            self.drafts = self.drafts.with_(self.seat, moves)
        else:
            try:
                self.table.do(_command(self.seat, turn, moves, message, self.now()))
            except RuleError as error:
                self._send(Refused(message["id"], error))
                return
            self._send(Accepted(message["id"]))
        self._show()


def _command(seat: Seat, turn: Turn, moves: tuple[Hop, ...], message: dict[str, Any], at: int) -> Command:
    match message["type"]:
        case "play":
            return MakePlay(seat, turn, moves, at)
        case "resign":
            return Resign(seat, turn, message["points"], at)
        case "offer-draw":
            return OfferDraw(seat, turn, at)
        case "accept-draw":
            return AcceptDraw(seat, turn, at)
    raise AssertionError(message)

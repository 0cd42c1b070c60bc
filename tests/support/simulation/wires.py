"""The network: one socket between a browser and a server, and notices between the servers."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.websockets import WebSocket

from app.web.socket import display
from tests.support.simulation.loop import Chance, VirtualLoop

_NEXT_S = 1e-6  # between two messages on one line
NOTICED_S = 30.0  # after which a server gives up a line on which nothing comes back


class Gone(OSError):
    """The other end of the socket is not there any longer: what uvicorn raises."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A frame as a server sent it."""

    at: float
    line: Line
    text: str


class Page(Protocol):
    """The browser's end."""

    def opened(self, line: Line) -> None: ...
    def got(self, line: Line, text: str) -> None: ...
    def closed(self, line: Line, code: int) -> None: ...


class Line:
    """A socket: in order and whole, until it breaks. The server's end is the real one of app/web/socket.py."""

    def __init__(
        self, world: Any, node: Any, page: Page, who: str, match_id: str, cookie: str, chance: Chance
    ) -> None:
        self.who = who  # A, B, or X who watches
        self.node = node
        self.reads: list[
            tuple[float, int, str]
        ] = []  # when the server took a message, by its clock, and which
        self.sent: list[Sent] = []
        self._world = world
        self._loop: VirtualLoop = world.loop
        self._page = page
        self._chance = chance
        # How long a play takes, and when the end is noticed, must not hang on what else has gone over it: on drafts.
        self._seed = chance.random()
        self._end = Chance(self._seed, "end")
        self._kinds: Counter[tuple[str, str]] = Counter()  # messages of this type and turn
        self._base = chance.choice((0.002, 0.02, 0.15, 0.4))
        self._to_server: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._last_up = self._last_down = 0.0
        self._cut_up = self._cut_down = float("inf")  # what arrives later is lost
        self._server_knows = False  # that it is over
        self._page_knows = False
        self.stalled_until = 0.0
        scope = {
            "type": "websocket",
            "path": f"/ws/matches/{match_id}",
            "query_string": b"",
            "headers": [(b"cookie", f"nardy={cookie}".encode())] if cookie else [],
            "app": node.app,
        }
        self._to_server.put_nowait({"type": "websocket.connect"})
        self._socket = WebSocket(scope, self._receive, self._send)  # type: ignore[arg-type]
        self._match_id = match_id
        self.watch = not cookie

    @property
    def is_up(self) -> bool:
        """Whether the server has it open."""
        return not self._server_knows

    @property
    def ended_at(self) -> float:
        """When this line was of no use any longer (loop's time)."""
        return min(self._cut_up, self._cut_down, self.node.gone_at)

    async def serve(self) -> None:
        """The server's side of it, from beginning to end."""
        try:
            await display(self._socket, self._match_id, self.watch)
        finally:
            self._server_knows = True
            self._cut_up = min(self._cut_up, self._loop.time())
            self._tell_page(1006)

    # ------------------------------------------------------------------------------------------- the server's end

    async def _receive(self) -> dict[str, Any]:
        message = await self._to_server.get()
        if message["type"] == "websocket.receive":
            self.reads.append((self._loop.time(), self.node.now(), message["text"]))
        return message

    async def _send(self, message: dict[str, Any]) -> None:
        if self._server_knows:
            raise Gone
        if message["type"] == "websocket.accept":
            self._down(lambda: self._page.opened(self))
        elif message["type"] == "websocket.send":
            sent = Sent(self._loop.time(), self, message["text"])
            self.sent.append(sent)
            self._world.sent.append(sent)
            if self.stalled_until > self._loop.time():
                await asyncio.sleep(self.stalled_until - self._loop.time())
            self._down(lambda: self._page.got(self, sent.text))
        elif message["type"] == "websocket.close":
            code = message["code"]
            self._down(lambda: self._tell_page(code))
            self._loop.call_later(self._delay(self._end), self._disconnect, context=self._world.context)

    def _down(self, arrive: Callable[[], None]) -> None:
        at = self._last_down = max(self._last_down + _NEXT_S, self._loop.time() + self._delay())
        if at < self._cut_down:
            self._loop.call_at(
                at, lambda: None if at >= self._cut_down else arrive(), context=self._world.context
            )

    # -------------------------------------------------------------------------------------------- the browser's end

    def write(self, text: str) -> None:
        """Send a message; nobody knows whether it arrives."""
        chance = Chance(self._seed, *self._kind_of(text))
        at = self._last_up = max(self._last_up + _NEXT_S, self._loop.time() + self._delay(chance))
        message = {"type": "websocket.receive", "text": text}

        def arrive() -> None:
            if at < self._cut_up and not self._server_knows:
                self._to_server.put_nowait(message)

        self._loop.call_at(at, arrive, context=self._world.context)

    def close(self) -> None:
        """The browser closes it; what it has sent before still arrives."""
        self._page_knows = True
        self._cut_down = min(self._cut_down, self._loop.time())
        if self._cut_up < float("inf"):
            return  # it was broken before: the server finds out for itself
        self._cut_up = max(self._last_up, self._loop.time()) + 1e-9
        self._loop.call_at(
            self._cut_up + self._delay(self._end), self._disconnect, context=self._world.context
        )

    def break_(self, *, silent: bool) -> None:
        """It breaks; in silence, each end finds out for itself. Some of what is under way still arrives."""
        now = self._loop.time()
        if self._cut_up < float("inf"):
            return
        self._cut_down, self._cut_up = now, now + self._end.random() * 2 * self._base
        learns = NOTICED_S * self._end.random() if silent else self._delay(self._end)
        self._loop.call_at(max(self._cut_up, now + learns), self._disconnect, context=self._world.context)
        if not silent:
            self._tell_page(1006)

    def _tell_page(self, code: int) -> None:
        self._cut_down = min(self._cut_down, self._loop.time())
        if not self._page_knows:
            self._page_knows = True
            self._page.closed(self, code)

    def _disconnect(self) -> None:
        if not self._server_knows:
            self._server_knows = True
            self._to_server.put_nowait({"type": "websocket.disconnect", "code": 1006})

    def _kind_of(self, text: str) -> tuple[str, str, int]:
        """What kind of message it is, and the how manieth of this kind."""
        try:
            message = json.loads(text)
            kind = str(message["type"]), str(message.get("turn"))
        except (ValueError, TypeError, KeyError, AttributeError):
            kind = "", ""  # some browsers send rubbish
        self._kinds[kind] += 1
        return *kind, self._kinds[kind]

    def _delay(self, chance: Chance | None = None) -> float:
        return self._base * (0.5 + (chance or self._chance).random()) + 0.0005


class Notices:
    """What servers tell each other: soon as a rule, but perhaps late, twice, in another order, or never."""

    def __init__(self, world: Any, wild: float) -> None:
        self._world = world
        self._wild = wild

    def tell(self, sender: str, notice: str) -> None:
        # One notice more must not change what happens to the others.
        chance = Chance(self._world.seed, "notice", sender, notice, self._world.loop.time())
        for node in self._world.nodes:
            if node.name != sender and node.database.heard is not None and not node.dead:
                for _ in range(1 + chance.once_in(20) * (self._wild > 0)):
                    delay = chance.expovariate(1 / 0.003)
                    if self._wild and chance.once_in(10):
                        delay += chance.random() * 3
                    lost = self._wild and chance.once_in(12)
                    if not lost:
                        self._world.loop.call_later(
                            delay, self._hear, node, notice, context=self._world.context
                        )

    def _hear(self, node: Any, notice: str) -> None:
        if not node.dead and node.database.heard is not None and self._world.loop.time() >= node.deaf_until:
            node.database.context.run(node.database.heard, notice)

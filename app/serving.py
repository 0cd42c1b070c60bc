"""The process that serves: how it stops.

Browsers are told to come back and have the time to hear it; then connections end, those that do not listen too; then
the store is closed. A second signal ends it at once, which loses nothing that was acknowledged.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib.util
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from app.logs import set_about
from app.service.health import Health
from app.service.matches import Matches
from app.settings import Settings

log = logging.getLogger(__name__)

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_GOODBYE_S = 2.0  # for displays to be told, and to say goodbye themselves
_DEAF_S = 1.0  # then those are cut off that do not read
_REQUESTS_S = 3.0  # and those whose requests are not answered by then
# New objects are looked through for cycles often and so in no time, but between plays rather than in the midst of one,
# where Python would do it by itself: that is left for when there are very many. Old ones are looked through now and
# then.
_YOUNG = 20_000, 5, 1_000_000
_FEW = 100
_TIDY_SHORT_S = 0.02  # between two looks at new objects, while there are some,
_TIDY_LONG_S = 0.32  # and while there are few
_TIDY_ALL_S = 300.0
_TURN_S = 0.0005  # the writer's thread waits so long at most for its turn among Python's threads, not 5 ms
LONGEST_S = 4  # then uvicorn cancels what still runs


def uvicorn_config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """How this application is served, wherever it is."""
    return uvicorn.Config(
        app,
        loop="uvloop" if importlib.util.find_spec("uvloop") else "asyncio",
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        ws_max_size=65_536,  # what is larger is no message: the connection ends before it is read
        ws_ping_interval=5,  # who has vanished without a word is missed within some seconds,
        ws_ping_timeout=8,  # and no proxy sees a minute of silence
        log_config=None,
        access_log=False,  # each request has a line of our own
        forwarded_allow_ips=settings.forwarded_allow_ips,
        timeout_graceful_shutdown=LONGEST_S,
        server_header=False,
    )


async def _tidy() -> None:
    """Looks for cycles that nobody has any longer: through new objects soon, through all of them now and then."""
    pause, looks, all_at = _TIDY_LONG_S, 0, time.monotonic() + _TIDY_ALL_S
    while True:
        await asyncio.sleep(pause)
        if time.monotonic() >= all_at:
            gc.collect()
            all_at = time.monotonic() + _TIDY_ALL_S
        elif gc.get_count()[0] > _FEW:
            looks += 1
            gc.collect(int(looks % _YOUNG[1] == 0))
            pause = _TIDY_SHORT_S
        else:
            pause = min(2 * pause, _TIDY_LONG_S)


class Server(uvicorn.Server):
    """uvicorn's, with a stop of its own."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, ready: Callable[[], None]) -> None:
        """`ready` is called once the server answers."""
        super().__init__(config)
        self._app = app
        self._ready = ready
        self._tidying: asyncio.Task[None]

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Takes up the matches, then listens."""
        await super().startup(sockets)
        # Matches are values without cycles, freed as soon as nobody has them. To look through all of them for cycles
        # every few seconds would only hold up plays, by 300 ms with 500 matches: it is done every few minutes.
        gc.collect()
        gc.freeze()
        gc.set_threshold(*_YOUNG)
        sys.setswitchinterval(_TURN_S)
        self._tidying = asyncio.create_task(_tidy())
        if self.started:
            set_about(node=self._app.state.node)
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Takes a few seconds at most, whatever the other side does."""
        log.info("stopping")
        self._tidying.cancel()
        self._health.stop()
        self._app.state.services.competitions.let_go()
        try:
            async with asyncio.timeout(_GOODBYE_S):
                await self._matches.say_goodbye()
                # Closed too soon, they might lose what they have not read yet.
                while self._open_sockets():  # noqa: ASYNC110 - uvicorn tells nobody when one closes
                    await asyncio.sleep(0.02)
        except TimeoutError:
            log.info("%s displays have not said goodbye", len(self._open_sockets()))
        cutting = asyncio.create_task(self._cut_off())
        await super().shutdown(sockets)
        cutting.cancel()
        log.info("stopped")

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The first signal stops the server, which then ends well; the second ends it where it stands."""
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal has come."""
        if self.should_exit:
            os._exit(128 + sig)
        self.should_exit = True
        if self.started:
            self._health.stop()

    async def _cut_off(self) -> None:
        await asyncio.sleep(_DEAF_S)
        for connection in self._open_sockets():
            connection.transport.abort()
        await asyncio.sleep(_REQUESTS_S - _DEAF_S)
        everyone: Iterable[Any] = list(self.server_state.connections)
        for connection in everyone:
            connection.transport.abort()

    def _open_sockets(self) -> list[Any]:
        """The WebSocket connections among all."""
        return [one for one in self.server_state.connections if hasattr(one, "handshake_complete")]

    @property
    def _health(self) -> Health:
        health: Health = self._app.state.services.health
        return health

    @property
    def _matches(self) -> Matches:
        matches: Matches = self._app.state.services.matches
        return matches

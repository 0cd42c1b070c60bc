"""A stretch of wire between two programs, to be cut, silenced, or made to lose one answer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

_SOCKET = ".s.PGSQL.5432"


@dataclass
class Relay:
    """Passes everything on, both ways, until it is told otherwise."""

    url: str = ""  # ask here instead of there
    lost: int = 0  # answers that were not passed on
    _there: Callable[[], object] = lambda: None
    _here: Callable[[], object] = lambda: None
    _listening: asyncio.Server | None = None
    _silent: bool = False
    _marker: bytes | None = None
    _calls: set[asyncio.Task[None]] = field(default_factory=set)

    async def open(self) -> None:
        """Whoever calls is put through."""
        self._listening = await self._here()  # type: ignore[misc]

    async def cut(self) -> None:
        """Every connection breaks, and new ones are refused, until it is opened again."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        calls = list(self._calls)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    def fall_silent(self) -> None:
        """Connections stay open and nothing is passed on any longer, either way."""
        self._silent = True

    def lose_the_answer_to(self, marker: bytes) -> None:
        """The next message with this in it is passed on; what is answered is not, and the connection breaks."""
        self._marker = marker

    async def _answer(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        call = asyncio.current_task()
        assert call is not None
        self._calls.add(call)
        try:
            with contextlib.suppress(OSError):
                far, forth = await self._there()  # type: ignore[misc]
                try:
                    await self._put_through(near, back, far, forth)
                finally:
                    forth.close()
        except asyncio.CancelledError:
            pass  # it was cut
        finally:
            self._calls.discard(call)
            back.transport.abort()

    async def _put_through(
        self,
        near: asyncio.StreamReader,
        back: asyncio.StreamWriter,
        far: asyncio.StreamReader,
        forth: asyncio.StreamWriter,
    ) -> None:
        loses = asyncio.Event()

        async def ask() -> None:
            while data := await near.read(1 << 16):
                if self._silent:
                    continue
                if self._marker is not None and self._marker in data:
                    self._marker = None
                    loses.set()
                forth.write(data)
                await forth.drain()

        async def answer() -> None:
            while data := await far.read(1 << 16):
                if loses.is_set():
                    self.lost += 1
                    return
                if not self._silent:
                    back.write(data)
                    await back.drain()

        tasks = {asyncio.create_task(ask()), asyncio.create_task(answer())}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def a_relay(url: str, folder: Path) -> AsyncIterator[Relay]:
    """A relay to the server of this URL: a web server's, or that of a PostgreSQL at a port or a socket in a folder."""
    there = urlsplit(url)
    socket_folder = parse_qs(there.query).get("host", [""])[0]
    relay = Relay()
    if socket_folder.startswith("/"):
        await asyncio.to_thread(folder.mkdir, exist_ok=True)
        relay._there = lambda: asyncio.open_unix_connection(f"{socket_folder}/{_SOCKET}")
        relay._here = lambda: asyncio.start_unix_server(relay._answer, folder / _SOCKET)
        relay.url = urlunsplit(there._replace(query=urlencode({"host": str(folder)}, safe="/")))
        await relay.open()
    else:
        port = 0
        relay._there = lambda: asyncio.open_connection(there.hostname, there.port or 5432)
        relay._here = lambda: asyncio.start_server(relay._answer, "127.0.0.1", port)
        await relay.open()
        assert relay._listening is not None
        port = relay._listening.sockets[0].getsockname()[1]
        user = there.netloc.rpartition("@")[0]
        relay.url = urlunsplit(there._replace(netloc=f"{user}@127.0.0.1:{port}".lstrip("@")))
    try:
        yield relay
    finally:
        await relay.cut()

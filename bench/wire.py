"""What the benches of the server share: a server in a process of its own, and players that cost little.

A player here answers pings, keeps the newest view, notes when each frame came, and reads of it only what it needs.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import os
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import msgspec
from websockets.asyncio.client import ClientConnection, connect

from app.settings import Settings
from app.store import upgrade
from tests.support.postgres import running_postgres

RULES = {"reveal_ms": 0, "auto_pass_ms": 0}  # dice that do not roll: what is measured is the server
_SEED = "00" * 16
_ANSWERS = ("accepted", "problem")


@dataclass
class Server:
    """A server that answers at `url`."""

    url: str
    pid: int

    def cpu_s(self) -> float:
        """CPU time it has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> int:
        """Bytes of memory it holds."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.asynccontextmanager
async def a_server(
    database_url: str,
    folder: Path,
    *,
    profile: Path | None = None,
    delays: Path | None = None,
    analysis_level: str = "off",
) -> AsyncIterator[Server]:
    """`nardy serve` in a process of its own.

    At its end it writes, if it is told to, where its time went (`profile`) or how late its loop was (`delays`).
    """
    settings = Settings(database_url=database_url, data_dir=folder, secret_key="a key for this bench")
    await upgrade(settings)
    port = free_port()
    more = {"DATABASE_URL": database_url, "DATA_DIR": str(folder), "PORT": str(port), "HOST": "127.0.0.1"}
    environment = {**os.environ, **more, "SECRET_KEY": settings.secret_key, "LOG_LEVEL": "warning"}
    environment["NEWCOMERS_AN_HOUR"] = "0"  # all players have one address
    environment["ANALYSIS_LEVEL"] = analysis_level
    program = [sys.executable, "-m", "app.cli", "serve"]
    if profile is not None:
        program = [sys.executable, "-m", "bench.profiled", str(profile)]
    if delays is not None:
        program = [sys.executable, "-m", "bench.delayed", str(delays)]
    process = await asyncio.create_subprocess_exec(
        *program, env=environment, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        async with httpx2.AsyncClient() as http, asyncio.timeout(30):
            while True:
                with contextlib.suppress(httpx2.HTTPError):
                    await http.get(f"http://127.0.0.1:{port}/readyz")
                    break
                await asyncio.sleep(0.05)
        yield Server(f"http://127.0.0.1:{port}", process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        await process.wait()


@contextlib.contextmanager
def databases(folder: Path, postgres: str | None) -> Iterator[list[tuple[str, str]]]:
    """Names and URLs: SQLite in this folder, and PostgreSQL where it is asked for.

    `own` is one that is started here, on the disk and durable, and gone afterwards.
    """
    with contextlib.ExitStack() as stack:
        found = [("SQLite", f"sqlite:///{folder / 'nardy.sqlite3'}")]
        if postgres == "own":
            server = stack.enter_context(running_postgres(durable=True))
            postgres = stack.enter_context(server.fresh())
        yield found + ([("PostgreSQL", postgres)] if postgres else [])


def postgres_argument(arguments: argparse.ArgumentParser) -> None:
    """`--postgres`, for `databases`."""
    arguments.add_argument(
        "--postgres",
        nargs="?",
        const="own",
        metavar="URL",
        help="an empty database; without URL, one of its own",
    )


class _Price(msgspec.Struct):
    points: int


class _Mine(msgspec.Struct):
    steps: list[list[tuple[int, int, int, int, int]]] | None
    resign: _Price | None


class _Seat(msgspec.Struct):
    state: str


class View(msgspec.Struct):
    """What a player here reads of a view."""

    turn: str | None
    stage: str
    mine: _Mine | None
    seats: dict[str, _Seat]


class _Frame(msgspec.Struct):
    type: str
    id: str | None = None
    ping: int = 0
    view: View | None = None


_read = msgspec.json.Decoder(_Frame).decode


@dataclass(eq=False)
class Player:
    """One display, a player's or a spectator's."""

    seat: str | None
    cookie: str
    connection: ClientConnection
    view: View | None = None
    sent: str | None = None  # the turn of the newest play on its way
    accepted: int = 0
    refused: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)
    _waiting: list[tuple[Callable[[View], bool], asyncio.Future[float]]] = field(default_factory=list)
    _answers: dict[str, asyncio.Future[str]] = field(default_factory=dict)

    async def read(self) -> None:
        """Take in what comes, until the connection ends."""
        with contextlib.suppress(Exception):
            while True:
                text = await self.connection.recv(decode=False)
                self._heard(time.perf_counter(), _read(text))

    def _heard(self, at: float, frame: _Frame) -> None:
        if frame.type == "view" and frame.view is not None:
            self.view = frame.view
            self.news.set()
            for waits in list(self._waiting):
                if waits[0](frame.view):
                    self._waiting.remove(waits)
                    waits[1].set_result(at)
        elif frame.type in _ANSWERS:
            self.accepted += frame.type == "accepted"
            self.refused += frame.type == "problem"
            answer = self._answers.pop(frame.id or "", None)
            if answer:
                answer.set_result(frame.type)
        if frame.ping:
            asyncio.get_running_loop().create_task(self.send(type="pong", ping=frame.ping))

    async def send(self, **message: Any) -> None:
        await self.connection.send(msgspec.json.encode(message).decode())

    def until(self, holds: Callable[[View], bool]) -> asyncio.Future[float]:
        """When (`time.perf_counter`) a view came of which this holds; now, if it does already."""
        future = asyncio.get_running_loop().create_future()
        if self.view is not None and holds(self.view):
            future.set_result(time.perf_counter())
        else:
            self._waiting.append((holds, future))
        return future

    async def ask(self, id_: str, **message: Any) -> str:
        """Send this and wait for its answer: `accepted` or `problem`."""
        answer = self._answers[id_] = asyncio.get_running_loop().create_future()
        await self.send(id=id_, **message)
        return await answer

    @property
    def owes(self) -> bool:
        """Whether there is something to play that is not on its way yet."""
        view = self.view
        return bool(view and view.mine and view.mine.steps and view.mine.steps[0]) and self.sent != view.turn

    async def play(self) -> str:
        """Send the first play of the step graph; its turn."""
        assert self.view is not None
        assert self.view.turn is not None
        assert self.view.mine is not None
        assert self.view.mine.steps is not None
        turn, steps, node, moves = self.view.turn, self.view.mine.steps, 0, []
        while steps[node]:
            start, end, _, _, node = steps[node][0]
            moves.append((start, end))
        self.sent = turn
        await self.send(type="play", id=f"p{turn}", turn=turn, moves=moves)
        return turn


@dataclass(eq=False)
class Pair:
    """Two players at a match."""

    match: str
    a: Player
    b: Player
    plays: int = 0

    @property
    def is_over(self) -> bool:
        return any(player.view is not None and player.view.stage == "over" for player in (self.a, self.b))

    def __post_init__(self) -> None:
        self.b.news = self.a.news

    async def ready(self) -> bool:
        """Wait until somebody owes a play; false once the match is over."""
        while not (self.is_over or self.a.owes or self.b.owes):
            self.a.news.clear()
            await self.a.news.wait()
        return not self.is_over

    async def play(self) -> float | None:
        """Whoever owes a play makes one: when the opponent's display had news of it; None once the match is over."""
        while await self.ready():
            for mover, other in ((self.a, self.b), (self.b, self.a)):
                if mover.owes:
                    seat = mover.seat or ""
                    turn = await mover.play()
                    self.plays += 1
                    return await other.until(
                        lambda v, turn=turn, seat=seat: v.turn != turn or v.seats[seat].state != "thinking"  # type: ignore[misc]
                    )
        return None


@contextlib.asynccontextmanager
async def a_player(server: Server, match: str, seat: str | None, cookie: str) -> AsyncIterator[Player]:
    """A display of a match."""
    url = server.url.replace("http", "ws", 1)
    watch = "" if seat else "?watch=1"
    headers = {"Cookie": cookie} if cookie else {}
    async with connect(
        f"{url}/ws/matches/{match}{watch}", additional_headers=headers, compression=None, ping_interval=None
    ) as connection:
        player = Player(seat, cookie, connection)
        reading = asyncio.create_task(player.read())
        try:
            yield player
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


@contextlib.asynccontextmanager
async def pairs(
    server: Server, number: int, ruleset: dict[str, Any] | None = None, *, at_once: int = 20
) -> AsyncIterator[list[Pair]]:
    """That many matches, each with its first roll on the table."""
    gate = asyncio.Semaphore(at_once)
    async with (
        contextlib.AsyncExitStack() as stack,
        httpx2.AsyncClient(base_url=server.url, timeout=60) as http,
    ):

        async def a_pair(index: int) -> Pair:
            async with gate:
                cookies = [await signed_in(http, f"Bench {index} {seat}") for seat in "AB"]
                body = {"ruleset": {**RULES, **(ruleset or {})}}
                made = await post(http, "/api/matches", cookies[0], body)
                joined = await post(http, f"/api/invites/{made['code']}/join", cookies[1])
                match = joined["id"]
                a, b = [
                    await stack.enter_async_context(a_player(server, match, seat, cookie))
                    for seat, cookie in zip("AB", cookies, strict=True)
                ]
                await asyncio.gather(a.until(lambda v: True), b.until(lambda v: True))
                hash_ = hashlib.sha256(bytes.fromhex(_SEED)).hexdigest()
                for player in (a, b):
                    await player.ask("c", type="seed-commit", hash=hash_)
                for player in (a, b):
                    await player.ask("r", type="seed-reveal", seed=_SEED)
                await asyncio.gather(*(player.until(lambda v: v.stage == "playing") for player in (a, b)))
                return Pair(match, a, b)

        made = await asyncio.gather(*map(a_pair, range(number)))
        yield list(made)


async def signed_in(http: httpx2.AsyncClient, name: str) -> str:
    answer = await http.post("/api/session", json={"name": name})
    answer.raise_for_status()
    http.cookies.clear()
    return answer.headers["set-cookie"].partition(";")[0]


async def post(http: httpx2.AsyncClient, path: str, cookie: str, body: Any = None) -> Any:
    answer = await http.post(path, json=body, headers={"Cookie": cookie})
    answer.raise_for_status()
    http.cookies.clear()
    return answer.json()


def ms(seconds: list[float], share: float = 0.5) -> float:
    """This quantile, in ms."""
    return sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * share))] * 1000

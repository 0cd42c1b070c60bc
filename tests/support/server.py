"""A real server for tests, on a free port, and players who talk to it as browsers do."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from app.main import create_app
from app.serving import uvicorn_config
from app.settings import Settings

Frame = dict[str, Any]
QUICK = {"reveal_ms": 0, "auto_pass_ms": 0}  # for tests that are not about the dice coming to rest


@dataclass
class LiveServer:
    """A server that answers at `url`."""

    url: str
    app: Any
    settings: Settings

    @property
    def services(self) -> Any:
        """The services behind it, to look behind the scenes."""
        return self.app.state.services


@contextlib.asynccontextmanager
async def running_server(
    database_url: str,
    data_dir: Path,
    *,
    port: int = 0,
    base_url: str = "",
    analysis_level: str = "off",
    newcomers_an_hour: int = 0,
    forwarded_allow_ips: str = "127.0.0.1",
    **options: Any,
) -> AsyncIterator[LiveServer]:
    """A server on this port or a free one, until the block ends. It analyses no matches unless it is told to, and takes
    as many newcomers as come: all players of a test have one address.
    """
    options.setdefault("computer_pace_ms", 0)
    settings = Settings(
        port=0,
        database_url=database_url,
        data_dir=data_dir,
        secret_key="a key for tests only",
        base_url=base_url,
        analysis_level=analysis_level,
        newcomers_an_hour=newcomers_an_hour,
        forwarded_allow_ips=forwarded_allow_ips,
    )
    app = create_app(settings, **options)
    listening = socket.create_server(("127.0.0.1", port))
    server = uvicorn.Server(uvicorn_config(app, settings))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:
        if serving.done():
            await serving
            raise RuntimeError("the server did not start")
        await asyncio.sleep(0.01)
    try:
        yield LiveServer(f"http://127.0.0.1:{listening.getsockname()[1]}", app, settings)
    finally:
        if not serving.done() and hasattr(app.state, "services"):
            app.state.services.competitions.let_go()  # as `app.serving` does: pages of events wait for what is next
        server.should_exit = True
        await serving
        listening.close()


@dataclass
class Person:
    """Somebody with a browser: a session over HTTP."""

    http: httpx2.AsyncClient

    async def get(self, path: str) -> Any:
        answer = await self.http.get(path)
        answer.raise_for_status()
        return answer.json()

    async def post(self, path: str, body: Any = None, **headers: str) -> Any:
        answer = await self.http.post(path, json=body, headers=headers)
        assert answer.status_code < 300, answer.text
        return answer.json()

    async def refused(self, path: str, body: Any = None) -> dict[str, Any]:
        """The problem that a post is answered with."""
        answer = await self.http.post(path, json=body)
        assert answer.status_code >= 400, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        problem: dict[str, Any] = answer.json()
        return problem

    @contextlib.asynccontextmanager
    async def display(self, match_id: str, *, watch: bool = False) -> AsyncIterator[Display]:
        """A socket to a match."""
        url = str(self.http.base_url).replace("http", "ws", 1).rstrip("/")
        cookies = "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())
        headers = {"Cookie": cookies} if cookies else {}
        if token := self.http.headers.get("Authorization"):
            headers["Authorization"] = token
        address = f"{url}/ws/matches/{match_id}{'?watch=1' if watch else ''}"
        async with connect(address, additional_headers=headers, compression=None) as connection:
            display = Display(connection)
            reading = asyncio.create_task(display.read())
            try:
                yield display
            finally:
                reading.cancel()
                await asyncio.gather(reading, return_exceptions=True)


@contextlib.asynccontextmanager
async def person(server: LiveServer, name: str | None) -> AsyncIterator[Person]:
    """Somebody who has said his name; None has not."""
    async with httpx2.AsyncClient(base_url=server.url) as http:
        somebody = Person(http)
        if name is not None:
            await somebody.post("/api/session", {"name": name})
        yield somebody


@contextlib.asynccontextmanager
async def bot(server: LiveServer, token: str) -> AsyncIterator[Person]:
    """A program that comes in by a token."""
    async with httpx2.AsyncClient(base_url=server.url, headers={"Authorization": f"Bearer {token}"}) as http:
        yield Person(http)


@contextlib.asynccontextmanager
async def a_bot(server: LiveServer, name: str) -> AsyncIterator[Person]:
    """A new bot, whose owner has gone."""
    async with person(server, f"{name}'s owner") as owner:
        made = await owner.post("/api/bots", {"name": name})
    async with bot(server, made["token"]) as program:
        yield program


@dataclass
class Display:
    """One socket: every frame that came over it but pings, and the newest view."""

    connection: ClientConnection
    frames: list[Frame] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    view: Any = None
    info: Any = None
    answers_pings: bool = True
    ended: asyncio.Event = field(default_factory=asyncio.Event)  # all that ever came has been taken in
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)
    _seed: str = field(default_factory=lambda: secrets.token_hex(16))

    async def read(self) -> None:
        """Take in what comes."""
        with contextlib.suppress(Exception):
            async for text in self.connection:
                frame = json.loads(text)
                if frame["type"] == "view":
                    self.view = frame["view"]
                    self.info = frame.get("info", self.info)
                if frame.get("ping") and self.answers_pings:
                    with contextlib.suppress(
                        ConnectionClosed
                    ):  # what came before the end is read all the same
                        await self.connection.send(json.dumps({"type": "pong", "ping": frame["ping"]}))
                async with self._news:
                    self.raw.append(str(text))
                    if frame["type"] != "ping":  # comes by the clock, whatever happens in the match
                        self.frames.append(frame)
                    self._news.notify_all()
        self.ended.set()

    async def send(self, **message: Any) -> None:
        await self.connection.send(json.dumps(message))

    async def until(self, holds: Callable[[], Any], patience: float = 5.0) -> None:
        """Wait until this holds; it is asked after every frame."""
        async with asyncio.timeout(patience), self._news:
            await self._news.wait_for(holds)

    async def until_view(self, holds: Callable[[Any], Any], patience: float = 5.0) -> Any:
        """The newest view, once it is so."""
        await self.until(lambda: self.view is not None and holds(self.view), patience)
        return self.view

    async def ask(self, **message: Any) -> Frame:
        """Send a message with an id; the frame that answers it."""
        message.setdefault("id", secrets.token_hex(6))
        seen = len(self.frames)

        def answer() -> Frame | None:
            answers = (f for f in self.frames[seen:] if f["type"] in ("accepted", "problem"))
            return next((f for f in answers if f["id"] == message["id"]), None)

        await self.send(**message)
        await self.until(answer)
        found = answer()
        assert found is not None
        return found

    async def closed(self, patience: float = 5.0) -> int | None:
        """Wait until the server has closed it: with which code."""
        async with asyncio.timeout(patience):
            await self.connection.wait_closed()
        return self.connection.close_code

    async def commit_seed(self) -> None:
        """The browser's half of the dice, hidden."""
        hash_ = hashlib.sha256(bytes.fromhex(self._seed)).hexdigest()
        assert (await self.ask(type="seed-commit", hash=hash_))["type"] == "accepted"

    async def reveal_seed(self) -> None:
        """The browser's half of the dice, shown once both hashes are in."""
        await self.until_view(lambda v: v["stage"] != "seeding" or all(_hashed(v, seat) for seat in "AB"))
        if self.view["stage"] == "seeding":
            await self.ask(type="seed-reveal", seed=self._seed)

    async def play(self, moves: list[list[int]], turn: str | None = None, **more: Any) -> Frame:
        return await self.ask(type="play", turn=turn or self.view["turn"], moves=moves, **more)

    async def play_something(self) -> list[list[int]]:
        """Any legal play of the open roll: the first way through the step graph."""
        turn, moves = self.view["turn"], first_way(self.view["mine"]["steps"])
        answer = await self.play(moves, turn)
        assert answer["type"] == "accepted", answer
        await self.until_view(lambda v: v["turn"] != turn or not owes(v))
        return moves


def _hashed(view: Any, seat: str) -> bool:
    return bool(view["dice"]["hashes"][seat]) or seat in view["dice"]["defaulted"]


Steps = list[list[list[int]]]


def first_way(steps: Steps, pick: Callable[[list[list[int]]], list[int]] | None = None) -> list[list[int]]:
    """Moves along the step graph to a finished play."""
    node, moves = 0, []
    while steps[node]:
        edge = pick(steps[node]) if pick else steps[node][0]
        moves.append(edge[:2])
        node = edge[4]
    return moves


def owes(view: Any) -> bool:
    """Whether this display's player has something to play."""
    mine = view["mine"]
    return bool(mine and mine["steps"] and mine["steps"][0])


@contextlib.asynccontextmanager
async def seated(
    server: LiveServer,
    ruleset: dict[str, Any] | None = None,
    preset: str = "objective",
    opponent: str = "link",
) -> AsyncIterator[tuple[str, Person, Person, Display, Display]]:
    """Two people at a match whose first roll is on the table; with `anyone` as the opponent everybody may watch it."""
    async with person(server, "Anna") as anna, person(server, "Boris") as boris:
        wanted = {"preset": preset, "ruleset": {**QUICK, **(ruleset or {})}, "opponent": opponent}
        made = await anna.post("/api/matches", wanted)
        joined = await boris.post(f"/api/invites/{made['code']}/join")
        match_id = joined["id"]
        async with anna.display(match_id) as a, boris.display(match_id) as b:
            await asyncio.gather(a.until(lambda: a.view), b.until(lambda: b.view))
            await asyncio.gather(a.commit_seed(), b.commit_seed())
            await asyncio.gather(a.reveal_seed(), b.reveal_seed())
            await asyncio.gather(
                a.until_view(lambda v: v["stage"] == "playing"),
                b.until_view(lambda v: v["stage"] == "playing"),
            )
            yield match_id, anna, boris, a, b


@contextlib.asynccontextmanager
async def up_to_b(
    server: LiveServer, ruleset: dict[str, Any]
) -> AsyncIterator[tuple[str, Person, Person, Display, Display]]:
    """Two people in 1K, where the one in seat A has played and the other has something to play."""
    while True:  # not every roll gives both of them something
        async with seated(server, ruleset) as (match_id, anna, boris, a, b):
            await asyncio.gather(a.play_something(), b.play_something())
            await asyncio.gather(*(d.until_view(lambda v: v["turn"] != "1W") for d in (a, b)))
            if a.view["turn"] == b.view["turn"] == "1K" and owes(a.view) and owes(b.view):
                await a.play_something()
                await b.until_view(lambda v: v["seats"]["A"]["state"] == "played")
                yield match_id, anna, boris, a, b
                return


async def play_to_the_end(*displays: Display, patience: float = 60.0) -> None:
    """Both play the first way that is offered, until the match is over."""

    async def play_on(display: Display) -> None:
        while display.view["stage"] != "over":
            if owes(display.view):
                await display.play_something()
            await display.until_view(lambda v: v["stage"] == "over" or owes(v), patience)

    async with asyncio.timeout(patience):
        await asyncio.gather(*(play_on(display) for display in displays))

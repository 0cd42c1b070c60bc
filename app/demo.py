"""A whole match between two computer players, over HTTP and sockets, with nothing but what two browsers have."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import http.client
import os
import random
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Origin

from app.dicecheck import NotAMatch, check
from engine.bot import Computer, Heuristic
from engine.plays import Hop
from engine.view import Result, View

Say = Callable[[str], None]

_PATIENCE_S = 60  # without anything new, something has gone wrong
_START_S = 30
_LATE = {"stale-turn", "already-played", "match-over"}  # the server has passed for us: all is well


class DemoFailed(Exception):
    """The match did not come to its end as it should."""


class Hasty:
    """Plays like another computer, but every sixth time or so whatever comes first to hand."""

    def __init__(self, other: Computer) -> None:
        self._other = other
        self.name = f"Hasty {other.name}"
        self.version = other.version

    def choose(self, view: View) -> tuple[Hop, ...]:
        """A legal play; not always a good one."""
        if random.random() > 1 / 6:
            return self._other.choose(view)
        assert view.mine is not None
        assert view.mine.steps is not None
        node, hops = 0, list[Hop]()
        while edges := view.mine.steps[node]:
            start, end, _, _, node = random.choice(edges)
            hops.append(Hop(start, end))
        return tuple(hops)


def show(url: str | None, pace_s: float, say: Say) -> None:
    """Plays the match, on a server of its own unless there is a URL. Raises DemoFailed."""
    with contextlib.nullcontext(url.rstrip("/")) if url else _own_server() as base:
        try:
            asyncio.run(_match(base, pace_s, say))
        except (OSError, WebSocketException, msgspec.MsgspecError, TimeoutError) as error:
            raise DemoFailed(f"{base}: {str(error) or 'no answer'}") from error


@contextlib.contextmanager
def _own_server() -> Iterator[str]:
    """A server on a free port with a data folder that is thrown away."""
    ours = {"HOST", "PORT", "DATABASE_URL", "DATA_DIR", "BASE_URL", "SECRET_KEY", "LOG_FORMAT"}
    environment = {name: text for name, text in os.environ.items() if name not in ours}
    environment["LOG_LEVEL"] = "warning"
    with tempfile.TemporaryDirectory(prefix="nardy-demo-") as folder:
        server = subprocess.Popen(
            [sys.executable, "-m", "app.cli", "serve", "--port", "0", "--data", folder],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        try:
            assert server.stdout is not None
            line = server.stdout.readline()  # ends with the server, if that does not start
            if " at http://" not in line:
                raise DemoFailed("the server did not start")
            yield line.split(" at ")[1].strip()
        finally:
            server.terminate()
            server.wait(_START_S)


@dataclass
class _Browser:
    """A player: a cookie, one socket, and a computer in place of a head."""

    base: str
    name: str
    computer: Computer
    cookie: str = ""
    seed: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    done: set[str] = field(default_factory=set)  # what has been sent, by turn or by name
    planned: list[tuple[float, dict[str, Any]]] = field(default_factory=list)

    async def call(self, method: str, path: str, body: object = None) -> bytes:
        """An answer of the HTTP API. Raises DemoFailed if it is a refusal."""
        return await asyncio.to_thread(self._call, method, path, body)

    def _call(self, method: str, path: str, body: object) -> bytes:
        address = urlsplit(self.base)
        kind = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
        headers = {"Cookie": self.cookie, "Origin": self.base, "Idempotency-Key": secrets.token_hex(8)}
        with contextlib.closing(kind(address.netloc, timeout=_START_S)) as connection:
            text = None if body is None else msgspec.json.encode(body)
            connection.request(method, path, text, {**headers, "Content-Type": "application/json"})
            answer = connection.getresponse()
            if cookie := answer.getheader("Set-Cookie"):
                self.cookie = cookie.partition(";")[0]
            content = answer.read()
        if answer.status >= 400:
            raise DemoFailed(f"{method} {path} was answered with {answer.status}: {content.decode()}")
        return content

    async def play(self, match_id: str, pace_s: float) -> Result:
        """Plays the match to its end, and says what came of it."""
        address = f"ws{self.base.removeprefix('http')}/ws/matches/{match_id}"
        async with connect(
            address, origin=Origin(self.base), additional_headers={"Cookie": self.cookie}, compression=None
        ) as socket:
            while True:
                frame = await self._next_frame(socket)
                if "ping" in frame:
                    await _send(socket, {"type": "pong", "ping": frame["ping"]})
                match frame["type"]:
                    case "view":
                        view = msgspec.convert(frame["view"], View)
                        if view.result is not None:
                            return view.result
                        self._plan(view, pace_s)
                    case "problem" if frame["problem"]["code"] not in _LATE:
                        raise DemoFailed(f"{self.name} was refused: {frame['problem']['detail']}")
                    case "bye":
                        raise DemoFailed(f"the server took its leave of {self.name}: {frame['reason']}")

    async def _next_frame(self, socket: ClientConnection) -> dict[str, Any]:
        """What the server sends next; meanwhile what has been planned is sent when its time comes."""
        now = asyncio.get_running_loop().time
        while True:
            while self.planned and self.planned[0][0] <= now():
                await _send(socket, self.planned.pop(0)[1])
            wait = self.planned[0][0] - now() if self.planned else _PATIENCE_S
            try:
                async with asyncio.timeout(wait):
                    frame: dict[str, Any] = msgspec.json.decode(await socket.recv())
                    return frame
            except TimeoutError:
                if not self.planned:
                    raise

    def _plan(self, view: View, pace_s: float) -> None:
        """What this view asks of its player: his part of the dice, or a play."""
        assert view.seat is not None
        hashes = (view.dice.hashes.A, view.dice.hashes.B)
        if view.stage == "seeding":
            digest = hashlib.sha256(self.seed).hexdigest()
            if self._first("seed-commit"):
                self._send_in(0, {"type": "seed-commit", "id": "commit", "hash": digest})
            elif None not in hashes and self._first("seed-reveal"):
                self._send_in(0, {"type": "seed-reveal", "id": "reveal", "seed": self.seed.hex()})
        elif view.mine and view.mine.steps is not None and view.turn and self._first(view.turn):
            hops = self.computer.choose(view)
            if pace_s:  # the opponent, if he has played, sees the checkers go one by one
                for made in range(1, len(hops)):
                    draft = {"type": "draft", "turn": view.turn, "moves": hops[:made]}
                    self._send_in(pace_s * made / len(hops), draft)
            play = {"type": "play", "id": f"play-{view.turn}", "turn": view.turn, "moves": hops}
            self._send_in(pace_s, play)

    def _first(self, what: str) -> bool:
        if what in self.done:
            return False
        self.done.add(what)
        return True

    def _send_in(self, seconds: float, message: dict[str, Any]) -> None:
        self.planned.append((asyncio.get_running_loop().time() + seconds, message))


async def _send(socket: ClientConnection, message: dict[str, Any]) -> None:
    await socket.send(msgspec.json.encode(message).decode())


async def _match(base: str, pace_s: float, say: Say) -> None:
    anna = _Browser(base, "Anna", Heuristic())
    boris = _Browser(base, "Boris", Hasty(Heuristic()))
    for player in (anna, boris):
        await player.call("POST", "/api/session", {"name": player.name})
    made = await anna.call("POST", "/api/matches", {"preset": "objective", "opponent": "link"})
    info = msgspec.json.decode(made)
    match_id = info["id"]
    await boris.call("POST", f"/api/invites/{info['code']}/join")
    say(f"Watch at {base}/match/{match_id}")
    result, same = await asyncio.gather(anna.play(match_id, pace_s), boris.play(match_id, pace_s))
    if result != same:
        raise DemoFailed("the two players were told different results")
    seats = msgspec.json.decode(await anna.call("GET", f"/api/matches/{match_id}"))["players"]
    say(_words(result, {seat: seats[seat]["name"] for seat in "AB"}))
    try:
        checked = check(await anna.call("GET", f"/api/matches/{match_id}.json"))
    except NotAMatch as error:
        raise DemoFailed(f"the match that was downloaded is {error}") from None
    say(str(checked))
    if checked.wrong:
        raise DemoFailed("the dice are not as promised")


def _words(result: Result, names: dict[str, str]) -> str:
    """The result in a few lines."""
    lines = []
    for game, outcome in (("X", result.games.X), ("Y", result.games.Y)):
        winner = outcome["winner"]
        if winner:
            lines.append(
                f"Game {game}: {names[winner]} won, {outcome['class']}, {abs(outcome['points_for_A'])}."
            )
        else:
            pips = f"{outcome['white_pips']} pips to {outcome['black_pips']}"
            lines.append(f"Game {game}: {'tied' if outcome['outcome'] == 'T' else f'not finished, {pips}'}.")
    lines.append(
        f"{names[result.winner]} won the match, {result.points.A:+} : {result.points.B:+}."
        if result.winner
        else "The match is drawn."
    )
    return "\n".join(lines)

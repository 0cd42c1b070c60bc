"""Races: both players in one moment, every message to every server, a play against its flag, a lost answer."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.service.displays import Accepted, Refused
from app.settings import Settings
from app.store import Store, open_store
from app.store.database import NoAnswer
from app.store.sqlite import SqliteDatabase
from engine.match import PlayMade
from engine.ruleset import DEFAULT, Ruleset
from engine.scoring import Outcome
from engine.turn import Seat, Turn
from tests.support.nodes import is_server
from tests.support.races import Pair, a_pair, history_of, play_at_once, race, serving, unix_ms, way_of
from tests.support.relay import Relay, a_relay
from tests.support.server import Display, LiveServer, Person, first_way, owes, running_server, seated
from tests.support.stubborn import message_of


@contextlib.asynccontextmanager
async def _servers(store: Store, settings: Settings) -> AsyncIterator[list[Store]]:
    """One server on SQLite, two on PostgreSQL."""
    stores = [store]
    if is_server(store):
        stores.append(await open_store(settings))
    yield stores
    for opened in stores[1:]:
        await opened.close()


async def test_both_play_in_one_moment_hundreds_of_times(store: Store, store_settings: Settings) -> None:
    """CASES D1: both stored, one new roll a phase, numbers consecutive; a thousand times: `python -m bench.races`."""
    async with _servers(store, store_settings) as stores:
        done, matches = await race(stores, 300)
    assert done >= 300
    assert matches <= 40


async def test_every_play_of_both_is_sent_to_every_server_in_one_moment(
    store: Store, store_settings: Settings
) -> None:
    """CASES D2, D3: however often a play comes and wherever, it is one play, and every sender is told so."""
    async with _servers(store, store_settings) as stores:
        done, _ = await race(stores, 100, at_all=True)
    assert done >= 100


# ------------------------------------------------------------------------------------- a play against its deadline


@dataclass
class Watch:
    """A clock (ms) that stands until it is started, and then goes as time does; servers' clocks differ a little."""

    ms: int
    began: float | None = None

    def __call__(self) -> int:
        return self.ms + (0 if self.began is None else int((time.monotonic() - self.began) * 1000))

    def start(self) -> None:
        self.began = time.monotonic()

    def off(self, ms: int) -> Callable[[], int]:
        """The same, but for so many ms."""
        return lambda: self() + ms


RACES, AT_ONCE, APART_MS = 120, 20, 15


def _blitz(bank_ms: int) -> Ruleset:
    clock = {"type": "simple", "bank_ms": bank_ms, "delay_ms": 0}
    return DEFAULT.changed({"reveal_ms": 0, "auto_pass_ms": 0, "clock": clock, "grace_s": 0})


async def _is_up_to_b(pair: Pair) -> bool:
    """Both play round 1, and A his half of 2W: whether B has something to play then."""
    a, b = pair.a[0], pair.b[0]
    await play_at_once(pair, 2)
    way = way_of(a.view)
    if (a.view.turn, b.view.turn) != ("2W", "2W") or way is None or way_of(b.view) is None:
        return False
    await a.play("2W", way)
    await b.until(lambda view: view.seats.A.state == "played")
    return True


async def test_a_play_and_the_flag_it_races_are_never_both(store: Store, store_settings: Settings) -> None:
    """CASES E1, E3, §7.1: around the last moment at which it counts, a play is in time or the flag falls, once.

    Each play comes within 30 ms of zero and the longest allowance for lag, when the server acts on the flag by itself;
    on two servers the one that the player is at is not the one that his opponent is at, and their clocks differ.
    """
    chance = random.Random(8)
    watch = Watch(unix_ms())
    async with _servers(store, store_settings) as stores, serving(stores, watch) as nodes:
        racing, began = list[Pair](), watch() - 20_000
        while len(racing) < RACES:
            numbers = range(len(racing), len(racing) + AT_ONCE)  # one flag after the other
            rules = [_blitz(300 + APART_MS * number) for number in numbers]
            pairs = [await a_pair(store, nodes, ruleset=rule, created_at=began) for rule in rules]
            fit = await asyncio.gather(*map(_is_up_to_b, pairs))
            racing += [pair for pair, is_fit in zip(pairs, fit, strict=True) if is_fit]
        for node in nodes:  # they had set their timers by a clock that stood
            node._now = watch.off(chance.randint(-5, 5))
        watch.start()
        for pair in racing:
            for node in nodes:
                room = node._rooms[pair.match_id]
                room.round_trips[Seat.B] = 1_500  # measured, so that all of the allowance is his
                node._look_ahead(room)

        async def play_late(pair: Pair) -> tuple[int, Accepted | Refused]:
            hand = pair.b[0]
            late = chance.randint(-30, 30)
            due = hand.view.seats.B.flag_at + 1_000 + late
            way = way_of(hand.view)
            assert way is not None
            await asyncio.sleep((due - watch()) / 1000)
            await hand.play("2W", way, "late")
            return late, await hand.answer()

        answers = await asyncio.gather(*map(play_late, racing))
        for pair in racing:
            await pair.a[0].until(lambda view: view.stage == "over")
        in_time = 0
        for pair, (late, answer) in zip(racing, answers, strict=True):
            found = await history_of(store, pair.match_id)
            bank = found.ruleset.clock.bank_ms
            rows = await store.matches.events(pair.match_id)
            played = [
                event
                for row in rows
                for event in row.events
                if isinstance(event, PlayMade) and (event.seat, event.turn) == (Seat.B, Turn(2))
            ]
            ended = found.ended
            assert ended is not None
            was_flagged = ended.by is Seat.B and found.turn == Turn(2)
            assert bool(played) != was_flagged, f"{late} ms late"
            assert isinstance(answer, Accepted) == bool(played), "answered otherwise than it was stored"
            assert sum(message_of(row.command_id) == "B:late" for row in rows) == len(played)
            assert ended.outcome is Outcome.TIME
            if was_flagged:
                assert ended.at == found.shown_at + bank, "the moment of zero, not that of being acted on"
            else:
                assert played[0].thought_ms - played[0].allowed_ms < bank
            for hand in (*pair.a, *pair.b):
                view = await hand.until(lambda view: view.stage == "over")
                assert found.score is not None
                assert view.result is not None
                assert view.result.points == found.score.points
                assert view.result.by == ended.by
            in_time += bool(played)
        assert 0 < in_time < len(racing), "some of them in time and some too late, else it was no race"


# ------------------------------------------------------------------------------------------- an answer that is lost


COMMIT = b"COMMIT"


class Thread:
    """The writer of an SQLite file, whose answer can be lost: what it wrote is there, and nobody is told so."""

    def __init__(self, database: SqliteDatabase) -> None:
        self.lost = 0
        self._database = database

    def lose_the_answer_to(self, marker: bytes) -> None:
        name = "write" if marker == COMMIT else "append"
        real = getattr(self._database, name)

        async def answer_lost(work: Any, *more: Any, **named: Any) -> Any:
            done = await real(work, *more, **named)
            if name == "write" or marker.decode() in (work.command_id or ""):
                setattr(self._database, name, real)
                self.lost += 1
                raise NoAnswer
            return done

        setattr(self._database, name, answer_lost)


@contextlib.asynccontextmanager
async def _losing(settings: Settings, folder: Path) -> AsyncIterator[tuple[LiveServer, Thread | Relay]]:
    """A server, and what can lose the answer of its database."""
    url = settings.database_url
    if settings.sqlite_file is not None:
        async with running_server(url, folder / "data") as server:
            yield server, Thread(server.services.matches._store._database)
        return
    async with a_relay(url, folder / "relay") as relay, running_server(relay.url, folder / "data") as server:
        yield server, relay


async def _come_back(display: Display, who: Person, match_id: str, wish: dict[str, Any]) -> dict[str, Any]:
    """The answer to a message that is sent again with its id, as a page does, over another connection if need be."""
    closed = asyncio.create_task(display.connection.wait_closed())
    asking = asyncio.create_task(display.ask(**wish))
    await asyncio.wait({closed, asking}, return_when=asyncio.FIRST_COMPLETED)
    if asking.done():
        answer = asking.result()
    else:
        async with who.display(match_id) as again:
            await again.until(lambda: again.view)
            answer = await again.ask(**wish)
    for task in (closed, asking):
        task.cancel()
    await asyncio.gather(closed, asking, return_exceptions=True)
    return answer


async def test_a_play_whose_commit_was_not_answered_is_stored_and_answered_once(
    store_settings: Settings, tmp_path: Path
) -> None:
    """CASES D3: the row is there, the connection to the database broke before it said so."""
    async with _losing(store_settings, tmp_path) as (server, wire):
        async with seated(server) as (match_id, anna, _, a, b):
            for turn in ("1W", "1K"):
                view = await a.until_view(lambda v, turn=turn: v["turn"] == turn)
                if owes(view):
                    wire.lose_the_answer_to(f"A:lost-{turn}:".encode())
                    way = first_way(view["mine"]["steps"])
                    wish = {"type": "play", "turn": turn, "moves": way, "id": f"lost-{turn}"}
                    assert (await _come_back(a, anna, match_id, wish))["type"] == "accepted"
                await b.until_view(lambda v, turn=turn: v["turn"] == turn)
                if owes(b.view):
                    await b.play_something()
                if a.connection.close_code is not None:
                    break  # on SQLite its display was broken off, and it came back on another one
            assert wire.lost
            store = server.services.matches._store
            rows = await store.matches.events(match_id)
            assert sum(message_of(row.command_id) == "A:lost-1W" for row in rows) == 1
            found = await history_of(store, match_id)
            view = await anna.get(f"/api/matches/{match_id}/view")
            assert view["turn"] == str(found.turn)


async def test_the_last_command_whose_commit_was_not_answered_ends_the_match_once(
    store_settings: Settings, tmp_path: Path
) -> None:
    """CASES D3: the result and the ratings are in the same transaction, and nobody is rated twice."""
    async with _losing(store_settings, tmp_path) as (server, wire):
        async with seated(server) as (match_id, anna, boris, a, b):
            await a.play_something()
            await b.play_something()
            view = await a.until_view(lambda v: v["turn"] == "1K" and owes(v))
            price = view["mine"]["resign"]["points"]
            wire.lose_the_answer_to(COMMIT)
            wish = {"type": "resign", "turn": "1K", "points": price, "id": "lost"}
            assert (await _come_back(a, anna, match_id, wish))["type"] == "accepted"
            assert wire.lost == 1
            view = await b.until_view(lambda v: v["stage"] == "over", 10)
            assert view["result"]["points"] == {"A": -price, "B": price}
            found = await history_of(server.services.matches._store, match_id)
            assert found.ended is not None
            assert found.ended.outcome is Outcome.RESIGNED
            for who, seat, won in ((anna, "A", -price), (boris, "B", price)):
                player = (await who.get("/api/session"))["player"]
                assert (player["points"], player["matches"]) == (1000 + won, 1)
                ratings = (await who.get(f"/api/matches/{match_id}"))["ratings"]
                assert ratings[seat]["points"] == {"before": 1000, "after": 1000 + won}

"""What users of such servers have reported: dice that change, boards that stay wrong, clocks below zero, long waits."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from app.service.matches import Matches
from app.settings import Settings
from app.store import Store
from engine.match import OrderPause
from engine.ruleset import DEFAULT, Ruleset
from engine.scoring import Outcome
from engine.turn import Seat
from tests.support.races import Hand, Pair, a_pair, history_of, play_at_once, serving, way_of
from tests.support.relay import a_relay
from tests.support.server import (
    Display,
    LiveServer,
    first_way,
    owes,
    person,
    running_server,
    seated,
    up_to_b,
)
from tests.support.stores import NOON


@pytest_asyncio.fixture
async def server(store_settings: Settings) -> AsyncIterator[LiveServer]:
    """A server on each kind of database."""
    async with running_server(store_settings.database_url, store_settings.data_dir / "data") as running:
        yield running


async def _to_1K(a: Display, b: Display) -> bool:
    """Both play 1W; whether both have something to play in 1K."""
    await asyncio.gather(a.play_something(), b.play_something())
    await asyncio.gather(*(d.until_view(lambda v: v["turn"] != "1W") for d in (a, b)))
    return a.view["turn"] == b.view["turn"] == "1K" and bool(owes(a.view) and owes(b.view))


# ------------------------------------------------------------------------------------------------- dice and boards


def _rolls(*texts: str) -> set[str]:
    """The rolls of 1W in these texts, to the byte."""
    return {roll for text in texts for roll in re.findall(r'"turn":"1W","roll":(.*?),"shown_at"', text)}


async def test_the_dice_stay_as_they_are_over_undo_reload_tabs_and_a_restart(
    store_settings: Settings, tmp_path: Path
) -> None:
    """CASES A12: from whichever display, by whichever channel, the same bytes."""
    texts, url = list[str](), store_settings.database_url
    async with running_server(url, tmp_path / "data") as server:
        async with seated(server) as (match_id, anna, boris, a, b):
            way = first_way(a.view["mine"]["steps"])
            await a.send(type="draft", turn="1W", moves=way[:1])
            async with anna.display(match_id) as tab:
                await tab.until_view(lambda v: v["mine"]["draft"])
                await a.send(type="draft", turn="1W", moves=[])
                await tab.until_view(lambda v: not v["mine"]["draft"])
                await a.connection.close()
                async with anna.display(match_id) as reloaded, person(server, None) as x:
                    await reloaded.until(lambda: reloaded.view)
                    await reloaded.send(type="draft", turn="1W", moves=way[:1])
                    await tab.until_view(lambda v: v["mine"]["draft"])
                    async with x.display(match_id) as watching:
                        await watching.until(lambda: watching.view)
                        texts += [*a.raw, *b.raw, *tab.raw, *reloaded.raw, *watching.raw]
                    texts += [(await who.http.get(f"/api/matches/{match_id}/view")).text for who in (anna, x)]
            cookies = anna.http.cookies, boris.http.cookies
    first = _rolls(*texts)
    assert len(first) == 1
    async with running_server(url, tmp_path / "data") as server:
        async with person(server, None) as anna, person(server, None) as boris:
            anna.http.cookies, boris.http.cookies = cookies
            async with anna.display(match_id) as a, boris.display(match_id) as b:
                await a.until(lambda: a.view)
                await b.until(lambda: b.view)
                assert _rolls(*a.raw) == _rolls(*b.raw) == first
                assert (await a.play(way, "1W"))["type"] == "accepted"
                await b.until_view(lambda v: v["seats"]["A"]["state"] == "played")
                assert _rolls(*a.raw, *b.raw) == first


async def test_one_who_heard_nothing_for_a_while_is_up_to_date_with_the_first_frame(
    server: LiveServer, tmp_path: Path
) -> None:
    """CASES D5: on a line that has fallen silent a whole phase is missed; the next connection begins with all of it."""
    async with seated(server) as (match_id, anna, _, a, b), a_relay(server.url, tmp_path / "relay") as relay:
        async with person(LiveServer(relay.url, None, server.settings), None) as away:
            away.http.cookies = anna.http.cookies
            async with away.display(match_id) as deaf:
                await deaf.until_view(lambda v: owes(v))
                relay.fall_silent()
                heard = len(deaf.frames)
                await _to_1K(a, b)
                await b.send(
                    type="play", id="b", turn=b.view["turn"], moves=first_way(b.view["mine"]["steps"])
                )
                await b.until(lambda: b.frames[-1]["type"] != "view" or b.view["mine"]["played"])
                assert len(deaf.frames) == heard
                assert deaf.view["turn"] == "1W"
                async with anna.display(match_id) as again:
                    await again.until(lambda: again.frames)
                    assert again.frames[0]["view"] == await anna.get(f"/api/matches/{match_id}/view")
                    assert again.frames[0]["view"]["turn"] != "1W"
                await relay.cut()


async def test_a_players_link_opens_his_seat_again_and_no_other(server: LiveServer) -> None:
    """CASES D11: a guest without his cookie goes on by his link; a spectator's address seats nobody."""
    async with seated(server) as (match_id, anna, _, a, b):
        secret = (await anna.get(f"/api/matches/{match_id}/seat-link"))["secret"]
        await a.connection.close()
        await b.until_view(lambda v: not v["seats"]["A"]["connected"])
        async with person(server, None) as visitor, visitor.display(match_id) as x:
            await x.until(lambda: x.view)
            assert x.view["seat"] is None
            refusal = await x.ask(type="play", turn="1W", moves=[])
            assert refusal["problem"]["code"] == "not-your-seat"
        async with person(server, "Anna elsewhere") as same:
            opened = await same.post(f"/api/matches/{match_id}/seat", {"secret": secret})
            assert opened["seat"] == "A"
            async with same.display(match_id) as back:
                await back.until(lambda: back.view)
                assert back.view["seat"] == "A"
                await back.play_something()
                view = await b.until_view(lambda v: v["seats"]["A"]["state"] == "played")
                assert view["seats"]["B"]["state"] == "thinking"
                assert owes(view)


# ----------------------------------------------------------------------------------------------------------- clocks


def _durations(value: Any, name: str = "") -> list[tuple[str, int]]:
    """Everything in a payload that is a length of time, and what it is called."""
    if isinstance(value, dict):
        return [found for key in value for found in _durations(value[key], f"{name}.{key}")]
    if isinstance(value, list):
        return [found for one in value for found in _durations(one, name)]
    is_time = "_ms" in name and isinstance(value, int) and not isinstance(value, bool)
    return [(name, value)] if is_time else []


async def test_no_clock_is_ever_below_zero_and_the_flag_needs_no_browser(server: LiveServer) -> None:
    """CASES E1: both sockets closed, the result is there a second and the published graces after zero."""
    rules = {"clock": {"type": "simple", "bank_ms": 1_000, "delay_ms": 0}, "grace_s": 1, "absence_s": 60}
    async with person(server, None) as visitor, up_to_b(server, rules) as (match_id, _, _, a, b):
        async with visitor.display(match_id) as x:
            await x.until(lambda: x.view)
            zero = b.view["seats"]["B"]["flag_at"]
            await a.connection.close()
            await b.connection.close()
            view = await x.until_view(lambda v: v["stage"] == "over", 15)
        assert (view["result"]["outcome"], view["result"]["by"]) == ("time", "B")
        found = await history_of(server.services.matches._store, match_id)
        info = await visitor.get(f"/api/matches/{match_id}")
        assert found.ended is not None
        assert zero <= found.ended.at <= zero + 1_000, "he had gone before zero: one grace"
        assert 0 <= info["finished_at"] - found.ended.at <= 1_000 + 1_500, (
            "the lag waited for, and a busy machine"
        )
        payloads = [json.loads(text) for text in (*a.raw, *b.raw, *x.raw)]
        payloads += [await visitor.get(f"/api/matches/{match_id}/{path}") for path in ("view", "history")]
        times = [time for payload in payloads for time in _durations(payload)]
        assert len(times) > 50
        assert min(ms for _, ms in times) >= 0, min(times, key=lambda time: time[1])


async def test_a_pause_is_seen_by_both_with_its_end_and_ends_by_itself(server: LiveServer) -> None:
    """CASES E7: no clock runs in it, and nobody has to end it."""
    async with seated(server, {"pause_max_s": 2}) as (match_id, _, _, a, b):
        matches = server.services.matches
        async with matches._using(match_id) as room, room.lock:
            await matches._carry_out(room, lambda at: OrderPause("Arbiter", "a lamp fell down", at))
        await asyncio.gather(a.play_something(), b.play_something())
        for display in (a, b):
            view = await display.until_view(lambda v: v["stage"] == "paused")
            assert (view["pause"]["by"], view["pause"]["reason"]) == ("Arbiter", "a lamp fell down")
            assert view["pause"]["until"] == view["pause"]["since"] + 2_000
            assert [view["seats"][seat]["flag_at"] for seat in "AB"] == [None, None]
        refusal = await a.play([], "1W")
        assert refusal["problem"]["code"] == "match-paused"
        until = a.view["pause"]["until"]
        for display in (a, b):
            view = await display.until_view(lambda v: v["stage"] == "playing" and v["turn"] != "1W")
            assert view["pause"] is None
            assert view["shown_at"] >= until


# ---------------------------------------------------------------------------------------------------------- leaving


async def test_who_waits_sees_how_long_and_the_published_end_comes_then(server: LiveServer) -> None:
    """CASES F1, D13: at once, with a countdown; coming back stops it; its end is an absence, no resignation."""
    rules = {"absence_s": 2, "grace_s": 0}
    async with up_to_b(server, rules) as (match_id, _, boris, a, b):
        await b.connection.close()
        view = await a.until_view(lambda v: not v["seats"]["B"]["connected"])
        first = view["seats"]["B"]["away_until"]
        assert first is not None
        async with boris.display(match_id) as again:
            view = await a.until_view(lambda v: v["seats"]["B"]["connected"])
            assert view["seats"]["B"]["away_until"] is None
            assert view["result"] is None
            await again.until(lambda: again.view)
        view = await a.until_view(lambda v: not v["seats"]["B"]["connected"])
        until = view["seats"]["B"]["away_until"]
        assert until >= first
        view = await a.until_view(lambda v: v["stage"] == "over", 15)
        assert (view["result"]["outcome"], view["result"]["by"]) == ("abandoned", "B")
        found = await history_of(server.services.matches._store, match_id)
        assert found.ended is not None
        assert found.ended.at == until, "when the countdown said"


@dataclass
class Clock:
    """The time (ms); it stands until it is set."""

    at: int = NOON

    def __call__(self) -> int:
        return self.at


async def _a_match_in_round_2(store: Store, node: Matches, clock: Clock, rules: Ruleset) -> Pair:
    """Its players in 2W, where both have something to play."""
    while True:
        pair = await a_pair(store, [node], ruleset=rules, created_at=clock.at - 20_000)
        await play_at_once(pair, 2)
        if all(hand.view.turn == "2W" and way_of(hand.view) for hand in (pair.a[0], pair.b[0])):
            return pair


async def _leave(hand: Hand) -> None:
    await hand.node.disconnect(hand.display)


async def _tick(node: Matches, match_id: str) -> None:
    await node._tick(node._rooms[match_id])


RULES = DEFAULT.changed({"reveal_ms": 0, "auto_pass_ms": 0})


async def test_twenty_seconds_offline_cost_time_and_not_the_match(store: Store) -> None:
    """CASES F2: no forfeit; the clock has run, and there is no more to it."""
    clock = Clock()
    async with serving([store], clock) as (node,):
        pair = await _a_match_in_round_2(store, node, clock, RULES)
        await _leave(pair.b[0])
        await pair.a[0].until(lambda view: not view.seats.B.connected)
        clock.at += 20_000
        await _tick(node, pair.match_id)
        stored = await store.matches.load(pair.match_id)
        assert stored is not None
        assert stored.state == "playing"
        account = stored.players.B
        assert account is not None
        back = Hand(node, await node.connect(pair.match_id, account))
        view = await back.until(lambda view: view.seats.B.connected)
        way = way_of(view)
        assert way is not None
        assert await back.play("2W", way)
        found = await history_of(store, pair.match_id)
        assert found.score is None
        assert found.clocks.B.charged_ms == 20_000
        assert found.clocks.B.bank_ms == 240_000 - (20_000 - 12_000)


@pytest.mark.parametrize(
    ("first", "by"),
    [(Seat.A, Seat.A), (Seat.B, Seat.B), (None, None)],
    ids=["A first", "B first", "together"],
)
async def test_when_both_are_gone_the_match_ends_the_same_way_every_time(
    store: Store, first: Seat | None, by: Seat | None
) -> None:
    """CASES F4, D13: who left first has abandoned it; both in one millisecond, nobody; and it is in no list."""
    clock = Clock()
    async with serving([store], clock) as (node,):
        for _ in range(2):
            pair = await _a_match_in_round_2(store, node, clock, RULES)
            hands = [pair.a[0], pair.b[0]]
            for hand in hands[:: -1 if first is Seat.B else 1]:
                await _leave(hand)
                clock.at += first is not None
            clock.at += 120_000
            await _tick(node, pair.match_id)
            found = await history_of(store, pair.match_id)
            assert found.ended is not None
            assert found.score is not None
            assert (found.ended.outcome, found.ended.by) == (Outcome.ABANDONED, by)
            if by is None:
                assert (found.score.winner, found.score.rated) == (None, False)
            else:
                assert found.score.points[by] < 0
            assert await store.matches.unfinished_ids() == ()
            assert await store.matches.playing(10) == ()
            assert pair.match_id not in node._rooms

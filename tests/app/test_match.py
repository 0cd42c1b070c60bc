"""A match over real sockets: to the end, twice the same message, two at once, leaving and coming back."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from app.review import read_match
from app.settings import Settings
from engine.bot import Heuristic
from tests.support.computers import only
from tests.support.server import (
    QUICK,
    LiveServer,
    first_way,
    owes,
    person,
    play_to_the_end,
    running_server,
    seated,
)


@pytest_asyncio.fixture
async def server(store_settings: Settings) -> AsyncIterator[LiveServer]:
    """A server on each kind of database."""
    async with running_server(store_settings.database_url, store_settings.data_dir / "data") as running:
        yield running


async def test_two_people_play_a_match_to_the_end(server: LiveServer) -> None:
    async with seated(server) as (match_id, anna, boris, a, b):
        await play_to_the_end(a, b)
        await a.until(lambda: a.info and a.info["ratings"])
        result = a.view["result"]
        assert result == b.view["result"]
        assert result["outcome"] == "finished"
        assert result["points"]["A"] == -result["points"]["B"]
        ratings = a.info["ratings"]
        assert ratings["A"]["points"]["after"] - ratings["A"]["points"]["before"] == result["points"]["A"]
        assert ratings["A"]["points"]["before"] == 1000
        file = await anna.get(f"/api/matches/{match_id}.json")
        assert file["result"] == result
        assert hashlib.sha256(bytes.fromhex(file["dice"]["seed"])).hexdigest() == file["dice"]["commitment"]
        assert len(file["phases"]) % 2 == 0
        replayed = read_match(msgspec.json.encode(file)).played
        assert len(replayed.phases) == len(file["phases"])
        assert replayed.parted == file["parted"]
        again = await boris.get(f"/api/matches/{match_id}/view")
        assert again["result"] == result


async def test_the_rolls_follow_from_the_seeds(server: LiveServer) -> None:
    """§9.2 computed here anew."""
    async with seated(server) as (match_id, anna, _, a, b):
        await play_to_the_end(a, b)
        file = await anna.get(f"/api/matches/{match_id}.json")
        seeds = file["dice"]["seeds"]
        for phase in file["phases"]:
            turn, counter, dice = phase["turn"], 0, []
            while True:
                place = f"{turn[:-1]}|{turn[-1]}|{counter}"
                text = f"nardy-dice/1|{match_id}|{seeds['A']}|{seeds['B']}|{place}".encode()
                block = hmac.digest(bytes.fromhex(file["dice"]["seed"]), text, "sha256")
                dice += [byte % 6 + 1 for byte in block if byte < 252]
                counter += 1
                pairs = [dice[i : i + 2] for i in range(0, len(dice) - 1, 2)]
                fit = [pair for pair in pairs if turn != "1W" or pair[0] != pair[1]]
                if fit:
                    break
            assert phase["roll"] == fit[0], turn


async def test_the_same_message_twice_is_one_play_and_one_answer(server: LiveServer) -> None:
    """CASES D3: also after the phase has gone on."""
    async with seated(server) as (match_id, _, _, a, b):
        moves = first_way(a.view["mine"]["steps"])
        first = await a.play(moves, "1W", id="once")
        again = await a.play(moves, "1W", id="once")
        assert first["type"] == again["type"] == "accepted"
        await b.play_something()
        await a.until_view(lambda v: v["turn"] == "1K")
        late = await a.play(moves, "1W", id="once")
        assert late["type"] == "accepted"
        other = await a.play(moves, "1W", id="twice")
        assert other["problem"]["code"] == "stale-turn"
        rows = await server.services.matches._store.matches.events(match_id)
        assert sum((row.command_id or "").startswith("A:once:") for row in rows) == 1


async def test_a_resent_play_after_a_cut_is_answered_as_the_first(server: LiveServer) -> None:
    """CASES D3"""
    async with seated(server) as (match_id, anna, _, a, _):
        moves = first_way(a.view["mine"]["steps"])
        await a.send(type="play", id="cut", turn="1W", moves=moves)
        await a.connection.close()
        async with anna.display(match_id) as again:
            await again.until(lambda: again.view)
            assert (await again.play(moves, "1W", id="cut"))["type"] == "accepted"
            assert again.view == await anna.get(f"/api/matches/{match_id}/view")


async def test_both_play_in_one_millisecond(server: LiveServer) -> None:
    """CASES D1, D2. Many rounds at once: every play stored, one new roll a phase, rounds in order."""
    async with seated(server, {"clock": {"type": "none"}, "time": {"mode": "off"}, "rated": False}) as (
        match_id,
        _,
        _,
        a,
        b,
    ):
        for _ in range(60):
            turn = a.view["turn"]
            sends = []
            for display in (a, b):
                if owes(display.view):
                    way = first_way(display.view["mine"]["steps"])
                    sends += [display.play(way, turn, id=f"t{turn}")] * 1
                    sends += [display.play(way, turn, id=f"d{turn}")]
            answers = await asyncio.gather(*sends)
            assert sum(answer["type"] == "accepted" for answer in answers) == len(sends) // 2
            await asyncio.gather(
                *(
                    d.until_view(lambda v, turn=turn: v["turn"] != turn or v["stage"] == "over")
                    for d in (a, b)
                )
            )
            if a.view["stage"] == "over":
                break
            while not (owes(a.view) or owes(b.view)):
                turn = a.view["turn"]
                await a.until_view(lambda v, turn=turn: v["turn"] != turn or v["stage"] == "over")
                await b.until_view(lambda v: v["turn"] == a.view["turn"])
        rows = await server.services.matches._store.matches.events(match_id)
        opened = [e.turn for row in rows for e in row.events if type(e).__name__ == "PhaseOpened"]
        assert opened == sorted(set(opened))
        assert [row.version for row in rows] == list(range(1, len(rows) + 1))


async def test_a_refused_play_changes_nothing(server: LiveServer) -> None:
    """CASES D7: neither the view with its clocks nor the journal."""
    async with seated(server) as (match_id, anna, _, a, b):
        before = await anna.get(f"/api/matches/{match_id}/view")
        version = len(await server.services.matches._store.matches.events(match_id))
        for moves, because in (([[24, 12]], "not-that-die"), ([[1, 0]], "no-checker"), ([], "both-dice")):
            answer = await a.play(moves, "1W")
            assert answer["problem"]["code"] == "illegal-play"
            assert answer["problem"]["params"]["because"] == because
        assert (await a.play([], "2W"))["problem"]["code"] == "stale-turn"
        assert await anna.get(f"/api/matches/{match_id}/view") == before
        assert len(await server.services.matches._store.matches.events(match_id)) == version


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"type":"dance"}',
        '{"type":"play","id":"x","turn":"1W"}',
        '{"type":"play","id":"x","turn":"1W","moves":[[13,8]],"at":5}',
        '{"type":"play","id":"x","turn":"0W","moves":[]}',
        '{"type":"play","id":"x","turn":"1W","moves":[[99,8]]}',
        '{"type":"play","id":"x","turn":"1W","moves":[[13,8],[13,8],[13,8],[13,8],[13,8]]}',
        '{"type":"play","id":"x y","turn":"1W","moves":[]}',
        '{"type":"play","id":"x","turn":"1W","moves":"' + "a" * 5000 + '"}',
        '{"type":"pong","ping":"1"}',
        "\U0001f3b2",
    ],
)
async def test_rubbish_is_refused_and_the_socket_lives(server: LiveServer, text: str) -> None:
    async with seated(server) as (_, _, _, a, b):
        before, frames = a.view, len(a.frames)
        await a.connection.send(text)
        await a.until(lambda: len(a.frames) > frames)
        assert a.frames[-1]["problem"]["code"] == "bad-message"
        assert a.view == before
        await a.connection.send(b"\x00\x01")
        await a.until(lambda: len(a.frames) > frames + 1)
        await a.play_something()
        await b.until_view(lambda v: v["seats"]["A"]["state"] == "played")


async def test_resigning_shows_its_price_and_takes_it(server: LiveServer) -> None:
    """CASES F6: at no other price than the one that was shown."""
    async with seated(server) as (_, _, _, a, b):
        assert a.view["mine"]["resign"] == {"game": None, "points": 0}
        await a.play_something()
        await b.play_something()
        view = await a.until_view(lambda v: v["turn"] == "1K" and owes(v))  # every roll can be played there
        price = view["mine"]["resign"]
        assert price["game"] in ("X", "Y")
        wrong = await a.ask(type="resign", turn="1K", points=price["points"] + 1)
        assert wrong["problem"]["code"] == "price-changed"
        assert (await a.ask(type="resign", turn="1K", points=price["points"]))["type"] == "accepted"
        view = await b.until_view(lambda v: v["stage"] == "over")
        assert view["result"]["outcome"] == "resigned"
        assert view["result"]["points"] == {"A": -price["points"], "B": price["points"]}


async def test_a_resignation_under_the_id_of_a_play_is_carried_out(server: LiveServer) -> None:
    """An id names a message among those of its kind: it is not taken for the play, sent again."""
    async with seated(server) as (_, _, _, a, b):
        moves = first_way(a.view["mine"]["steps"])
        assert (await a.play(moves, id="one"))["type"] == "accepted"
        await b.play_something()
        view = await a.until_view(lambda v: v["turn"] == "1K" and owes(v))
        points = view["mine"]["resign"]["points"]
        resigned = await a.ask(type="resign", id="one", turn="1K", points=points)
        assert resigned["type"] == "accepted"
        view = await a.until_view(lambda v: v["stage"] == "over")
        assert (view["result"]["outcome"], view["result"]["by"]) == ("resigned", "A")
        again = await a.ask(type="resign", id="one", turn="1K", points=points)
        assert again["type"] == "accepted", "sent again, it is answered as the first time"
        assert (await a.play(moves, "1W", id="one"))["type"] == "accepted", "and so is the play"


async def test_what_is_prepared_while_a_play_is_stored_is_shown_with_what_came_meanwhile(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The views are made while the disk works; a draft of that time is in them, and nobody sees one before."""
    async with seated(server) as (match_id, _, _, a, b):
        journal = server.services.matches._store.journal
        append, prepared, stored = journal.append, asyncio.Event(), asyncio.Event()

        async def slowly(*given: Any, meanwhile: Any, **named: Any) -> None:
            meanwhile()
            prepared.set()
            await stored.wait()
            await append(*given, **named)

        monkeypatch.setattr(journal, "append", slowly)
        way = first_way(a.view["mine"]["steps"])
        playing = asyncio.create_task(b.play(first_way(b.view["mine"]["steps"])))
        await prepared.wait()
        try:
            await a.send(type="draft", turn="1W", moves=way[:1])
            await a.until_view(lambda v: v["mine"]["draft"])
            assert a.view["seats"]["B"]["state"] == "thinking"
            assert b.view["seats"]["B"]["state"] == "thinking"
        finally:
            stored.set()
        await playing
        await b.until_view(lambda v: v["theirs"] and v["theirs"]["draft"])
        assert [move[:2] for move in b.view["theirs"]["draft"]] == way[:1]
        view = await a.until_view(lambda v: v["seats"]["B"]["state"] == "played")
        assert [move[:2] for move in view["mine"]["draft"]] == way[:1]


async def test_a_draft_does_not_wait_for_a_play_to_be_stored(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with seated(server) as (match_id, anna, _, a, b), anna.display(match_id) as second:
        await second.until(lambda: second.view)
        journal = server.services.matches._store.journal
        append, storing, stored = journal.append, asyncio.Event(), asyncio.Event()

        async def slowly(*given: Any, **named: Any) -> None:
            storing.set()
            await stored.wait()
            await append(*given, **named)

        monkeypatch.setattr(journal, "append", slowly)
        way = first_way(a.view["mine"]["steps"])
        playing = asyncio.create_task(b.play(first_way(b.view["mine"]["steps"])))
        await storing.wait()
        try:
            await a.send(type="draft", turn="1W", moves=way[:1])
            view = await second.until_view(lambda v: v["mine"]["draft"])
            assert [move[:2] for move in view["mine"]["draft"]] == way[:1]
            assert not playing.done()
            assert view["seats"]["B"]["state"] == "thinking"
        finally:
            stored.set()
        assert (await playing)["type"] == "accepted"
        await a.until_view(lambda v: v["seats"]["B"]["state"] == "played")


async def test_an_opponent_who_leaves_is_shown_at_once_and_never_resigns(server: LiveServer) -> None:
    """CASES F1, D13"""
    async with seated(server) as (match_id, _, boris, a, b):
        await b.connection.close()
        view = await a.until_view(lambda v: not v["seats"]["B"]["connected"])
        assert view["seats"]["B"]["away_until"] is not None
        assert view["result"] is None
        async with boris.display(match_id) as again:
            await again.until(lambda: again.view)
            view = await a.until_view(lambda v: v["seats"]["B"]["connected"])
            assert view["seats"]["B"]["away_until"] is None


async def test_two_tabs_are_one_player(server: LiveServer) -> None:
    """CASES F1: a tab that closes is nobody leaving."""
    async with seated(server) as (match_id, anna, _, a, b), anna.display(match_id) as second:
        await second.until(lambda: second.view)
        await second.send(type="draft", turn="1W", moves=first_way(second.view["mine"]["steps"])[:1])
        await a.until_view(lambda v: v["mine"]["draft"])
        await second.connection.close()
        await asyncio.sleep(0.1)
        assert b.view["seats"]["A"]["connected"]


async def test_a_restarted_server_goes_on_where_it_was(store_settings: Settings, tmp_path: Path) -> None:
    """CASES D9"""
    async with running_server(store_settings.database_url, tmp_path / "data") as server:
        async with seated(server) as (match_id, anna, boris, a, b):
            await a.play_something()
            before = await b.until_view(lambda v: v["seats"]["A"]["state"] == "played")
            cookies = anna.http.cookies, boris.http.cookies
    async with running_server(store_settings.database_url, tmp_path / "data") as server:
        async with person(server, None) as anna, person(server, None) as boris:
            anna.http.cookies, boris.http.cookies = cookies
            async with anna.display(match_id) as a, boris.display(match_id) as b:
                after = await b.until_view(lambda v: v["seats"]["A"]["connected"])
                assert after["roll"] == before["roll"]
                assert after["mine"]["steps"] == before["mine"]["steps"]
                assert after["seats"]["A"]["state"] == "played"
                await b.play_something()
                await a.until_view(lambda v: v["turn"] == "1K")


async def test_one_person_plays_the_computer(server: LiveServer) -> None:
    async with person(server, "Anna") as anna:
        made = await anna.post(
            "/api/matches", {"opponent": "computer", "ruleset": {"reveal_ms": 0, "auto_pass_ms": 0}}
        )
        assert made["players"]["B"]["kind"] == "computer"
        async with anna.display(made["id"]) as a:
            await a.until(lambda: a.view)
            await a.commit_seed()
            await a.reveal_seed()
            await a.until_view(lambda v: v["stage"] == "playing")
            await play_to_the_end(a)
            assert a.view["result"]["rated"] is False
            await a.until(lambda: a.info["state"] == "over")
            assert a.info["ratings"] is None
            again = await anna.post(f"/api/matches/{made['id']}/rematch")
            assert again["rematch"]["id"]
            new = await anna.get(f"/api/matches/{again['rematch']['id']}")
            assert new["seat"] == "B"
            assert new["players"]["A"]["kind"] == "computer"


async def test_the_computer_is_asked_once_a_turn(server: LiveServer) -> None:
    """Also when it fails at first: asked again a moment later, never again and again."""
    asked: list[str] = []
    computer = Heuristic()

    class Counting:
        name, version = computer.name, computer.version

        def choose(self, view: Any) -> Any:
            asked.append(view.turn)
            if len(asked) == 1:
                raise RuntimeError("a bad moment")
            return computer.choose(view)

    server.services.matches.computers = only(Counting())
    async with person(server, "Anna") as anna:
        made = await anna.post("/api/matches", {"opponent": "computer", "ruleset": QUICK})
        async with anna.display(made["id"]) as a:
            await a.until(lambda: a.view)
            await a.commit_seed()
            await a.reveal_seed()
            await a.until_view(lambda v: v["stage"] == "playing")
            await play_to_the_end(a)
    assert asked.count("1W") == 2
    assert len(asked) == len(set(asked)) + 1
    assert len(server.services.matches._tasks) <= 2, "the watch, and perhaps one thing in flight"


async def test_a_server_that_stops_says_come_back(server: LiveServer) -> None:
    """Not 1008, at which a page gives up."""
    async with seated(server) as (match_id, anna, _, _, _):
        server.services.matches._closing = True
        async with anna.display(match_id) as late:
            await late.connection.wait_closed()
            assert late.connection.close_code == 1001
            assert [frame["type"] for frame in late.frames] == ["bye"]
        server.services.matches._closing = False

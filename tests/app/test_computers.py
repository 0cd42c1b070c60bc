"""Playing the computer: which levels there are, which sits at a match, and a server that lacks it."""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from app.engines.levels import LEVELS, Level, levels_here
from app.engines.processes import NoAnswer
from app.service.computers import Computers
from app.service.errors import NoSuchComputer
from app.store import Store
from engine.bot import Heuristic
from engine.plays import Hop
from engine.turn import Seat, Seats
from engine.view import View, view_for
from tests.builders import a_match
from tests.support.computers import InThread, only
from tests.support.server import QUICK, LiveServer, owes, person, running_server, seated
from tests.support.stores import NOON, a_playing_match


async def test_the_levels_of_this_server(server: LiveServer) -> None:
    async with person(server, None) as visitor:
        listed = (await visitor.get("/api/computers"))["computers"]
        assert [computer["level"] for computer in listed] == [level.key for level in levels_here()]
        assert listed[0] == {
            "level": "beginner",
            "name": Heuristic.name,
            "version": Heuristic.version,
        }


@pytest.mark.parametrize("level", ["club", "master"])
async def test_the_chosen_level_sits_at_the_match_and_plays(server: LiveServer, level: str) -> None:
    async with person(server, "Anna") as anna:
        made = await anna.post("/api/matches", {"opponent": "computer", "level": level, "ruleset": QUICK})
        rival = made["players"]["B"]
        assert (rival["kind"], rival["level"], rival["name"]) == ("computer", level, f"bgsage {level}")
        assert rival["version"].startswith("bgsage 2")
        async with anna.display(made["id"]) as a:
            await a.until(lambda: a.view)
            await a.commit_seed()
            await a.reveal_seed()
            for turn in ("1W", "1K"):
                await a.until_view(lambda v, turn=turn: v["turn"] == turn and owes(v), patience=60)
                await a.play_something()
            await a.until_view(lambda v: v["turn"] == "2W", patience=60)


async def test_the_beginner_plays_unless_another_is_asked_for(server: LiveServer) -> None:
    async with person(server, "Anna") as anna:
        made = await anna.post("/api/matches", {"opponent": "computer"})
        assert made["players"]["B"]["level"] == "beginner"
        assert made["players"]["A"]["level"] is None
        again = await anna.post("/api/matches", {"opponent": "computer", "level": "beginner"})
        assert again["players"]["B"] == made["players"]["B"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"opponent": "computer", "level": "grandmaster"}, id="no such level"),
        pytest.param({"opponent": "link", "level": "beginner"}, id="no computer, and yet a level"),
    ],
)
async def test_a_level_that_makes_no_sense_is_refused(server: LiveServer, body: object) -> None:
    async with person(server, "Anna") as anna:
        assert (await anna.refused("/api/matches", body))["code"] == "bad-request"


async def test_a_server_without_bgsage_offers_the_beginner_and_refuses_the_others(
    monkeypatch: pytest.MonkeyPatch, sqlite_url: str, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "bgsage", None)
    async with running_server(sqlite_url, tmp_path) as server, person(server, "Anna") as anna:
        assert [c["level"] for c in (await anna.get("/api/computers"))["computers"]] == ["beginner"]
        for level in LEVELS[1:]:
            refused = await anna.refused("/api/matches", {"opponent": "computer", "level": level})
            assert (refused["status"], refused["code"]) == (422, "no-such-computer")
            assert refused["params"]["computer"] == level
        assert (await anna.get("/api/lobby"))["mine"] == []
        assert (await anna.post("/api/matches", {"opponent": "computer"}))["state"] == "playing"


async def test_a_match_of_a_computer_that_is_not_here_is_left_to_other_servers(
    server: LiveServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Logged once, and nobody plays in its stead."""
    store: Store = server.services.lobby._store
    other = await store.accounts.ensure_computer("bgsage master", "bgsage 1.0, 3ply, cubeless equity, 1")
    async with person(server, "Anna") as anna:
        made = await anna.post("/api/matches", {"opponent": "link"})
        account = (await store.matches.load(made["id"])).maker
        match = await a_playing_match(
            store, Seats(account, other.id), computers=frozenset({Seat.B}), created_at=NOON
        )
        async with anna.display(match.id) as a:
            await a.until(lambda: a.view and a.info)
            assert a.info["players"]["B"]["level"] == "master"
            await a.until_view(lambda v: v["turn"] == "1W", patience=10)
            await asyncio.sleep(0.3)
            assert a.view["seats"]["B"]["state"] == "thinking"
    told = [record for record in caplog.records if "left to other servers" in record.getMessage()]
    assert len(told) == 1
    assert told[0].levelno == logging.WARNING


async def test_a_rematch_is_played_by_the_release_that_is_here(server: LiveServer) -> None:
    store: Store = server.services.lobby._store
    older = await store.accounts.ensure_computer(Heuristic.name, "0")
    async with person(server, "Anna") as anna:
        made = await anna.post("/api/matches", {"opponent": "link"})
        account = (await store.matches.load(made["id"])).maker
        there = Seats(older.id, account)
        assert (
            await server.services.lobby._again(
                await a_playing_match(store, there, computers=frozenset({Seat.A})), Seat.A
            )
            == (await store.accounts.ensure_computer(Heuristic.name, Heuristic.version)).id
        )


async def test_only_itself_plays_for_a_computer() -> None:
    here = only(Heuristic())
    assert here.has(Heuristic.name, Heuristic.version)
    assert not here.has(Heuristic.name, "0")
    assert not here.plays(None)
    with pytest.raises(NoSuchComputer):
        here.level("master")


def test_the_strongest_advises() -> None:
    levels = [Level("beginner", "a", "1"), Level("club", "b", "1")]
    assert Computers(levels, InThread(Heuristic())).strongest() == levels[1]


async def test_nobody_takes_a_computer_s_name(server: LiveServer) -> None:
    async with person(server, None) as somebody:
        for name in (
            "Компьютер",
            "компьютер · мастер",
            "Computer · expert",
            "Кoмпьютер (клуб)",
            "computer-2",
        ):
            refused = await somebody.refused("/api/session", {"name": name})
            assert (refused["code"], refused["params"]["because"]) == ("bad-name", "computer")
        assert (await somebody.post("/api/session", {"name": "Компьютерщик"}))["player"]


# ------------------------------------------------------------------------------------------------------------- hints


async def test_a_hint_is_a_legal_play_of_ones_own_and_thought_about_once(server: LiveServer) -> None:
    async with seated(server, {"rated": False}) as (match_id, anna, boris, a, b):
        asked: list[str] = []
        thinking = server.services.matches.computers._thinking
        choose = thinking.choose

        async def count(match: str, level: str, view: Any) -> Any:
            asked.append(view.seat)
            return await choose(match, level, view)

        thinking.choose = count
        hints = await asyncio.gather(*(anna.get(f"/api/matches/{match_id}/hint") for _ in range(4)))
        assert hints == hints[:1] * 4
        assert asked == ["A"]
        assert (hints[0]["turn"], hints[0]["level"]) == ("1W", levels_here()[-1].key)
        theirs = await boris.get(f"/api/matches/{match_id}/hint")
        assert theirs["moves"] == hints[0]["moves"], "equal boards and rolls"
        seen = len(b.raw)
        assert (await a.play(hints[0]["moves"]))["type"] == "accepted"
        refused = await anna.http.get(f"/api/matches/{match_id}/hint")
        assert (refused.status_code, refused.json()["params"]["because"]) == (409, "hint-not-owed")
        assert all("hint" not in raw for raw in b.raw[seen:])


async def test_in_a_rated_match_nobody_is_helped(server: LiveServer) -> None:
    async with seated(server) as (match_id, anna, _, _, _):
        refused = (await anna.http.get(f"/api/matches/{match_id}/hint")).json()
        assert (refused["code"], refused["params"]["because"]) == ("no-hint", "hint-rated")


async def test_a_stranger_gets_no_hint(server: LiveServer) -> None:
    async with seated(server, {"rated": False}) as (match_id, _, _, _, _), person(server, "Xenia") as xenia:
        assert (await xenia.http.get(f"/api/matches/{match_id}/hint")).json()["code"] == "not-your-seat"


async def test_a_hint_that_failed_is_thought_about_again() -> None:
    class Faint(InThread):
        tries = 0

        async def choose(self, match_id: str, level: str, view: View) -> tuple[Hop, ...]:
            self.tries += 1
            if self.tries == 1:
                raise NoAnswer("a bad moment")
            return await super().choose(match_id, level, view)

    computers = Computers(levels_here(), Faint(Heuristic()))
    view = view_for(a_match().play_until("3W").match, Seat.A)
    with pytest.raises(NoAnswer):
        await computers.advise(view)
    assert await computers.advise(view) == Heuristic().choose(view)

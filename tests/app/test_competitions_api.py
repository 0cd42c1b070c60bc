"""Competitions over HTTP, on both databases: looked at, entered, waited for; and what nobody is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from app.service import competition_views as views
from app.service.competition_views import CompetitionView
from app.service.joined import Joined
from app.web.messages import write_json
from engine.competition import commands as c
from engine.competition.meeting import MatchResult
from engine.competition.overview import matches_due
from tests.support.competing import Hand
from tests.support.organiser import by_strength
from tests.support.server import LiveServer, Person, a_bot, person, running_server

QUALIFYING = {"kind": "qualifying", "matches": 1, "computer": "beginner"}


@pytest_asyncio.fixture(params=["sqlite", "postgresql"])
async def server(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[LiveServer]:
    """A server on each kind of database."""
    url = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "migrated_postgres_url")
    async with running_server(url, tmp_path / "data") as running:
        yield running


async def a_cup(server: LiveServer, entrants: int = 0, *, title: str = "A cup", **settings: Any) -> Hand:
    """A competition with open entry, and an organiser's hand to run it with."""
    service = server.services.competitions
    hand = Hand(service._store, service)
    hand.now = time.time_ns() // 1_000_000
    await hand.announce(entrants, **settings)
    await service.describe(hand.id, title={"en": title}, about={}, visibility="public", actor=hand.boss)
    return hand


async def refused(somebody: Person, path: str) -> tuple[int, str]:
    answer = await somebody.http.get(path)
    return answer.status_code, answer.json()["code"]


async def test_a_player_enters_with_the_code_and_is_entered_once(server: LiveServer) -> None:
    hand = await a_cup(server, entry={"mode": "code", "code": "winter-26"})
    path = f"/api/competitions/{hand.id}"
    async with person(server, None) as stranger, person(server, "Anna") as anna:
        assert (await stranger.refused(f"{path}/enter", {"code": "winter-26"}))["code"] == "no-name"
        wrong = await anna.refused(f"{path}/enter", {"code": "summer"})
        assert (wrong["code"], wrong["params"]["because"]) == ("entry-refused", "wrong-code")
        assert await refused(anna, f"{path}/mine") == (403, "not-an-entrant")
        for _ in range(2):
            mine = (await anna.post(f"{path}/enter", {"code": "winter-26"}))["mine"]
            assert (mine["entrant"], mine["status"], mine["next"]["kind"]) == (1, "entered", "entered")
        seen = await anna.get(path)
        assert [entrant["name"] for entrant in seen["competition"]["entrants"]] == ["Anna"]
        assert seen["competition"]["mine"] == mine
        assert (await stranger.get(path))["competition"]["mine"] is None
        assert "winter-26" not in (await stranger.http.get(path)).text
        assert (await anna.refused(f"{path}/enter", {"password": "x"}))["code"] == "bad-request"
        assert await refused(anna, "/api/competitions/no-such-cup") == (404, "no-such-competition")


async def test_a_bot_enters_only_where_the_settings_let_bots_in(server: LiveServer) -> None:
    people, open_to_all = await a_cup(server), await a_cup(server, entry={"bots": True})
    async with a_bot(server, "Zarik") as program:
        refusal = await program.refused(f"/api/competitions/{people.id}/enter", {})
        assert (refusal["code"], refusal["params"]["because"]) == ("entry-refused", "no-bots")
        mine = (await program.post(f"/api/competitions/{open_to_all.id}/enter", {}))["mine"]
        assert (mine["entrant"], mine["status"]) == (1, "entered")
        seen = (await program.get(f"/api/competitions/{people.id}"))["competition"]
        assert (seen["entrants"], seen["settings"]["entry"]["bots"]) == ([], False)


async def test_an_entry_outlives_the_page_and_is_there_on_another_device(server: LiveServer) -> None:
    hand = await a_cup(server, 1)
    async with person(server, "Anna") as anna:
        await anna.post(f"/api/competitions/{hand.id}/enter", {})
        cookies = dict(anna.http.cookies.items())
    await hand.service.start(hand.id, actor=hand.boss)
    await hand.open_round()
    async with person(server, None) as elsewhere:
        elsewhere.http.cookies.update(cookies)
        async with asyncio.timeout(10):
            while True:  # the board is made by the server, a moment after the round has begun
                mine = (await elsewhere.get(f"/api/competitions/{hand.id}/mine"))["mine"]
                if mine["next"]["is_made"]:
                    break
                await asyncio.sleep(0.05)
        assert (mine["next"]["kind"], mine["next"]["opponent"]) == ("play", 1)
        assert mine["next"]["missed_from"] - mine["next"]["at"] == 300_000
        (match,) = (await elsewhere.get(f"/api/competitions/{hand.id}/boards"))["boards"]
        assert match["info"]["id"] == mine["next"]["match"]
        assert match["view"]["seat"] is None
        waiting = (await elsewhere.get("/api/my/competitions"))["entered"]
        assert [(one["competition"]["id"], one["mine"]) for one in waiting] == [(hand.id, mine)]


async def test_leaving_coming_back_and_checking_in(server: LiveServer) -> None:
    soon = time.time_ns() // 1_000_000 + 600_000
    hand = await a_cup(server, starts_at=soon, entry={"check_in_ms": 900_000})
    path = f"/api/competitions/{hand.id}"
    async with person(server, "Anna") as anna:
        assert (await anna.refused(f"{path}/check-in", {}))["code"] == "not-an-entrant"
        assert (await anna.post(f"{path}/enter", {}))["mine"]["next"]["kind"] == "check-in"
        assert (await anna.post(f"{path}/withdraw", {"reason": "late train"}))["mine"][
            "status"
        ] == "withdrawn"
        back = (await anna.post(f"{path}/enter", {}))["mine"]
        assert (back["entrant"], back["next"]["kind"], back["next"]["at"]) == (1, "check-in", soon)
        there = (await anna.post(f"{path}/check-in", {}))["mine"]
        assert (there["checked_in"], there["next"]["kind"]) == (True, "entered")


async def test_who_waits_is_told_of_a_change_and_of_nothing_else(server: LiveServer) -> None:
    hand = await a_cup(server, 2)
    path = f"/api/competitions/{hand.id}/changes"
    async with person(server, "Anna") as anna, person(server, "Boris") as boris:
        first = (await anna.get(path))["mark"]
        waiting = asyncio.create_task(anna.get(f"{path}?mark={first}"))
        await asyncio.sleep(0.3)
        assert not waiting.done()
        await boris.post(f"/api/competitions/{hand.id}/enter", {})
        second = (await asyncio.wait_for(waiting, 5))["mark"]
        assert second != first
        assert (await boris.get(f"/api/competitions/{hand.id}"))["mark"] == second
        stopping = asyncio.create_task(anna.get(f"{path}?mark={second}"))
        await asyncio.sleep(0.2)
        hand.service.let_go()  # the server stops: nobody is kept waiting
        assert (await asyncio.wait_for(stopping, 2))["mark"] == second


async def test_of_an_open_qualifying_round_nothing_is_told_whoever_has_finished(server: LiveServer) -> None:
    hand = await a_cup(server, 3, stages=[QUALIFYING, {"kind": "round_robin"}])
    await hand.service.start(hand.id, actor=hand.boss)
    await hand.open_round()
    path = f"/api/competitions/{hand.id}"
    places = ("", "/changes", "/boards", "/standings?stage=1", "/cross-tables?stage=1", "/dice")
    competition, _ = await hand.service.competition(hand.id)
    (first, *rest) = matches_due(competition)

    async def report(result: MatchResult) -> None:
        await hand.service.act(hand.id, lambda at: c.ReportResult(result, at), actor=None)

    async with person(server, "Anna") as anna:

        async def all_there_is() -> list[Any]:
            found = [await anna.get(path + place) for place in places]
            return [{name: value for name, value in one.items() if name != "now"} for one in found]

        async with asyncio.timeout(10):
            while not (await anna.get(f"{path}/dice"))["boards"]:
                await asyncio.sleep(0.05)
        before = await all_there_is()
        waiting = asyncio.create_task(anna.get(f"{path}/changes?mark={before[0]['mark']}"))
        await asyncio.sleep(0.1)
        await report(by_strength(competition, first))
        assert await all_there_is() == before
        assert not waiting.done(), "an empty update would tell that somebody has finished"
        round_ = before[0]["competition"]["stages"][0]["rounds"][0]
        assert [(m["verdict"], m["matches"]) for m in round_["meetings"]] == [(None, [])] * 3
        (board,) = before[-1]["boards"]
        assert (board["server_seed"], board["seeds"], board["shared_seed"]) == (None, None, None)
        for order in rest:
            await report(by_strength(competition, order))
        await hand.do(c.CloseRound)
        await asyncio.wait_for(waiting, 5)
        after = (await anna.get(path))["competition"]["stages"][0]["rounds"][0]
        assert [meeting["verdict"]["how"] for meeting in after["meetings"]] == ["played"] * 3


async def test_a_standing_shows_every_value_and_what_it_is_made_of(server: LiveServer) -> None:
    """Three players, one rests with a bye each round: §12.5, the bye is a draw with one's own equal in Buchholz."""
    hand = await a_cup(server, 3, stages=[{"kind": "swiss", "rounds": 2}])
    await hand.service.start(hand.id, actor=hand.boss)
    await hand.play_round()
    async with person(server, None) as anybody:
        path = f"/api/competitions/{hand.id}"
        found = await anybody.get(f"{path}/standings")
        assert found["criteria"][:2] == ["match_points", "point_difference"]
        assert found["criteria"][-1] == "lot"
        rows = found["tables"][0]["rows"]
        assert all([value["name"] for value in row["values"]] == found["criteria"] for row in rows)
        for row in rows:
            by_name = {value["name"]: value for value in row["values"]}
            parts = by_name["match_points"]["parts"]
            assert by_name["match_points"]["value"] == sum(part[2] for part in parts)
            if row["played"] == 0:
                assert parts == [[1, None, 2, ""]]
                # Its only round was unplayed: an opponent of its own score, 2, which is also the lowest and cut.
                assert by_name["buchholz_cut_1"]["parts"] == [[1, None, 2, "cut"]]
        assert rows[0]["decided_by"] is None
        assert all(row["decided_by"] in found["criteria"] for row in rows[1:])
        (cross,) = (await anybody.get(f"{path}/cross-tables"))["tables"]
        assert cross["order"] == found["order"]
        assert await refused(anybody, f"{path}/standings?stage=2") == (404, "no-such-competition")
        assert await refused(anybody, f"{path}/standings?stage=0") == (400, "bad-request")


async def test_lists_are_paged_and_told_apart_by_state(server: LiveServer) -> None:
    made = [(await a_cup(server, title=f"Cup {n}")).id for n in range(3)]
    hidden = await a_cup(server, title="Among friends")
    await hidden.service.describe(
        hidden.id, title={"en": "Among friends"}, about={}, visibility="unlisted", actor=hidden.boss
    )
    over = await a_cup(server, title="Called off")
    await over.do(lambda at: c.Cancel(over.boss, "too few", at))
    async with person(server, None) as anybody:
        first = await anybody.get("/api/competitions?when=coming&limit=2")
        assert [one["id"] for one in first["competitions"]] == made[:0:-1]
        rest = await anybody.get(f"/api/competitions?when=coming&limit=2&before={first['next']}")
        assert ([one["id"] for one in rest["competitions"]], rest["next"]) == (made[:1], None)
        assert (await anybody.get("/api/competitions"))["competitions"] == []
        (called_off,) = (await anybody.get("/api/competitions?when=over"))["competitions"]
        assert (called_off["id"], called_off["state"]) == (over.id, "cancelled")
        assert (await anybody.get(f"/api/competitions/{over.id}"))["competition"]["over_because"] == "too few"
        assert await anybody.get(f"/api/competitions/{hidden.id}")  # whoever has the link
        assert await anybody.get("/api/my/competitions") | {"now": 0} == {"now": 0, "entered": [], "made": []}


# ------------------------------------------------------------------------------------- one view for all who look on


async def test_what_all_see_is_made_once_and_nobody_gets_anothers_part(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = await a_cup(server, 20, entry={"mode": "code", "code": "winter-26"})
    path, service = f"/api/competitions/{hand.id}", server.services.competitions
    made: list[int] = []
    everybodys = views.everybodys

    def counted(*given: Any) -> CompetitionView:
        made.append(1)
        return everybodys(*given)

    monkeypatch.setattr(views, "everybodys", counted)
    async with AsyncExitStack() as stack:
        names = ("Anna", "Boris", "Eve", None)
        people = [await stack.enter_async_context(person(server, name)) for name in names]
        anna, boris, eve, stranger = people
        boss = await stack.enter_async_context(person(server, None))
        boss.http.cookies["nardy"] = server.services.sessions._serializer.dumps(hand.boss)
        for somebody in (anna, boris):
            await somebody.post(f"{path}/enter", {"code": "winter-26"})
        made.clear()
        callers = [anna, boris, eve, stranger, boss] * 4
        answers = [
            answer["competition"] for answer in await asyncio.gather(*(one.get(path) for one in callers))
        ]
        assert len(made) == 1
        own = [(seen.pop("mine"), seen.pop("is_owner")) for seen in answers]
        assert all(seen == answers[0] for seen in answers)
        assert "winter-26" not in str(answers)
        theirs = [(mine and mine["entrant"], is_owner) for mine, is_owner in own]
        assert theirs == [(21, False), (22, False), (None, False), (None, False), (None, True)] * 4
        # Byte for byte what would be written of each caller's whole view.
        for caller, account in ((boss, hand.boss), (stranger, None)):
            whole = write_json(await service.view(hand.id, account))
            assert whole in (await caller.http.get(path)).content
        assert len(made) == 1
        # A name is no part of the competition, and changes at once all the same; so does what is said of it.
        await anna.post("/api/session", {"name": "Annette"})
        seen = (await boris.get(path))["competition"]
        assert [one["name"] for one in seen["entrants"][-2:]] == ["Annette", "Boris"]
        mark = (await eve.get(path))["mark"]
        waits = asyncio.create_task(eve.get(f"{path}/changes?mark={mark}"))
        await service.describe(
            hand.id, title={"en": "Another cup"}, about={}, visibility="public", actor=hand.boss
        )
        assert (await waits)["mark"] != mark
        assert (await eve.get(path))["competition"]["title"]["en"] == "Another cup"


async def test_a_read_is_shared_by_those_who_asked_before_it_began() -> None:
    began: list[asyncio.Event] = []

    async def read() -> int:
        began.append(asyncio.Event())
        number = len(began)
        await began[-1].wait()
        if number == 2:
            raise LookupError
        return number

    joined = Joined(read)
    first = asyncio.create_task(joined.get())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    late = [asyncio.create_task(joined.get()) for _ in range(5)]
    await asyncio.sleep(0)
    late.pop().cancel()  # who goes away leaves the others their read
    began[0].set()
    assert await first == 1
    await asyncio.sleep(0)
    began[1].set()
    assert [type(one) for one in await asyncio.gather(*late, return_exceptions=True)] == [LookupError] * 4
    again = asyncio.create_task(joined.get())
    while len(began) < 3:
        await asyncio.sleep(0)
    began[2].set()
    assert await again == 3

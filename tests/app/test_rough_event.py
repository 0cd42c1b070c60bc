"""One event in which everything goes wrong that people and machines do, played over real sockets to its end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.app.test_organisers_guide import the_example
from tests.support.forks import forks
from tests.support.organising import Admin, an_owner
from tests.support.process import free_port
from tests.support.server import QUICK, LiveServer
from tests.support.stores import settings_of

EVENT = {
    "stages": [
        {"kind": "qualifying", "matches": 2, "computer": "beginner"},
        {"kind": "groups", "size": 3},
        {"kind": "single_elimination", "take_per_group": 1},
    ],
    "ruleset": {**QUICK, "grace_s": 0, "absence_s": 3},
    "pace": {"mode": "auto", "break_ms": 0},
    "tie_breaks": ["point_difference", "wins", "less_time", "lot"],
    "no_show_s": 10,
    "entry": {"late_rounds": 2},
}
COME, NEVER_COMES, COMES_LATE, THROWN_OUT = range(1, 6), 6, 7, 5


async def test_whatever_goes_wrong_an_event_goes_on_and_ends(sqlite_url: str, tmp_path: Path) -> None:
    """One is thrown out in mid-round, one never comes, one comes late, the server dies in mid-round, and before the
    final is over everybody has gone.
    """
    example, settings = the_example(), settings_of(sqlite_url, tmp_path)
    async with forks(settings, free_port()) as process:
        await process.start()
        server = LiveServer(process.url, None, settings)
        async with an_owner(server, settings=EVENT) as admin, asyncio.TaskGroup() as playing:

            async def enter(*numbers: int) -> list[Any]:
                """Accounts made by the list, and the people to whom their links were sent."""
                text = "name\n" + "".join(f"Player {number}\n" for number in numbers)
                lines = (await admin.take_in(text.encode()))["lines"]
                return [example.Player(process.url, line["name"], line["link"]) for line in lines]

            def come(people: list[Any]) -> list[asyncio.Task[None]]:
                return [playing.create_task(one.take_part(admin.event)) for one in people]

            await admin.post("{e}/open-entry")
            people = await enter(*COME, NEVER_COMES)
            tasks = come(people[:-1])
            await admin.post("{e}/start")
            await seen(admin, in_play("qualifying"))
            tasks += come(await enter(COMES_LATE))

            await seen(admin, in_play("groups"))
            await admin.post(f"{{e}}/entrants/{THROWN_OUT}/ban", {"reason": "somebody helped him"})
            assert await process.kill() == -signal.SIGKILL
            await process.start()

            await seen(admin, in_play("single_elimination"))
            await first_phase_played(admin)
            for task in tasks:
                task.cancel()
            view = await seen(admin, over)
            proof = await admin.get("{e}/recompute")
    assert view["state"] == "finished"
    assert proof["differences"] == []
    assert_all_had_what_was_theirs(view)


async def seen(admin: Admin, holds: Callable[[Any], bool]) -> Any:
    """The event, once it is so."""
    async with asyncio.timeout(120):
        while True:
            view = (await admin.get("{e}"))["view"]
            if holds(view):
                return view
            await asyncio.sleep(0.1)


async def first_phase_played(admin: Admin) -> None:
    """A match that is played now has got beyond its first phase: before, leaving it makes it void (§8.4).

    Who never comes may win his group by another's ban: his match of the final is not played, the one after it is.
    """
    async with asyncio.timeout(60):
        while True:
            shown = f"/api/matches/{await admin.running_match()}/view"
            view = (await admin.http.get(shown, headers={"Authorization": ""})).json()
            if view["stage"] == "playing" and view["turn"] != "1W":
                return
            await asyncio.sleep(0.02)


def in_play(kind: str) -> Callable[[Any], bool]:
    """Whether a round of this stage is being played; of a qualifying more is not told (§5.4)."""

    def holds(view: Any) -> bool:
        stage = view["stages"][-1]
        if stage["kind"] != kind or not stage["rounds"] or stage["rounds"][-1]["state"] != "started":
            return False
        return kind == "qualifying" or any(match["state"] == "playing" for match in matches_of(stage))

    return holds


def over(view: Any) -> bool:
    return bool(view["state"] == "finished")


def matches_of(stage: Any) -> list[Any]:
    return [
        match for round in stage["rounds"] for meeting in round["meetings"] for match in meeting["matches"]
    ]


def assert_all_had_what_was_theirs(view: Any) -> None:
    qualifying, groups, final = ([round["meetings"] for round in stage["rounds"]] for stage in view["stages"])
    assert all(
        meeting["verdict"]["how"] == ("forfeit" if meeting["a"] == NEVER_COMES else "played")
        for round in qualifying
        for meeting in round
    )
    assert [COMES_LATE in {meeting["a"] for meeting in round} for round in qualifying] == [False, True]
    theirs = [meeting for round in groups for meeting in round if THROWN_OUT in (meeting["a"], meeting["b"])]
    assert theirs
    assert all(meeting["verdict"]["winner"] not in (None, THROWN_OUT) for meeting in theirs)
    ends = [match["state"] for round in final for meeting in round for match in meeting["matches"]]
    assert ends
    assert set(ends) == {"over"}
    assert {one["number"]: one["status"] for one in view["entrants"]}[THROWN_OUT] == "banned"
    assert {place["entrant"] for place in view["places"]} == {*COME, NEVER_COMES, COMES_LATE} - {THROWN_OUT}
    assert len({place["place"] for place in view["places"]}) == 6

"""Finished matches are analysed in the background: rightly, once, whatever becomes of servers and processes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, select, update

from app.cli import main
from app.engines import analyst as analyst_module
from app.engines.analyst import Analyst
from app.engines.judge import judge_of, judges_of
from app.engines.judging import answer_to, question, read_answer
from app.engines.processes import NoAnswer
from app.service import analysis as analysis_module
from app.service.analysis import ASKS_AN_HOUR, CLAIM_MS, OFF, Analyses, Judging, MatchAnalysis, Progress
from app.service.errors import MatchStillRuns, NobodyJudges, NoSuchMatch, TooManyAnalyses
from app.settings import Settings
from app.store import Store, open_store
from app.store.matches import StoredMatch
from app.store.tables import analyses, judged_phases
from engine.analysis import FORMAT, Played, TurnJudged, analysed, played, work
from engine.errors import NotStarted
from engine.scoring import Outcome
from tests.builders import Table
from tests.support.eager import PROGRAM
from tests.support.finished import (
    LEVEL,
    Prepared,
    a_match_given_up,
    a_whole_match,
    ended,
    judged,
    of_long_nardy,
    store_match,
)
from tests.support.process import a_process, free_port
from tests.support.processes import children_of, niceness_of_session
from tests.support.rooms import Clock
from tests.support.server import (
    LiveServer,
    Person,
    person,
    play_to_the_end,
    running_server,
    seated,
)
from tests.support.stores import a_new_match, a_playing_match, finish, look, two_players


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits here for what servers do once a second."""
    monkeypatch.setattr(analysis_module, "LOOK_EVERY_S", 0.05)
    monkeypatch.setattr(analysis_module, "KEEP_EVERY_S", 0.0)
    monkeypatch.setattr(analyst_module, "PROGRAM", PROGRAM)


@contextlib.asynccontextmanager
async def analysing(
    store: Store, *analysts: Judging, level: str = LEVEL, now: Any = None
) -> AsyncIterator[Analyses]:
    """A server's analyses, at work."""
    made = Analyses(store, level, analysts, now or Clock())
    made.start()
    try:
        yield made
    finally:
        await made.close()


async def until(of: Analyses, match: StoredMatch, *states: str, patience_s: float = 30) -> MatchAnalysis:
    """What is said of a match, once its analysis is in one of these states."""
    async with asyncio.timeout(patience_s):
        while (found := await of.about(match.id)).state not in states:
            await asyncio.sleep(0.01)
    return found


def whole(table: Table, level: str = LEVEL) -> Any:
    """What engine.analysis finds here and now, as JSON gives it back."""
    match, judge = played(table.match), judge_of(level)
    return json.loads(
        json.dumps({"format": FORMAT, **analysed(match, list(work(match, judge)), judge.names).to_plain()})
    )


def prepared() -> Prepared:
    return Prepared(judged())


# ---------------------------------------------------------------------------------------------- the right numbers


@pytest.mark.parametrize("table", [a_whole_match, a_match_given_up], ids=["played to its end", "given up"])
async def test_what_is_kept_is_what_the_engine_finds_to_the_last_digit(store: Store, table: Any) -> None:
    """Judged in another process, at the level that servers have unless they are told otherwise."""
    match = await store_match(store, table())
    async with analysing(store, Analyst(), level="expert") as served:
        found = await until(served, match, "done")
    expected = whole(table(), "expert")
    assert found.analysis == expected
    assert found.reason is None
    assert found.progress == Progress(len(expected["turns"]), len(expected["turns"]))
    assert await store.analyses.objective([match.id]) == {match.id: expected["objective_for_A"]}
    stored = await store.analyses.load(match.id)
    assert stored is not None
    assert (stored.level, stored.judges) == ("expert", ", ".join(expected["judges"]))


async def test_exchanged_players_negate_the_objective_result(store: Store) -> None:
    one = await store_match(store, a_whole_match())
    other = await store_match(store, a_whole_match(swapped=True))
    async with analysing(store, Analyst()) as served:
        a, b = (await until(served, one, "done")).analysis, (await until(served, other, "done")).analysis
    assert a is not None
    assert b is not None
    assert a["objective_for_A"] == -b["objective_for_A"] != 0
    assert a["luck_for_A"] == -b["luck_for_A"] != 0
    assert a["players"]["A"] == b["players"]["B"]
    objective = await store.analyses.objective([one.id, other.id])
    assert objective[one.id] == a["objective_for_A"] == -b["objective_for_A"]


async def test_a_match_that_ended_before_its_first_roll_has_nothing_to_judge(store: Store) -> None:
    match = await finish(store, await a_playing_match(store), 0)
    nobody = prepared()
    async with analysing(store, nobody) as served:
        found = await until(served, match, "done")
    assert found.progress == Progress(0, 0)
    assert found.analysis is not None
    assert (found.analysis["turns"], found.analysis["objective_for_A"]) == ([], 0)
    assert nobody.asked == []


async def test_a_phase_is_worth_the_same_in_every_order_and_process() -> None:
    """So a match that is taken up elsewhere comes to what it would have come to."""
    match = played(a_whole_match().match)
    expected, phases = judged(), range(len(match.phases))
    for index in sorted(phases, key=lambda n: (n * 37) % len(match.phases)):
        assert read_answer(answer_to(question(LEVEL, match, index))) == expected[index]
    analyst = Analyst()
    try:
        for index in (phases[-1], 0, 1, phases[-1]):
            assert await analyst.judged(LEVEL, match, index) == expected[index]
            await analyst.rest()
    finally:
        await analyst.rest()


def test_the_judges_have_the_names_that_they_give_themselves() -> None:
    for level in ("club", "expert", "master"):
        assert judges_of(level) == judge_of(level).names


def test_a_process_is_told_the_phase_and_nothing_else() -> None:
    """No match, no player, no seed, no setting of the server."""
    match = played(a_whole_match().match)
    line = json.loads(question("expert", match, 7))
    assert line[:3] == ["expert", "short", False]
    assert [phase[0] for phase in line[3]] == [str(match.phases[6].turn), str(match.phases[7].turn)]
    assert all(len(phase) == 5 for phase in line[3])


def test_what_cannot_be_judged_comes_back_in_words() -> None:
    match = played(a_whole_match().match)
    asked = json.loads(question("club", match, 7))
    asked[3][1][3][0][3] = 14  # checkers that nobody has
    assert "BadPosition" in str(read_answer(answer_to(json.dumps(asked).encode())))


# ------------------------------------------------------------------------------------------- restarts and deaths


async def test_a_stop_in_the_middle_judges_no_phase_twice(store: Store) -> None:
    match = await store_match(store, a_whole_match())
    first, second = prepared(), prepared()
    first.stops_at = 20
    async with analysing(store, first) as served:
        await first.stopped.wait()
        assert (await until(served, match, "running")).progress == Progress(20, 66)
    assert first.asked == list(range(21))
    stored = await store.analyses.load(match.id)
    assert stored is not None
    assert (stored.state, stored.done) == ("waiting", 20)
    async with analysing(store, second) as served:
        found = await until(served, match, "done")
    assert second.asked == list(range(20, 66))
    assert found.analysis == whole(a_whole_match())


async def test_a_stop_while_something_is_being_stored_is_in_order_too(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, keep, storing = await store_match(store, a_whole_match()), store.analyses.keep, asyncio.Event()

    async def slowly(*work: Any) -> None:
        written = asyncio.ensure_future(keep(*work))
        storing.set()
        await asyncio.sleep(0.2)
        await written

    monkeypatch.setattr(store.analyses, "keep", slowly)
    async with analysing(store, prepared()):
        await storing.wait()
        await asyncio.sleep(0.1)
    stored = await store.analyses.load(match.id)
    assert stored is not None
    assert (stored.state, stored.done) == ("waiting", 1)


async def test_a_server_that_vanishes_loses_the_match_to_another(
    store: Store, other_node: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its phases count; it gets them back to nobody once it wakes up."""
    match = await store_match(store, a_whole_match())
    clock, sleeper, other = Clock(), prepared(), prepared()
    sleeper.stops_at = 20
    async with analysing(store, sleeper, now=clock) as asleep:
        await sleeper.stopped.wait()
        async with analysing(other_node, other, now=clock) as served:
            clock.at += CLAIM_MS - 1
            await asyncio.sleep(0.2)
            assert other.asked == [], "the claim still counts"
            clock.at += 1
            found = await until(served, match, "done")
        sleeper.may_go_on.set()
        await asyncio.sleep(0.2)
        assert (await asleep.about(match.id)).analysis == found.analysis == whole(a_whole_match())
    assert other.asked == list(range(20, 66))
    assert sleeper.asked == list(range(21)), "it noticed with the next phase"


async def test_a_phase_that_takes_long_is_waited_for(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis_module, "RENEW_EVERY_S", 0.02)
    match = await store_match(store, a_whole_match())
    clock, slow, other = Clock(), prepared(), prepared()
    slow.stops_at = 3
    async with analysing(store, slow, now=clock) as served:
        await slow.stopped.wait()
        async with analysing(store, other, now=clock):
            for _ in range(6):
                clock.at += CLAIM_MS // 2
                await asyncio.sleep(0.2)
            slow.may_go_on.set()
            await until(served, match, "done")
    assert other.asked == []
    assert slow.asked == list(range(66))


async def test_of_two_servers_one_judges_each_match(store: Store, other_node: Store) -> None:
    made = [await store_match(store, a_whole_match()) for _ in range(8)]
    counting = [prepared() for _ in range(4)]
    async with analysing(store, *counting[:2]) as served, analysing(other_node, *counting[2:]):
        for match in made:
            await until(served, match, "done")
    assert sum(len(analyst.asked) for analyst in counting) == 8 * 66
    assert sum(bool(analyst.asked) for analyst in counting) > 1


class Doomed(Analyst):
    """Its process is killed at work, at these phases."""

    def __init__(self, *at: int) -> None:
        super().__init__()
        self.asked: list[int] = []
        self._at = set(at)

    async def judged(self, level: str, match: Played, index: int) -> TurnJudged:
        self.asked.append(index)
        if index in self._at:
            self._at.remove(index)
            [worker] = children_of(os.getpid(), PROGRAM)
            os.kill(worker, signal.SIGSTOP)  # it has the phase, and will never answer
            asyncio.get_running_loop().call_later(0.05, os.kill, worker, signal.SIGKILL)
        return await super().judged(level, match, index)


async def test_a_killed_process_is_replaced_and_its_phase_judged_again(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    match = await store_match(store, a_whole_match())
    doomed = Doomed(1, 15, 30, 65)
    async with analysing(store, doomed) as served:
        found = await until(served, match, "done")
    assert found.analysis == whole(a_whole_match())
    assert doomed.asked == sorted([*range(66), 1, 15, 30, 65])
    assert len([r for r in caplog.records if "was not judged" in r.getMessage()]) == 4
    assert children_of(os.getpid(), PROGRAM) == set()


async def test_who_judges_gives_way_to_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Linux shares time out among sessions, its whole session does."""
    monkeypatch.undo()
    match, analyst = played(a_whole_match().match), Analyst()
    try:
        assert await analyst.judged(LEVEL, match, 0) == judged()[0]
        [worker] = children_of(os.getpid(), analyst_module.PROGRAM)
        assert os.getpriority(os.PRIO_PROCESS, worker) == 19
        if hasattr(os, "SCHED_IDLE"):
            assert os.sched_getscheduler(worker) == os.SCHED_IDLE
        assert niceness_of_session(worker) in (19, None)
    finally:
        await analyst.rest()


async def test_a_silent_process_counts_as_dead() -> None:
    match, analyst = played(a_whole_match().match), Analyst()
    try:
        await analyst.judged(LEVEL, match, 0)
        [silent] = children_of(os.getpid(), PROGRAM)
        os.kill(silent, signal.SIGSTOP)
        patience, analyst._patience_s = analyst._patience_s, 0.5
        with pytest.raises(NoAnswer, match="gone"):
            await analyst.judged(LEVEL, match, 1)
        assert children_of(os.getpid(), PROGRAM) == set()
        analyst._patience_s = patience
        assert await analyst.judged(LEVEL, match, 1) == judged()[1]
    finally:
        await analyst.rest()


class Faulty(Prepared):
    """Never gets over one phase of one match."""

    def __init__(self, turns: Sequence[TurnJudged], at: int, wrong: Exception) -> None:
        super().__init__(turns)
        self._at, self._wrong = at, wrong

    async def judged(self, level: str, match: Played, index: int) -> TurnJudged:
        judged = await super().judged(level, match, index)
        if index == self._at and len(match.phases) == 66:
            raise self._wrong
        return judged


@pytest.mark.parametrize(
    ("wrong", "code"),
    [pytest.param(NoAnswer("gone"), "no-answer"), pytest.param(ZeroDivisionError(), "error")],
    ids=["its process dies", "a bug"],
)
async def test_a_match_that_fails_three_times_is_given_up_and_holds_nobody_up(
    store: Store, wrong: Exception, code: str
) -> None:
    good = await store_match(store, a_match_given_up())
    bad = await store_match(store, a_whole_match())
    faulty = Faulty(judged(), 4, wrong)
    async with analysing(store, faulty) as served:
        found = await until(served, bad, "failed")
        assert (found.reason, found.analysis, found.progress) == ("failed", None, Progress(4, 66))
        assert (await served.ask(bad.id, "Anna")).state == "failed"
        assert (await until(served, good, "done")).reason is None
    assert [index for index in faulty.asked if index >= 4][:3] == [4, 4, 4]
    assert faulty.asked.count(3) <= 2, "what was judged is not judged again"
    stored = await store.analyses.load(bad.id)
    assert stored is not None
    assert stored.failure == code


async def test_a_database_that_is_away_only_delays_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    match = await store_match(store, a_whole_match())
    keep, failures = store.analyses.keep, iter(range(2))

    async def away(*work: Any) -> None:
        if next(failures, None) is not None:
            raise ConnectionError
        await keep(*work)

    monkeypatch.setattr(store.analyses, "keep", away)
    clock = Clock()
    async with analysing(store, prepared(), now=clock) as served:
        await asyncio.sleep(0.3)
        clock.at += CLAIM_MS
        assert (await until(served, match, "done")).analysis == whole(a_whole_match())


async def test_idle_processes_are_let_go(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis_module, "REST_AFTER_S", 0.1)
    idle = prepared()
    async with analysing(store, idle):
        await asyncio.sleep(0.4)
        assert idle.rested


@pytest.mark.parametrize("turns_of_the_loop", range(5))
async def test_a_stop_is_heard_in_the_moment_in_which_something_wakes_it(
    store: Store, monkeypatch: pytest.MonkeyPatch, turns_of_the_loop: int
) -> None:
    monkeypatch.setattr(analysis_module, "LOOK_EVERY_S", 60.0)
    async with asyncio.timeout(10), analysing(store, prepared()) as served:
        while not (waits := served._wake._waiters):
            await asyncio.sleep(0.01)
        assert len(waits) == 1
        served._wake.set()
        for _ in range(turns_of_the_loop):
            await asyncio.sleep(0)


# --------------------------------------------------------------------------------------- what is not, or not yet


async def test_nothing_of_a_match_that_runs(store: Store) -> None:
    match = await a_playing_match(store)
    nobody = prepared()
    async with analysing(store, nobody) as served:
        for ask in (served.about(match.id), served.ask(match.id, "Anna")):
            with pytest.raises(MatchStillRuns):
                await ask
        await asyncio.sleep(0.2)
    assert nobody.asked == []
    assert await store.analyses.load(match.id) is None
    with pytest.raises(NoSuchMatch):
        await served.about("nobody")
    players = await two_players(store)
    waits = await store.matches.create(a_new_match(players.A))
    with pytest.raises(NotStarted):
        await served.about(waits.id)


@pytest.mark.parametrize("outcome", [Outcome.VOID, Outcome.ABORTED])
async def test_what_counts_for_nothing_is_not_analysed(store: Store, outcome: Outcome) -> None:
    match = await ended(store, outcome)
    async with analysing(store, prepared()) as served:
        expected = MatchAnalysis(match.id, "none", "not-analysable", Progress(0, 0), None)
        assert await served.about(match.id) == expected
        assert await served.ask(match.id, "Anna") == expected
    assert await store.analyses.load(match.id) is None


async def test_nor_is_long_nardy(store: Store) -> None:
    match = await a_playing_match(store)
    await of_long_nardy(store, match)
    await finish(store, match, 0)
    async with analysing(store, prepared()) as served:
        assert (await served.ask(match.id, "Anna")).reason == "not-analysable"
    assert await store.analyses.load(match.id) is None


async def forget(store: Store) -> None:
    """Matches that ended before there were analyses."""

    def work(connection: Connection) -> None:
        connection.execute(delete(judged_phases))
        connection.execute(delete(analyses))

    await store._database.write(work)


async def test_a_match_from_before_is_analysed_once_it_is_asked_for(store: Store) -> None:
    match = await store_match(store, a_whole_match())
    await forget(store)
    counting = prepared()
    async with analysing(store, counting) as served:
        await asyncio.sleep(0.2)
        assert await served.about(match.id) == MatchAnalysis(match.id, "none", None, Progress(0, 0), None)
        asked = await asyncio.gather(*(served.ask(match.id, "Anna") for _ in range(5)))
        assert all(found.state in ("waiting", "running", "done") for found in asked)
        assert (await until(served, match, "done")).analysis == whole(a_whole_match())
        assert (await served.ask(match.id, "Anna")).state == "done"
        await asyncio.sleep(0.1)
    assert counting.asked == list(range(66))


async def test_one_caller_does_not_fill_the_queue(store: Store) -> None:
    made = [await finish(store, await a_playing_match(store), 0) for _ in range(ASKS_AN_HOUR + 1)]
    served = Analyses(store, LEVEL, (), Clock())
    for match in made:
        assert (await served.ask(match.id, "Anna")).state == "waiting", "they are queued by themselves"
    await forget(store)
    for match in made[:-1]:
        assert (await served.ask(match.id, "Anna")).state == "waiting"
    with pytest.raises(TooManyAnalyses):
        await served.ask(made[-1].id, "Anna")
    assert (await served.ask(made[0].id, "Anna")).state == "waiting"
    assert (await served.ask(made[-1].id, "Boris")).state == "waiting"


@pytest.mark.parametrize("reason", ["no-judge", "off"])
async def test_a_server_without_judges_says_so_and_another_finds_what_waits(
    store: Store, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    match = await store_match(store, a_whole_match())
    with monkeypatch.context() as without:
        if reason == "no-judge":
            without.setitem(sys.modules, "bgsage", None)
        nobody = prepared()
        async with analysing(store, nobody, level=OFF if reason == "off" else "expert") as served:
            await asyncio.sleep(0.2)
            found = await served.about(match.id)
            assert (found.state, found.reason) == ("none", reason)
            with pytest.raises(NobodyJudges) as refused:
                await served.ask(match.id, "Anna")
            assert (refused.value.code, refused.value.params) == ("no-judge", {"because": reason})
    assert nobody.asked == []
    async with analysing(store, prepared()) as able:
        done = await until(able, match, "done")
        assert await served.about(match.id) == done, "what there is, everybody shows"
        assert await served.ask(match.id, "Anna") == done


# --------------------------------------------------------------------------------------------------- over the wire


async def told(visitor: Person, match_id: str) -> dict[str, Any]:
    found: dict[str, Any] = await visitor.get(f"/api/matches/{match_id}/analysis")
    return found


async def done(visitor: Person, match_id: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while (found := await told(visitor, match_id))["state"] != "done":
            assert found["reason"] is None
            await asyncio.sleep(0.05)
    return found


async def test_a_match_is_analysed_when_it_is_over_and_nothing_of_it_before(
    store_settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Private displays (§5): while it runs nothing is judged or told. Then it is what `nardy analyse` says."""
    async with running_server(
        store_settings.database_url, tmp_path / "data", analysis_level="expert"
    ) as server:
        async with seated(server) as (match_id, anna, _, a, b):
            store: Store = server.services.matches._store
            path = f"/api/matches/{match_id}/analysis"

            async def is_refused() -> None:
                for who in (anna, visitor):
                    for answer in (await who.http.get(path), await who.http.post(path)):
                        assert (answer.status_code, answer.json()["code"]) == (409, "match-still-runs")
                assert await store.analyses.load(match_id) is None
                assert children_of(os.getpid(), PROGRAM) == set()

            async with person(server, None) as visitor:
                await is_refused()
                await a.play_something()
                await b.until_view(lambda v: v["seats"]["A"]["state"] == "played")
                await is_refused()
                await play_to_the_end(a, b)
                found = await done(visitor, match_id)
                assert await visitor.post(path) == found
                file = await visitor.get(f"/api/matches/{match_id}.json")
                assert (await visitor.http.get("/api/matches/nobody/analysis")).status_code == 404
                assert (await visitor.http.post("/api/matches/nobody/analysis")).status_code == 404
    assert found["match"] == match_id
    assert found["progress"] == {"done": len(file["phases"]), "of": len(file["phases"])}
    saved = tmp_path / "match.json"
    saved.write_text(json.dumps(file))
    assert main(["analyse", str(saved), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {**said, "match": None, "names": None, "outcome": None} == {
        **found["analysis"],
        "match": None,
        "names": None,
        "outcome": None,
    }


async def test_a_server_that_does_not_analyse_says_so(sqlite_url: str, tmp_path: Path) -> None:
    async with running_server(sqlite_url, tmp_path, analysis_level="off") as server:
        match = await store_match(server.services.matches._store, a_match_given_up())
        async with person(server, None) as visitor:
            assert await told(visitor, match.id) == {
                "match": match.id,
                "state": "none",
                "reason": "off",
                "progress": {"done": 0, "of": 0},
                "analysis": None,
            }
            refused = await visitor.refused(f"/api/matches/{match.id}/analysis")
        assert (refused["status"], refused["code"]) == (409, "no-judge")


async def test_killed_in_the_middle_it_goes_on_where_it_was(store_settings: Settings) -> None:
    """kill -9 of the whole server; the phases that were judged are not judged again, and the whole is right."""
    store = await open_store(store_settings)
    match = await store_match(store, a_whole_match())
    port = free_port()
    server = LiveServer(f"http://127.0.0.1:{port}", None, store_settings)

    def kept(connection: Connection) -> list[tuple[int, str]]:
        row = judged_phases.c
        return [tuple(of) for of in connection.execute(select(row.number, row.judged).order_by(row.number))]

    async with a_process(store_settings, port, program=PROGRAM, ANALYSIS_LEVEL="expert") as process:
        async with person(server, None) as visitor, asyncio.timeout(120):
            while (before := await told(visitor, match.id))["progress"]["done"] < 5:
                await asyncio.sleep(0.02)
            process.send_signal(signal.SIGKILL)
        await process.wait()
    assert (before["state"], before["progress"]["of"]) == ("running", 66)
    left = await look(store, kept)
    assert before["progress"]["done"] <= len(left) < 66
    left[2] = (2, left[2][1].replace('"win":', '"win": '))  # says the same, and cannot be taken for a new one

    def marked(connection: Connection) -> None:
        mark = update(judged_phases).where(judged_phases.c.number == 2).values(judged=left[2][1])
        connection.execute(mark)
        connection.execute(
            update(analyses).values(claimed_until=0)
        )  # as it lapses by itself some seconds later

    await store._database.write(marked)
    async with a_process(store_settings, port, program=PROGRAM, ANALYSIS_LEVEL="expert"):
        async with person(server, None) as visitor, asyncio.timeout(120):
            while (after := await told(visitor, match.id))["state"] != "done":
                assert after["progress"]["done"] >= len(left)
                assert (await look(store, kept))[: len(left)] in (left, [])
                await asyncio.sleep(0.02)
    await store.close()
    assert after["analysis"] == whole(a_whole_match(), "expert")

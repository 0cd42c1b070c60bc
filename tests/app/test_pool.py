"""Where computers think: in few processes of their own, fairly, and whatever becomes of a process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from app.engines import pool as pool_module
from app.engines.levels import computer_of
from app.engines.pool import Pool
from app.engines.processes import NoAnswer
from app.engines.worker import answer_to, question
from engine.bot import Heuristic, Task, task_for, task_of
from engine.dice import Roll
from engine.plays import Hop
from engine.position import Position
from engine.view import View, view_for
from tests.builders import A, a_match
from tests.support.process import a_process, free_port
from tests.support.processes import children_of, is_alive
from tests.support.server import QUICK, Person
from tests.support.stores import settings_of

WORKER = "app.engines.worker"


@pytest.fixture
def view() -> View:
    return view_for(a_match().play_until("3W").match, A)


@pytest_asyncio.fixture
async def pool() -> AsyncIterator[Pool]:
    made = Pool(1)
    yield made
    await made.close()


def children(of: int | None = None) -> set[int]:
    """The workers of a process, else of this one."""
    return children_of(os.getpid() if of is None else of, WORKER)


async def test_a_play_from_another_process_is_the_one_from_here(pool: Pool, view: View) -> None:
    assert await pool.choose("m", "beginner", view) == Heuristic().choose(view)


async def test_a_strong_one_too(pool: Pool, view: View) -> None:
    assert await pool.choose("m", "expert", view) == computer_of("expert").choose(view)


def test_a_process_is_told_a_level_and_a_task_and_nothing_else(view: View) -> None:
    line = question("master", task_of(view))
    level, mine, theirs, steps = json.loads(line)
    assert level == "master"
    assert Task(Position(tuple(mine), tuple(theirs)), tuple(tuple(map(tuple, edges)) for edges in steps)) == (
        task_of(view)
    )
    assert line.count(b"\n") == 1


def test_what_a_computer_cannot_do_comes_back_in_words() -> None:
    task = task_for(Position.parse("6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2"), Roll(3, 1))
    impossible = Position((0, 16, *(0,) * 24), (15, *(0,) * 25))
    wrong = json.loads(answer_to(question("club", task._replace(position=impossible))))[1]
    assert "fifteen" in wrong


async def test_processes_start_when_they_are_needed_and_end_at_once(view: View) -> None:
    pool = Pool(2)
    assert children() == set()
    await asyncio.gather(*(pool.choose(f"m{n}", "beginner", view) for n in range(6)))
    assert 1 <= len(children()) <= 2
    thinking = [asyncio.create_task(pool.choose(f"m{n}", "beginner", view)) for n in range(20)]
    await asyncio.sleep(0)
    async with asyncio.timeout(2):
        await pool.close()
    assert children() == set()
    for answer in await asyncio.gather(*thinking, return_exceptions=True):
        assert isinstance(answer, (NoAnswer, tuple))
    with pytest.raises(NoAnswer):
        await pool.choose("m", "beginner", view)


@pytest.mark.parametrize("idle", [True, False], ids=["idle", "at work"])
async def test_a_killed_process_is_replaced_and_its_play_tried_again(
    pool: Pool, view: View, idle: bool
) -> None:
    await pool.choose("m", "beginner", view)
    [first] = children()
    if idle:
        os.kill(first, signal.SIGKILL)
        again = asyncio.create_task(pool.choose("m", "beginner", view))
    else:
        os.kill(first, signal.SIGSTOP)  # it has the task, and will never answer
        again = asyncio.create_task(pool.choose("m", "beginner", view))
        await asyncio.sleep(0.1)
        os.kill(first, signal.SIGKILL)
    assert await again == Heuristic().choose(view)
    assert first not in children()


async def test_who_thinks_gives_way_to_the_server(pool: Pool, view: View) -> None:
    await pool.choose("m", "beginner", view)
    [worker] = children()
    assert os.getpriority(os.PRIO_PROCESS, worker) >= 10


async def test_one_that_never_answers_counts_as_dead(view: View) -> None:
    pool = Pool(1, patience_s=2.0)
    try:
        await pool.choose("m", "beginner", view)
        [first] = children()
        os.kill(first, signal.SIGSTOP)
        assert await pool.choose("m", "beginner", view) == Heuristic().choose(view)
        assert first not in children()
    finally:
        await pool.close()


async def test_where_no_process_starts_there_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, pool: Pool, view: View
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(NoAnswer):
        await pool.choose("m", "beginner", view)
    monkeypatch.undo()
    assert await pool.choose("m", "beginner", view)


async def test_matches_take_turns(monkeypatch: pytest.MonkeyPatch, pool: Pool, view: View) -> None:
    served: list[bytes] = []
    may_go_on = asyncio.Event()

    async def ask(process: object, line: bytes) -> tuple[Hop, ...]:
        await may_go_on.wait()
        served.append(line)
        return ()

    async def start() -> object:
        return object()

    async def end(process: object) -> None:
        pass

    monkeypatch.setattr(pool_module, "_start", start)
    monkeypatch.setattr(pool_module, "_ask", ask)
    monkeypatch.setattr(pool_module, "end", end)
    monkeypatch.setattr(pool_module, "question", lambda level, task: level.encode())
    asked = [("greedy", f"greedy {n}") for n in range(4)] + [
        ("one", "one 0"),
        ("two", "two 0"),
        ("one", "one 1"),
    ]
    waiting = [asyncio.create_task(pool.choose(match, name, view)) for match, name in asked]
    given_up = asyncio.create_task(pool.choose("three", "nobody waits", view))
    await asyncio.sleep(0.01)
    given_up.cancel()
    may_go_on.set()
    await asyncio.gather(*waiting)
    assert b" | ".join(served) == b"greedy 0 | one 0 | two 0 | greedy 1 | one 1 | greedy 2 | greedy 3"


async def test_no_secret_of_the_server_is_in_a_worker_s_environment(
    monkeypatch: pytest.MonkeyPatch, pool: Pool, view: View
) -> None:
    monkeypatch.setenv("SECRET_KEY", "of the server alone")
    monkeypatch.setenv("DATABASE_URL", "postgresql://nardy:word@db/nardy")
    given: list[dict[str, str]] = []
    really = asyncio.create_subprocess_exec

    async def start(*command: str, env: dict[str, str], **more: Any) -> Process:
        given.append(env)
        return await really(*command, env=env, **more)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    await pool.choose("m", "beginner", view)
    [environment] = given
    assert not {"SECRET_KEY", "DATABASE_URL"} & environment.keys()


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL], ids=lambda ending: ending.name)
async def test_workers_end_with_their_server_however_that_ends(
    sqlite_url: str, tmp_path: Path, ending: signal.Signals
) -> None:
    settings, port = settings_of(sqlite_url, tmp_path), free_port()
    log = tmp_path / "log"
    async with a_process(settings, port, log) as process:
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
            anna = Person(http)
            await anna.post("/api/session", {"name": "Anna"})
            made = await anna.post("/api/matches", {"opponent": "computer", "ruleset": QUICK})
            async with anna.display(made["id"]) as a:
                await a.until(lambda: a.view)
                await a.commit_seed()
                await a.reveal_seed()
                await a.until_view(lambda v: v["seats"]["B"]["state"] == "played", patience=20)
                [worker] = children(process.pid)
                process.send_signal(ending)
        assert await process.wait() == (0 if ending is signal.SIGTERM else -ending)
        async with asyncio.timeout(5):
            while is_alive(worker, WORKER):
                await asyncio.sleep(0.02)
    assert len(log.read_text(encoding="utf-8").splitlines()) == 1, "where it is, and no complaint"

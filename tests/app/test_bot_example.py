"""examples/bot.py as anyone runs it: programs of their own, on a real server, over lines that break."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.asyncio.server import serve as serve_sockets

from engine.dice import Roll
from engine.plays import after, legal_plays, step_graph
from engine.position import Position
from engine.variant import SHORT
from tests.support.relay import a_relay
from tests.support.server import QUICK, LiveServer, person
from tests.support.stubborn import message_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "bot.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bot_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def a_token(server: LiveServer, name: str) -> str:
    async with person(server, f"{name}'s owner") as owner:
        token: str = (await owner.post("/api/bots", {"name": name}))["token"]
        return token


@contextlib.asynccontextmanager
async def running(url: str, token: str, *options: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """The program, ended at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(EXAMPLE), url, "--token", token, "--rules", json.dumps(QUICK), *options),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def ended(process: asyncio.subprocess.Process) -> list[str]:
    """What it said, once it has ended well."""
    async with asyncio.timeout(120):
        out, wrong = await process.communicate()
    assert process.returncode == 0, wrong.decode()
    return out.decode().splitlines()


async def the_match(server: LiveServer) -> Any:
    """The match on the server, once there is one."""
    async with person(server, None) as visitor, asyncio.timeout(20):
        while True:
            lobby = await visitor.get("/api/lobby")
            infos = lobby["waiting"] + [one["info"] for one in lobby["live"]]
            if infos:
                return infos[0]
            await asyncio.sleep(0.05)


def points_in(said: list[str]) -> int:
    [line] = [line for line in said if "points for me" in line]
    return int(line.split(": ")[1].split()[0])


async def test_two_of_them_play_a_match_to_its_end_and_check_the_dice(server: LiveServer) -> None:
    async with running(server.url, await a_token(server, "Zarik")) as one:
        made = await the_match(server)
        assert made["state"] == "waiting"
        async with running(server.url, await a_token(server, "Kubik")) as other:
            first, second = await asyncio.gather(ended(one), ended(other))
    for said, name in ((first, "Zarik"), (second, "Kubik")):
        assert said[0] == f"I am {name}, a bot."
        assert said[1] == f"Watch at {server.url}/match/{made['id']}"
        assert said[-1].endswith(" rolls, 0 wrong")
    assert points_in(first) == -points_in(second)
    async with person(server, None) as visitor:
        record = await visitor.get(f"/api/matches/{made['id']}.json")
    assert record["result"]["outcome"] == "finished"
    assert [record["players"][seat]["kind"] for seat in "AB"] == ["bot", "bot"]
    assert record["dice"]["defaulted"] == []
    assert record["result"]["rated"] is False


async def test_one_plays_the_computer(server: LiveServer) -> None:
    token = await a_token(server, "Zarik")
    async with running(server.url, token, "--computer", "beginner") as one:
        said = await ended(one)
    assert said[-1].endswith(" rolls, 0 wrong")
    assert points_in(said) is not None


async def test_one_accepts_an_invitation(server: LiveServer) -> None:
    async with person(server, "Vera") as vera:
        made = await vera.post("/api/matches", {"opponent": "link", "ruleset": QUICK})
        token = (await vera.post("/api/bots", {"name": "Zarik"}))["token"]
        link = f"{server.url}/join/{made['code']}"
        async with running(server.url, token, "--invite", link), vera.display(made["id"]) as display:
            await display.until(lambda: display.info and display.info["state"] == "playing", patience=20)
            zarik = display.info["players"]["B"]
            assert (zarik["name"], zarik["kind"]) == ("Zarik", "bot")


async def test_it_goes_on_after_lines_that_break(server: LiveServer, tmp_path: Path) -> None:
    """Every play is stored once, and nobody is thought gone for good."""
    async with a_relay(server.url, tmp_path) as relay:
        async with running(relay.url, await a_token(server, "Zarik")) as one:
            made = await the_match(server)
            async with running(server.url, await a_token(server, "Kubik")) as other:
                ending = asyncio.gather(ended(one), ended(other))
                for _ in range(3):
                    await asyncio.sleep(0.4)
                    await relay.cut()
                    await asyncio.sleep(0.2)
                    await relay.open()
                    await asyncio.sleep(0.8)
                first, second = await ending
    assert points_in(first) == -points_in(second)
    rows = await server.services.matches._store.matches.events(made["id"])
    commands = [message_of(row.command_id) for row in rows if row.command_id]
    assert len(commands) == len(set(commands))
    kinds = [type(event).__name__ for row in rows for event in row.events]
    assert kinds.count("Left") >= 1, "the line was really cut"
    assert kinds.count("MatchEnded") == 1


async def test_a_play_without_an_answer_is_sent_again_with_its_id_until_it_has_one(
    example: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that hears each play and says nothing, until the third time."""
    monkeypatch.setattr(example, "backoff", lambda: iter([0.01] * 10))
    position, heard, tokens = SHORT.opening(), list[Any](), list[str | None]()
    board = {"white": position.mine, "black": position.theirs}
    view = {
        "stage": "playing",
        "turn": "1W",
        "seat": "A",
        "boards": {"X": board, "Y": board},
        "mine": {"game": "X", "color": "white", "steps": step_graph(position, Roll(3, 1)).nodes},
        "dice": {"commitment": "c" * 64, "hashes": {"A": None, "B": None}, "defaulted": ["A", "B"]},
        "result": None,
    }
    over = {**view, "stage": "over", "mine": None, "result": {"outcome": "finished"}}

    async def serve(socket: ServerConnection) -> None:
        async def say(**frame: Any) -> None:
            await socket.send(json.dumps(frame))

        assert socket.request is not None
        tokens.append(socket.request.headers.get("Authorization"))
        await say(type="view", ping=1, info={"state": "playing"}, view=view)
        async for text in socket:
            message = json.loads(text)
            if message["type"] == "play":
                heard.append(message)
                if len(heard) < 3:
                    socket.transport.abort()
                    return
                await say(type="accepted", id=message["id"])
                await say(type="view", ping=2, view=over)

    async with serve_sockets(serve, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        match = example.Match(example.Server(f"http://127.0.0.1:{port}/", "nardy_bot_x"), "m1")
        async with asyncio.timeout(10):
            assert await match.play() == json.loads(json.dumps(over))
    assert len(heard) == 3
    assert heard == heard[:1] * 3
    assert heard[0]["turn"] == "1W"
    assert match.unanswered == {}
    assert tokens == ["Bearer nardy_bot_x"] * 3


async def test_what_the_server_refuses_ends_it_with_a_line(server: LiveServer) -> None:
    token = await a_token(server, "Zarik")
    for options, said in (
        (("--invite", "aaaaa-aaaaa"), "There is no such match."),
        (("--computer", "grandmaster"), "level"),
    ):
        async with running(server.url, token, *options) as one:
            _, wrong = await one.communicate()
        assert one.returncode == 1
        assert wrong.decode().startswith("bot.py: ")
        assert said in wrong.decode()
        assert "Traceback" not in wrong.decode()


# ------------------------------------------------------------------------------------------------- where it thinks


def test_it_chooses_among_all_legal_plays_and_sees_their_ends_right(example: ModuleType) -> None:
    """Judged by the engine: its own way of moving checkers, hits among them, leads to the same positions."""
    position: Position = SHORT.opening()
    hits = 0
    for number in range(120):
        roll = Roll(number % 6 + 1, number * 7 % 5 + 1)
        plays = legal_plays(position, roll)
        steps = [[list(edge) for edge in node] for node in step_graph(position, roll).nodes]
        mine, theirs = list(position.mine), list(position.theirs)
        ends = {after(position, play.moves) for play in plays}
        worths = {example.worth(end.mine, end.theirs): end for end in ends}
        moves = example.choose(mine, theirs, steps)
        end = _walked(example, mine, theirs, steps, moves)
        assert end in {(end.mine, end.theirs) for end in ends}
        assert example.worth(*end) == max(worths)
        hits += sum(edge[3] for node in steps for edge in node)
        position = Position(*end).turned()
        if position.mine[0] == 15 or position.theirs[0] == 15:
            position = SHORT.opening()
    assert hits > 50


def _walked(
    example: ModuleType, mine: list[int], theirs: list[int], steps: Any, moves: Any
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    node = 0
    for start, end in moves:
        edge = next(edge for edge in steps[node] if edge[:2] == [start, end])
        mine, theirs = example.moved(mine, theirs, start, end, edge[3])
        node = edge[4]
    return tuple(mine), tuple(theirs)


def test_a_pause_before_the_next_try_grows_and_is_never_the_same_for_all(example: ModuleType) -> None:
    pauses = example.backoff()
    found = [next(pauses) for _ in range(12)]
    assert 0.25 <= found[0] <= 0.75
    assert all(15 <= pause <= 45 for pause in found[7:])
    assert len(set(found)) == 12

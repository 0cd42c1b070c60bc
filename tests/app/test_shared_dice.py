"""What anybody can get of a board whose round is open, over HTTP and by a socket: nothing (§5.4, §9.4)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Route

from app.cli import main
from app.settings import Settings
from app.store import open_store
from engine.competition import commands as c
from tests.support.competing import Hand
from tests.support.server import LiveServer, Person, person
from tests.support.stores import elsewhere, settings_of

QUICK = {"reveal_ms": 0, "auto_pass_ms": 0, "absence_s": 1}
BOARD: dict[str, Any] = {
    "stages": [{"kind": "qualifying", "matches": 1, "computer": "beginner"}],
    "pace": {"mode": "auto", "break_ms": 0},
    "ruleset": QUICK,
}


async def a_board(server: LiveServer, *people: Person) -> tuple[str, list[str]]:
    """A qualifying of these people, begun; their matches."""
    competitions = server.services.competitions
    boss = (await server.services.accounts.sign_in(None, "Boss", None)).id
    made = await competitions.create(boss, title={"en": "Cup"}, settings=BOARD)
    await competitions.act(made.id, lambda at: c.OpenEntry(boss, at), actor=boss)
    accounts = []
    for one in people:
        cookie = one.http.cookies["nardy"]
        account = server.services.sessions._serializer.loads(cookie)
        accounts.append(account)
        await competitions.register(made.id, account, actor=boss)
    await competitions.start(made.id, actor=boss)
    found: list[str] = []
    async with asyncio.timeout(10):
        for account in accounts:
            while not (mine := await competitions.mine(made.id, account)).next.is_made:
                await asyncio.sleep(0.05)
            found.append(mine.next.match)
    return made.id, found


async def test_every_address_of_a_match_is_silent_until_the_round_is_closed(server: LiveServer) -> None:
    async with (
        person(server, "Anna") as anna,
        person(server, "Boris") as boris,
        person(server, "Eve") as eve,
        person(server, None) as nobody,
    ):
        event, (mine, other) = await a_board(server, anna, boris)
        async with anna.display(mine) as a, boris.display(other) as b:
            for display in (a, b):
                await display.commit_seed()
            for display in (a, b):
                await display.reveal_seed()
            await a.until_view(lambda view: view["turn"] == "1W", 10)
            await a.play_something()
            await a.until_view(lambda view: view["waits"])
            # Every address below /api that names a match, as the others and as somebody without a name.
            paths = {
                route.path
                for route in server.app.routes
                if isinstance(route, Route) and "{match_id}" in route.path and "GET" in (route.methods or ())
            }
            paths |= {
                path
                for path, methods in (await nobody.get("/api/openapi.json"))["paths"].items()
                if "{match_id}" in path and "get" in methods
            }
            paths = {path for path in paths if path.startswith("/api/")}
            assert len(paths) >= 5, paths
            seeds = {
                (await server.services.competitions._store.competitions.boards(event))[0].server_seed.hex(),
            }
            for path in sorted(paths):
                for caller in (eve, nobody, boris):
                    answer = await caller.http.get(path.format(match_id=mine, format="txt"))
                    if answer.status_code == 400:
                        continue  # says what it lacks before it looks at the match
                    # Some ask first whether he has a seat.
                    refused = {"round-is-open", "not-your-seat", "no-name"}
                    assert answer.json().get("code") in refused, (path, answer.text)
            for caller in (eve, nobody, boris):
                async with caller.display(mine, watch=True) as watching:
                    await watching.closed()
                    assert [frame["type"] for frame in watching.frames] == ["problem"]
                    assert watching.frames[0]["problem"]["code"] == "round-is-open"
            assert (await eve.get("/api/lobby"))["live"] == []
            # What the players themselves were sent has no seed of the server's, nor anything of each other.
            for display, stranger in ((a, other), (b, mine)):
                sent = "".join(display.raw)
                assert stranger not in sent
                assert not any(seed in sent for seed in seeds)
            assert b.view["turn"] == "1W"
            # He who has ended his own board knows no more.
            price = b.view["mine"]["resign"]["points"]
            await b.ask(type="resign", turn="1W", points=price)
            over = await b.until_view(lambda view: view["stage"] == "over")
            assert over["dice"]["seed"] is None
            for path in ("", ".json", "/history"):
                answer = await boris.http.get(f"/api/matches/{other}{path}")
                assert not any(seed in answer.text for seed in seeds)
            await a.until_view(lambda view: view["turn"] == "1K")  # he waits for nobody now
            price = a.view["mine"]["resign"]["points"]
            await a.ask(type="resign", turn="1K", points=price)
            await a.until_view(lambda view: view["dice"]["seed"] in seeds, 10)  # the round is closed
        opened = await eve.get(f"/api/matches/{mine}.json")
        assert opened["dice"]["seed"] in seeds


async def test_no_seed_is_shown_before_all_entrants_have_committed(server: LiveServer) -> None:
    """Who commits last must know nobody else's seed, not by way of the server either (§9.1, §12.1)."""
    async with person(server, "Anna") as anna, person(server, "Boris") as boris, person(server, "Cid") as cid:
        event, boards = await a_board(server, anna, boris, cid)
        store = server.services.competitions._store
        async with (
            anna.display(boards[0]) as a,
            boris.display(boards[1]) as b,
            cid.display(boards[2]) as late,
        ):
            for display in (a, b):
                await display.commit_seed()
                await display.until_view(lambda view: view["waits"])
                refused = await display.ask(type="seed-reveal", seed=display._seed)
                assert (refused["problem"]["code"], refused["problem"]["params"]["because"]) == (
                    "bad-seed",
                    "early",
                )
            await late.until(lambda: late.view)
            written = [str(row.events) for match in boards for row in await store.matches.events(match)]
            for display in (a, b):
                assert not any(display._seed in events for events in written), "the server has no seed yet"
                assert not any(display._seed in text for other in (a, b, late) for text in other.raw)
            assert (await store.competitions.boards(event))[0].seeds is None
            await late.commit_seed()
            for display in (a, b, late):
                await display.reveal_seed()
            for display in (a, b, late):
                await display.until_view(lambda view: view["turn"] == "1W", 10)
                assert display.view["dice"]["own"] == display._seed
        seeds = (await store.competitions.boards(event))[0].seeds
        assert sorted(seeds.values()) == sorted(display._seed for display in (a, b, late))


# ---------------------------------------------------------------------------------------------------- the command


def test_recompute_on_the_command_line(
    tmp_path: Path, sqlite_url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_of(sqlite_url, tmp_path)
    monkeypatch.setenv("SECRET_KEY", settings.secret_key)
    event = elsewhere(lambda: _announced(settings))
    given = ["recompute", event, "--database", sqlite_url, "--data", str(tmp_path)]
    assert main(given) == 0
    assert capsys.readouterr().out == f"{event}: 0 matches and 3 facts give what is stored and shown.\n"
    elsewhere(lambda: _changed(settings))
    assert main(given) == 1
    assert capsys.readouterr().out.splitlines() == [
        "entrants in lists: stored 7, computed 2",
        f"{event}: 1 differences in 0 matches and 3 facts.",
    ]
    assert main([*given[:1], "no-such", *given[2:]]) == 1
    assert "no competition no-such" in capsys.readouterr().err


async def _announced(settings: Settings) -> str:
    store = await open_store(settings)
    hand = Hand(store)
    await hand.announce(2)
    await store.close()
    return hand.id


async def _changed(settings: Settings) -> None:
    store = await open_store(settings)
    await store._database.write(
        lambda connection: connection.exec_driver_sql("UPDATE competitions SET entrants = 7").rowcount
    )
    await store.close()

"""What the other seat and a spectator do not get to know (§5), by every channel there is."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.support.server import Display, LiveServer, Person, first_way, person, seated

READS = (
    "/api/matches/{id}",
    "/api/matches/{id}/view",
    "/api/matches/{id}/history",
    "/api/lobby",
    "/api/session",
    "/match/{id}",
    "/replay/{id}",
)
# All that may change in a view when the opponent plays his half of an open phase (§5.1).
PUBLIC_OF_A_SEAT = {"state", "bank_ms", "charged_ms", "flag_at", "free_until", "away_until", "connected"}


async def _everything(who: Person, match_id: str) -> dict[str, str]:
    """Every answer that this person can get about the match."""
    return {path: (await who.http.get(path.format(id=match_id))).text for path in READS}


def _differences(before: Any, after: Any, path: str = "") -> set[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        assert before.keys() == after.keys(), path
        return {d for key in before for d in _differences(before[key], after[key], f"{path}.{key}")}
    return set() if before == after else {path}


async def _quiet(*displays: Display) -> None:
    """Long enough for a frame that should not come to come."""
    await asyncio.sleep(0.3)


def _in_the_lobby(answers: dict[str, str]) -> Any:
    """The view of the one running match that the home page shows."""
    (live,) = json.loads(answers["/api/lobby"])["live"]
    return live["view"]


async def test_a_draft_reaches_nobody_who_has_not_played(server: LiveServer) -> None:
    watched = seated(server, opponent="anyone")
    async with watched as (match_id, _, boris, a, b), person(server, None) as visitor:
        async with visitor.display(match_id) as x:
            await x.until(lambda: x.view)
            before = [await _everything(who, match_id) for who in (boris, visitor)]
            assert all(_in_the_lobby(answers) == x.view for answers in before)
            frames = len(b.frames), len(x.frames)
            for moves in _prefixes(first_way(a.view["mine"]["steps"])):
                await a.send(type="draft", turn="1W", moves=moves)
            await _quiet(b, x)
            assert (len(b.frames), len(x.frames)) == frames, "not even an empty update"
            assert [await _everything(who, match_id) for who in (boris, visitor)] == before


async def test_a_play_shows_only_that_it_was_made(server: LiveServer) -> None:
    watched = seated(server, opponent="anyone")
    async with watched as (match_id, _, boris, a, b), person(server, None) as visitor:
        async with visitor.display(match_id) as x:
            await x.until(lambda: x.view)
            b_before, x_before = b.view, x.view
            frames = len(b.frames), len(x.frames)
            await a.play_something()
            await b.until_view(lambda v: v["seats"]["A"]["state"] == "played")
            await x.until_view(lambda v: v["seats"]["A"]["state"] == "played")
            allowed = {f".seats.A.{name}" for name in PUBLIC_OF_A_SEAT}
            assert _differences(b_before, b.view) <= allowed
            assert _differences(x_before, x.view) <= allowed
            await _quiet(b, x)
            assert (len(b.frames), len(x.frames)) == (frames[0] + 1, frames[1] + 1), (
                "one update, whatever was played"
            )
            assert b.view["theirs"] is None
            assert x.view["mine"] is None
            for who in (boris, visitor):
                answers = await _everything(who, match_id)
                view = json.loads(answers["/api/matches/{id}/view"])
                assert _differences(b_before if who is boris else x_before, view) <= allowed
                history = json.loads(answers["/api/matches/{id}/history"])
                assert history["phases"] == []
                assert _in_the_lobby(answers) == x.view, "the home page knows what a spectator knows"


async def test_one_who_has_played_sees_the_opponents_board_live(server: LiveServer) -> None:
    async with seated(server) as (_, _, _, a, b):
        await a.play_something()
        assert (await a.until_view(lambda v: v["theirs"]))["theirs"]["draft"] == []
        way = first_way(b.view["mine"]["steps"])
        await b.send(type="draft", turn="1W", moves=way[:1])
        view = await a.until_view(lambda v: v["theirs"]["draft"])
        assert [move[:2] for move in view["theirs"]["draft"]] == way[:1]
        await b.send(type="draft", turn="1W", moves=[])
        await a.until_view(lambda v: not v["theirs"]["draft"])


async def test_peek_start_and_off_show_nothing_more(server: LiveServer) -> None:
    for peek in ("start", "off"):
        async with seated(server, {"peek": peek}) as (_, _, _, a, b):
            await a.play_something()
            await a.until_view(lambda v: v["mine"]["played"])
            frames = len(a.frames)
            await b.send(type="draft", turn="1W", moves=first_way(b.view["mine"]["steps"])[:1])
            await _quiet(a)
            assert len(a.frames) == frames
            assert a.view["theirs"] is None


async def test_a_players_own_second_tab_as_spectator_learns_no_more(server: LiveServer) -> None:
    async with seated(server) as (match_id, _, boris, a, b), boris.display(match_id, watch=True) as watching:
        await watching.until(lambda: watching.view)
        assert watching.view["seat"] is None
        await b.play_something()
        await watching.until_view(lambda v: v["seats"]["B"]["state"] == "played")
        frames = len(watching.frames)
        await a.send(type="draft", turn="1W", moves=first_way(a.view["mine"]["steps"])[:1])
        await _quiet(watching)
        assert len(watching.frames) == frames
        assert watching.view["theirs"] is None
        refusal = await watching.ask(type="play", turn="1W", moves=[])
        assert refusal["problem"]["code"] == "not-your-seat"


async def test_no_seed_and_no_coming_roll_before_the_end(server: LiveServer) -> None:
    async with seated(server) as (match_id, anna, boris, a, b):
        seed = (await server.services.matches._store.matches.load(match_id)).server_seed.hex()
        for display in (a, b):
            await display.play_something()
        await a.until_view(lambda v: v["turn"] == "1K")
        told = "".join(a.raw + b.raw) + "".join((await _everything(anna, match_id)).values())
        assert seed not in told
        assert a.view["dice"]["seed"] is None
        stored = b"".join(
            file.read_bytes() for file in server.settings.data_dir.parent.glob("nardy.sqlite3*")
        )
        assert bytes.fromhex(seed) not in stored
        assert seed.encode() not in stored
        refused = await anna.http.get(f"/api/matches/{match_id}.json")
        assert refused.json()["code"] == "match-still-runs"


async def test_client_seeds_stay_apart_until_both_are_known(server: LiveServer) -> None:
    async with person(server, "Anna") as anna, person(server, "Boris") as boris:
        made = await anna.post("/api/matches", {})
        await boris.post(f"/api/invites/{made['code']}/join")
        async with anna.display(made["id"]) as a, boris.display(made["id"]) as b:
            await a.until(lambda: a.view)
            await b.until(lambda: b.view)
            await a.commit_seed()
            await b.commit_seed()
            await a.reveal_seed()
            await _quiet(b)
            assert a._seed not in "".join(b.raw)
            assert b.view["dice"]["seeds"] == {"A": None, "B": None}
            await b.reveal_seed()
            view = await a.until_view(lambda v: v["stage"] == "playing")
            assert view["dice"]["seeds"] == {"A": a._seed, "B": b._seed}


def _prefixes(moves: list[list[int]]) -> list[list[list[int]]]:
    return [moves[:n] for n in range(1, len(moves) + 1)] + [[]]

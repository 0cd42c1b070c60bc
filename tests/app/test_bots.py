"""Bots: programs that play by a token, seen by everybody as what they are, for nothing (§10.2)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from websockets.asyncio.client import connect

from app.cli import main
from app.service.bots import BOTS_OF_ONE, TOKEN
from app.service.pace import Pace
from app.settings import Settings
from tests.support.process import a_process, environment_of, free_port
from tests.support.server import (
    QUICK,
    LiveServer,
    Person,
    a_bot,
    bot,
    first_way,
    owes,
    person,
    play_to_the_end,
    running_server,
    seated,
)

FOR_NOTHING = {"rated": False, "mode": "off"}


def stakes(info: Any) -> dict[str, Any]:
    return {"rated": info["ruleset"]["rated"], "mode": info["ruleset"]["time"]["mode"]}


@dataclass
class Owned:
    """A bot as its owner has it."""

    owner: Person
    program: Person
    id: str
    token: str


@pytest_asyncio.fixture
async def zarik(server: LiveServer) -> AsyncIterator[Owned]:
    async with person(server, "Vera") as vera:
        made = await vera.post("/api/bots", {"name": "Zarik"})
        async with bot(server, made["token"]) as program:
            yield Owned(vera, program, made["bot"]["id"], made["token"])


# ----------------------------------------------------------------------------------------------- made, renewed, revoked


def stored_bytes(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.rglob("nardy.sqlite3*"))


async def test_a_token_is_shown_once_and_stored_as_a_hash(server: LiveServer, tmp_path: Path) -> None:
    async with person(server, "Vera") as vera:
        answer = await vera.http.post("/api/bots", json={"name": " Zarik "})
        made = answer.json()
        assert answer.status_code == 201
        assert TOKEN.fullmatch(made["token"])
        assert made["bot"]["name"] == "Zarik"
        listed = await vera.http.get("/api/bots")
        assert listed.json() == {"bots": [made["bot"]], "limit": BOTS_OF_ONE}
        assert "nardy_bot_" not in listed.text
    data = await asyncio.to_thread(stored_bytes, tmp_path)
    assert made["bot"]["id"].encode() in data
    assert made["token"].encode() not in data
    assert made["token"].removeprefix("nardy_bot_").encode() not in data


async def test_the_token_is_the_bot_whatever_cookie_comes_with_it(server: LiveServer, zarik: Owned) -> None:
    assert (await zarik.program.get("/api/session"))["player"] == {
        "name": "Zarik",
        "tag": None,
        "kind": "bot",
        "points": 1000,
        "strength": 1500,
        "matches": 0,
    }
    zarik.program.http.cookies = zarik.owner.http.cookies
    assert (await zarik.program.get("/api/session"))["player"]["name"] == "Zarik"
    zarik.program.http.headers["Authorization"] = f"bearer  {zarik.token}"
    assert (await zarik.program.get("/api/session"))["player"]["name"] == "Zarik"
    zarik.program.http.headers["Authorization"] = "Basic dXNlcjpwYXNz"  # a proxy's own
    assert (await zarik.program.get("/api/session"))["player"]["name"] == "Vera"


@pytest.mark.parametrize("wrong", ["nardy_bot_" + "x" * 43, "x", "nardy_bot_é", "Bearer"])
async def test_a_token_that_is_none_opens_nothing_not_even_by_a_good_cookie(
    server: LiveServer, zarik: Owned, wrong: str
) -> None:
    zarik.owner.http.headers["Authorization"] = f"Bearer {wrong}".encode().decode("latin-1")
    answer = await zarik.owner.http.get("/api/session")
    assert (answer.status_code, answer.json()["code"]) == (401, "bad-token")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert (await zarik.owner.refused("/api/matches", {}))["code"] == "bad-token"


async def test_a_renewed_token_takes_the_place_of_the_old_one_at_once(
    server: LiveServer, zarik: Owned
) -> None:
    made = await zarik.program.post("/api/matches", {"opponent": "anyone"})
    async with zarik.program.display(made["id"]) as display:
        await display.until(lambda: display.info)
        renewed = await zarik.owner.post(f"/api/bots/{zarik.id}/token")
        assert renewed["token"] != zarik.token
        assert await display.closed() == 1008
        assert display.frames[-1]["type"] == "bye"
        assert display.frames[-1]["reason"] == "revoked"
    assert (await zarik.program.http.get("/api/session")).json()["code"] == "bad-token"
    async with zarik.program.display(made["id"]) as display:
        assert await display.closed() == 1008
        assert display.connection.close_reason == "bad-token"
        await display.until(lambda: display.frames)
        assert display.frames[0]["problem"]["code"] == "bad-token"
    async with bot(server, renewed["token"]) as again, again.display(made["id"]) as display:
        await display.until(lambda: display.info and display.info["seat"] == "A")


async def test_a_revoked_bot_is_out_until_it_has_another_token(server: LiveServer, zarik: Owned) -> None:
    answer = await zarik.owner.http.delete(f"/api/bots/{zarik.id}/token")
    assert (answer.status_code, answer.json()["token_at"]) == (200, None)
    assert (await zarik.program.refused("/api/matches", {}))["code"] == "bad-token"
    assert [one["id"] for one in (await zarik.owner.get("/api/bots"))["bots"]] == [zarik.id]
    renewed = await zarik.owner.post(f"/api/bots/{zarik.id}/token")
    async with bot(server, renewed["token"]) as again:
        assert (await again.get("/api/session"))["player"]["name"] == "Zarik"


async def test_a_token_revoked_at_one_server_is_cut_off_at_the_other(
    migrated_postgres_url: str, tmp_path: Path
) -> None:
    async with (
        running_server(migrated_postgres_url, tmp_path / "one") as one,
        running_server(migrated_postgres_url, tmp_path / "two") as two,
        person(one, "Vera") as vera,
    ):
        made = await vera.post("/api/bots", {"name": "Zarik"})
        async with bot(two, made["token"]) as program:
            match = await program.post("/api/matches", {"opponent": "anyone"})
            async with program.display(match["id"]) as display:
                await display.until(lambda: display.info)
                await vera.http.delete(f"/api/bots/{made['bot']['id']}/token")
                assert await display.closed(patience=15) == 1008


async def test_a_deleted_bot_waits_nowhere_and_its_owner_has_room_again(
    server: LiveServer, zarik: Owned
) -> None:
    made = await zarik.program.post("/api/matches", {"opponent": "anyone"})
    async with person(server, "Boris") as boris, boris.display(made["id"]) as display:
        await display.until(lambda: display.info)
        answer = await zarik.owner.http.delete(f"/api/bots/{zarik.id}")
        assert answer.json() == {"bots": [], "limit": BOTS_OF_ONE}
        await display.until(lambda: display.info["state"] == "cancelled")
        assert display.info["players"]["A"]["name"] == "Zarik", "what it has done stays"
    assert (await zarik.program.refused("/api/matches", {}))["code"] == "bad-token"
    assert (await zarik.owner.http.delete(f"/api/bots/{zarik.id}")).status_code == 404


async def test_an_owner_has_a_bounded_number_of_bots(server: LiveServer) -> None:
    async with person(server, "Vera") as vera:
        for i in range(BOTS_OF_ONE):
            await vera.post("/api/bots", {"name": f"Zarik {i}"})
        refused = await vera.refused("/api/bots", {"name": "One more"})
        assert (refused["status"], refused["code"]) == (429, "too-many-bots")
        assert refused["params"] == {"limit": BOTS_OF_ONE}


async def test_a_lost_answer_makes_no_second_bot(server: LiveServer) -> None:
    async with person(server, "Vera") as vera:
        key = {"Idempotency-Key": "the same"}
        first = await vera.post("/api/bots", {"name": "Zarik"}, **key)
        again = await vera.post("/api/bots", {"name": "Zarik"}, **key)
        assert again["bot"]["id"] == first["bot"]["id"]
        other = await vera.http.post("/api/bots", json={"name": "Kubik"}, headers=key)
        assert other.json()["code"] == "key-used"
        async with bot(server, again["token"]) as program:
            assert (await program.get("/api/session"))["player"]["name"] == "Zarik"


async def test_nobody_has_a_say_over_somebody_elses_bot(server: LiveServer, zarik: Owned) -> None:
    async with person(server, "Boris") as boris, person(server, None) as nobody:
        for who, code in ((boris, "no-such-bot"), (nobody, "no-name")):
            for method, path in (("POST", "/token"), ("DELETE", "/token"), ("DELETE", "")):
                answer = await who.http.request(method, f"/api/bots/{zarik.id}{path}")
                assert answer.json()["code"] == code
        assert (await boris.get("/api/bots"))["bots"] == []
    assert (await zarik.program.get("/api/session"))["player"]


@pytest.mark.parametrize(
    ("name", "because"),
    [
        ("", "empty"),
        ("x" * 25, "long"),
        ("Za\u200brik", "invisible"),
        ("Computer · expert", "computer"),
        ("bgsage master", "computer"),
        ("NARDY heuristic", "computer"),
        ("bgsаge club", "computer"),  # the second a is Cyrillic
        ("Zarik · bot", "computer"),
        ("Зарик ·бот", "computer"),
        ("Zarik #2", "hash"),
    ],
)
async def test_a_bot_is_named_as_people_are_and_never_as_a_computer(
    server: LiveServer, name: str, because: str
) -> None:
    async with person(server, "Vera") as vera:
        for path in ("/api/bots", "/api/session"):
            refused = await vera.refused(path, {"name": name})
            assert (refused["code"], refused["params"]["because"]) == ("bad-name", because)


async def test_two_of_one_name_are_told_apart(server: LiveServer) -> None:
    async with person(server, "Vera") as vera:
        assert (await vera.post("/api/bots", {"name": "vera"}))["bot"]["tag"]


# ------------------------------------------------------------------------------------------------ what it does, or not


async def test_what_only_people_do(server: LiveServer, zarik: Owned) -> None:
    """A bot has no second way in, no helpers, and nobody else's seat."""
    async with person(server, "Boris") as boris:
        made = await zarik.program.post("/api/matches", {"opponent": "anyone", "ruleset": QUICK})
        await boris.post(f"/api/matches/{made['id']}/join")
        secret = (await boris.get(f"/api/matches/{made['id']}/seat-link"))["secret"]
    calls = (
        ("POST", "/api/session", {"name": "Another"}),
        ("GET", "/api/bots", None),
        ("POST", "/api/bots", {"name": "Mine"}),
        ("POST", f"/api/bots/{zarik.id}/token", None),
        ("DELETE", f"/api/bots/{zarik.id}", None),
        ("GET", f"/api/matches/{made['id']}/hint", None),
        ("GET", f"/api/matches/{made['id']}/seat-link", None),
        ("POST", f"/api/matches/{made['id']}/seat", {"secret": secret}),
    )
    for method, path, body in calls:
        answer = await zarik.program.http.request(method, path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (403, "not-for-bots"), path
        assert "set-cookie" not in answer.headers
    assert (await zarik.program.get("/api/session"))["player"]["name"] == "Zarik"


async def test_a_bot_opens_a_match_plays_it_to_the_end_and_asks_for_another(
    server: LiveServer, zarik: Owned
) -> None:
    """Everywhere it is seen as a bot; nothing is at stake."""
    made = await zarik.program.post("/api/matches", {"opponent": "anyone", "ruleset": QUICK})
    assert (made["players"]["A"]["kind"], made["preset"]) == ("bot", "own")
    assert stakes(made) == FOR_NOTHING
    async with person(server, "Boris") as boris, person(server, None) as visitor:
        [waiting] = [one for one in (await boris.get("/api/lobby"))["waiting"] if one["id"] == made["id"]]
        assert (waiting["players"]["A"]["kind"], stakes(waiting)) == ("bot", FOR_NOTHING)
        await boris.post(f"/api/matches/{made['id']}/join")
        async with (
            zarik.program.display(made["id"]) as a,
            boris.display(made["id"]) as b,
            visitor.display(made["id"]) as x,
        ):
            await asyncio.gather(*(display.until(lambda d=display: d.view) for display in (a, b, x)))
            await asyncio.gather(a.commit_seed(), b.commit_seed())
            await asyncio.gather(a.reveal_seed(), b.reveal_seed())
            live = (await visitor.get("/api/lobby"))["live"]
            assert [one["info"]["players"]["A"]["kind"] for one in live] == ["bot"]
            await play_to_the_end(a, b)
            await x.until_view(lambda v: v["stage"] == "over")
            assert a.view["dice"]["defaulted"] == []
            for display in (a, b, x):
                assert display.info["players"]["A"]["kind"] == "bot"
                assert display.info["ratings"] is None
                assert display.view["result"]["rated"] is False
                assert display.view["result"]["time_adjustment"] == 0
            record = await visitor.get(f"/api/matches/{made['id']}.json")
            assert record["players"]["A"] == {"name": "Zarik", "kind": "bot"}
            assert record["players"]["B"]["kind"] == "guest"
            history = await visitor.get(f"/api/matches/{made['id']}/history")
            assert history["info"]["players"]["A"]["kind"] == "bot"
            for who in (zarik.program, boris):
                again = await who.post(f"/api/matches/{made['id']}/rematch")
        rematch = await zarik.program.get(f"/api/matches/{again['rematch']['id']}")
        assert (rematch["players"]["B"]["kind"], rematch["seat"], stakes(rematch)) == (
            "bot",
            "B",
            FOR_NOTHING,
        )
        me = (await boris.get("/api/session"))["player"]
        assert (me["points"], me["strength"], me["matches"]) == (1000, 1500, 1)


async def test_a_bot_sits_down_where_nothing_is_at_stake(server: LiveServer, zarik: Owned) -> None:
    async with person(server, "Anna") as anna:
        unrated = await anna.post("/api/matches", {"opponent": "anyone", "ruleset": {"rated": False}})
        joined = await zarik.program.post(f"/api/matches/{unrated['id']}/join")
        assert (joined["seat"], joined["state"], stakes(joined)) == ("B", "playing", FOR_NOTHING)
        rated = await anna.post("/api/matches", {"opponent": "anyone"})
        refused = await zarik.program.refused(f"/api/matches/{rated['id']}/join")
        assert (refused["status"], refused["code"]) == (403, "rated-match")
        assert (await anna.get(f"/api/matches/{rated['id']}"))["state"] == "waiting"


async def test_an_invited_bot_comes_and_nothing_is_at_stake_any_longer(
    server: LiveServer, zarik: Owned
) -> None:
    made = await zarik.owner.post("/api/matches", {"opponent": "link", "ruleset": QUICK})
    assert stakes(made) == {"rated": True, "mode": "linear"}
    joined = await zarik.program.post(f"/api/invites/{made['code']}/join")
    assert (joined["seat"], stakes(joined)) == ("B", FOR_NOTHING)
    async with zarik.owner.display(made["id"]) as display:
        await display.until(lambda: display.info)
        assert stakes(display.info) == FOR_NOTHING, "and both are told so"


async def test_two_bots_play_for_nothing(server: LiveServer) -> None:
    async with a_bot(server, "Zarik") as one, a_bot(server, "Kubik") as other:
        made = await one.post("/api/matches", {"opponent": "anyone"})
        joined = await other.post(f"/api/matches/{made['id']}/join")
        assert [joined["players"][seat]["kind"] for seat in "AB"] == ["bot", "bot"]
        assert stakes(joined) == FOR_NOTHING


async def test_a_bot_has_no_more_matches_at_once_than_a_person(server: LiveServer, zarik: Owned) -> None:
    for _ in range(20):
        await zarik.program.post("/api/matches", {"opponent": "anyone"})
    assert (await zarik.program.refused("/api/matches", {}))["code"] == "too-many-matches"


# ------------------------------------------------------------------------------------------------ its private display


async def test_a_token_gives_the_view_of_its_own_seat_and_of_no_other(
    server: LiveServer, zarik: Owned
) -> None:
    """§5.1: nothing of the opponent's play, however it is asked for, until it has played itself."""
    made = await zarik.program.post("/api/matches", {"opponent": "anyone", "ruleset": QUICK})
    path = f"/api/matches/{made['id']}"
    async with person(server, "Boris") as boris, a_bot(server, "Kubik") as other:
        await boris.post(f"{path}/join")
        async with (
            zarik.program.display(made["id"]) as a,
            boris.display(made["id"]) as b,
            zarik.owner.display(made["id"]) as owner,
            other.display(made["id"]) as stranger,
        ):
            everyone = (a, b, owner, stranger)
            await asyncio.gather(*(display.until(lambda d=display: d.view) for display in everyone))
            await asyncio.gather(a.commit_seed(), b.commit_seed())
            await asyncio.gather(a.reveal_seed(), b.reveal_seed())
            for display in everyone:
                await display.until_view(lambda v: v["stage"] == "playing")
            assert [display.view["seat"] for display in everyone] == ["A", "B", None, None]
            seen = len(a.frames)
            before = a.view
            way = first_way(b.view["mine"]["steps"])
            await b.send(type="draft", turn="1W", moves=way[:1])
            assert (await b.play(way))["type"] == "accepted"
            await a.until_view(lambda v: v["seats"]["B"]["state"] == "played")
            views = [frame["view"] for frame in a.frames[seen:]]
            for view in (*views, await zarik.program.get(f"{path}/view")):
                told = {key for key in view if view[key] != before[key]}
                assert told == {"seats"}, "that he has played, and nothing else"
                assert view["seats"]["A"] == before["seats"]["A"]
                assert view["seats"]["B"]["state"] == "played"
            for watching in (owner, stranger):
                assert watching.view["mine"] is None
                assert watching.view["theirs"] is None
            assert (await other.get(f"{path}/view"))["seat"] is None
            refused = await stranger.play(first_way(before["mine"]["steps"]), "1W")
            assert refused["problem"]["code"] == "not-your-seat"


async def test_a_token_needs_no_origin_and_a_foreign_one_is_refused_whatever_comes_with_it(
    server: LiveServer, zarik: Owned
) -> None:
    foreign = {"Origin": "https://elsewhere.example"}
    made = await zarik.program.post("/api/matches", {"opponent": "anyone"})
    for who in (zarik.program, zarik.owner):
        answer = await who.http.post("/api/matches", json={}, headers=foreign)
        assert (answer.status_code, answer.json()["code"]) == (403, "foreign-origin")
    url = f"{server.url.replace('http', 'ws', 1)}/ws/matches/{made['id']}"
    cookie = "; ".join(f"{name}={value}" for name, value in zarik.owner.http.cookies.items())
    token = {"Authorization": f"Bearer {zarik.token}"}
    for headers in ({"Cookie": cookie, **foreign}, {**token, **foreign}):
        with pytest.raises(Exception, match="403"):
            async with connect(url, additional_headers=headers):
                pass
    async with connect(url, additional_headers=token) as socket:
        assert json.loads(await socket.recv())["info"]["seat"] == "A"


# ------------------------------------------------------------------------------------------------------------ too much


async def test_a_bot_that_floods_a_socket_is_sent_away(server: LiveServer, zarik: Owned) -> None:
    made = await zarik.program.post("/api/matches", {"opponent": "anyone"})
    async with zarik.program.display(made["id"]) as display:
        await display.until(lambda: display.info)
        for _ in range(130):
            await display.send(type="draft", turn="1W", moves=[])
        assert await display.closed() == 1008
        assert display.frames[-1]["reason"] == "flood"


async def test_a_token_is_good_for_so_many_requests_a_minute(
    server: LiveServer, zarik: Owned, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = [0.0]
    pace = Pace(5, 60.0, lambda: time[0])
    monkeypatch.setattr(server.app.state, "services", replace(server.services, bot_pace=pace))
    codes = [(await zarik.program.http.get("/api/session")).status_code for _ in range(7)]
    assert codes == [200] * 5 + [429] * 2
    refused = await zarik.program.http.get("/api/session")
    assert refused.headers["retry-after"] == "12"
    assert (refused.json()["code"], refused.json()["params"]) == ("too-often", {"retry_s": 12})
    assert (await zarik.owner.http.get("/api/session")).status_code == 200, "its owner is somebody else"
    async with a_bot(server, "Kubik") as other:
        assert (await other.http.get("/api/session")).status_code == 200
    time[0] = 12.0
    codes = [(await zarik.program.http.get("/api/session")).status_code for _ in range(2)]
    assert codes == [200, 429]


# ------------------------------------------------------------------------------------------------------------ the log


async def test_no_line_of_the_log_shows_a_token(store_settings: Settings, tmp_path: Path) -> None:
    """At the most talkative level; good and bad tokens, in headers and where they do not belong."""
    port, file = free_port(), tmp_path / "log"
    server = LiveServer(f"http://127.0.0.1:{port}", None, store_settings)
    tokens = []
    async with a_process(store_settings, port, file, LOG_LEVEL="debug") as process:
        async with person(server, "Vera") as vera:
            made = await vera.post("/api/bots", {"name": "Zarik"})
            tokens.append(made["token"])
            tokens.append((await vera.post(f"/api/bots/{made['bot']['id']}/token"))["token"])
        for token in tokens:
            async with bot(server, token) as program:
                await program.http.get("/api/session")
                await program.http.get(f"/api/session?token={token}")
                await program.http.get(f"/{token}")
                await program.http.post("/api/session", json={"name": token, token: token})
                answer = await program.http.post("/api/matches", json={"opponent": "anyone"})
                if answer.status_code == 201:
                    async with program.display(answer.json()["id"]) as display:
                        await display.until(lambda: display.info)
                        await display.ask(type="play", turn="1W", moves=[], token=token)
        process.terminate()
        await process.wait()
    log = file.read_text()
    assert "a display opened" in log
    for token in tokens:
        assert token not in log
        assert token.removeprefix("nardy_bot_") not in log


async def test_the_command_line_makes_bots_for_a_server_that_runs(
    store_settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    server = LiveServer(f"http://127.0.0.1:{port}", None, store_settings)
    for name, value in environment_of(store_settings, port).items():
        monkeypatch.setenv(name, value)
    async with a_process(store_settings, port):

        async def nardy(*words: str) -> tuple[int, str]:
            """Its status, and what it says: answers, or why it refuses."""
            status = await asyncio.to_thread(main, ["bot", *words])
            said = capsys.readouterr()
            return status, (said.out or said.err).strip()

        status, out = await nardy("create", "Зарик")
        first, token = out.splitlines()
        bot_id = first.split()[0]
        assert (status, first) == (0, f"{bot_id}  Зарик")
        async with bot(server, token) as program:
            made = await program.post("/api/matches", {"opponent": "anyone"})
            assert made["players"]["A"]["kind"] == "bot"
            async with program.display(made["id"]) as display:
                await display.until(lambda: display.info)
                assert await nardy("revoke", bot_id) == (0, "")
                assert await display.closed(patience=15) == 1008, "within some seconds"
            assert (await program.http.get("/api/session")).status_code == 401
        assert await nardy("list") == (0, f"{bot_id}  Зарик  (no token)")
        status, token = await nardy("token", bot_id)
        async with bot(server, token) as program:
            assert (await program.get("/api/session"))["player"]["name"] == "Зарик"
        assert await nardy("delete", bot_id) == (0, "")
        assert await nardy("list") == (0, "")
        status, wrong = await nardy("token", bot_id)
        assert (status, wrong) == (1, "nardy: There is no such bot, or it is somebody else's.")
        status, wrong = await nardy("create", "Computer")
        assert (status, wrong) == (1, "nardy: That is what computer players are called.")


async def test_people_are_people(server: LiveServer) -> None:
    """The mark is of bots alone."""
    async with seated(server) as (match_id, anna, _, a, b):
        assert [a.info["players"][seat]["kind"] for seat in "AB"] == ["guest", "guest"]
        assert owes(a.view)
        assert (await anna.get(f"/api/matches/{match_id}"))["ruleset"]["rated"] is True

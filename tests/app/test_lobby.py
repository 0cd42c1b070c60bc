"""Guests, invitations, seats: who may sit where, and what strangers can do."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from app.service.lobby import OPEN_AT_ONCE
from app.settings import Settings
from tests.support.server import (
    LiveServer,
    Person,
    person,
    play_to_the_end,
    running_server,
    seated,
)


async def test_a_guest_has_a_name_and_a_signed_cookie(server: LiveServer) -> None:
    async with person(server, None) as somebody:
        assert (await somebody.get("/api/session")) == {"player": None, "link_void": False}
        answer = await somebody.http.post("/api/session", json={"name": "  Вера \t Ланская "})
        assert answer.json()["player"] == {
            "name": "Вера Ланская",
            "tag": None,
            "kind": "guest",
            "points": 1000,
            "strength": 1500,
            "matches": 0,
        }
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        assert int(cookie.partition("max-age=")[2].partition(";")[0]) > 300 * 24 * 3600
        renamed = await somebody.post("/api/session", {"name": "Вера"})
        assert renamed["player"]["name"] == "Вера"


@pytest.mark.parametrize(
    ("name", "because"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("...", "empty"),
        ("x" * 25, "long"),
        ("Anna\u202eanna", "invisible"),
        ("An\u200bna", "invisible"),
        ("a" + "\u0301" * 9, "invisible"),
        ("\u3164", "invisible"),
        ("Anna\u115f", "invisible"),
        ("An\u2800na", "invisible"),
        ("Computer", "computer"),
        ("КОМПЬЮТЕР", "computer"),
        ("\u0441omputer", "computer"),  # the first letter is Cyrillic
        ("\u041aомпьютeр", "computer"),  # the e is Latin
    ],
)
async def test_a_name_that_cannot_be_shown_is_refused(server: LiveServer, name: str, because: str) -> None:
    async with person(server, None) as somebody:
        problem = await somebody.refused("/api/session", {"name": name})
        assert (problem["code"], problem["params"]["because"]) == ("bad-name", because)
        assert (await somebody.get("/api/session")) == {"player": None, "link_void": False}


async def test_two_of_one_name_are_told_apart(server: LiveServer) -> None:
    async with person(server, "Анна") as first, person(server, "анна") as second:
        assert (await first.get("/api/session"))["player"]["tag"] is None
        assert (await second.get("/api/session"))["player"]["tag"]


async def test_a_new_name_is_told_to_who_plays_and_watches(server: LiveServer) -> None:
    async with seated(server) as (match_id, anna, _, a, b), person(server, None) as somebody:
        async with somebody.display(match_id, watch=True) as x:
            await x.until(lambda: x.info)
            await anna.post("/api/session", {"name": "Anna Maria"})
            for display in (a, b, x):
                await display.until(lambda d=display: d.info["players"]["A"]["name"] == "Anna Maria")


async def test_a_forged_cookie_is_nobody(server: LiveServer) -> None:
    async with person(server, "Anna") as anna, person(server, None) as forger:
        name, value = next(iter(anna.http.cookies.items()))
        forger.http.cookies.set(name, value[:-2] + "xx")
        assert (await forger.get("/api/session")) == {"player": None, "link_void": False}
        assert (await forger.refused("/api/matches", {}))["code"] == "no-name"


async def test_looking_at_an_invite_takes_no_seat(server: LiveServer) -> None:
    async with (
        person(server, "Anna") as anna,
        person(server, None) as preview,
        person(server, "Boris") as boris,
    ):
        made = await anna.post("/api/matches", {"opponent": "link"})
        assert made["state"] == "waiting"
        assert (await preview.http.get(f"/join/{made['code']}")).status_code == 200
        seen = await preview.get(f"/api/invites/{made['code']}")
        assert seen["code"] is None, "the code is for those who sit there"
        assert (await preview.refused(f"/api/invites/{made['code']}/join"))["code"] == "no-name"
        assert (await anna.get(f"/api/matches/{made['id']}"))["state"] == "waiting"
        joined = await boris.post(f"/api/invites/{made['code']}/join")
        assert (joined["state"], joined["seat"]) == ("playing", "B")
        assert (await boris.post(f"/api/invites/{made['code']}/join"))["seat"] == "B", "pressed twice"


async def test_of_many_who_join_at_once_one_gets_the_seat(server: LiveServer) -> None:
    async with person(server, "Anna") as anna, person(server, "B") as b, person(server, "C") as c:
        made = await anna.post("/api/matches", {"opponent": "anyone"})
        answers = await asyncio.gather(
            *(who.http.post(f"/api/matches/{made['id']}/join") for who in (b, c, b, c))
        )
        told = [answer.json().get("seat") or answer.json()["code"] for answer in answers]
        assert told in (["B", "not-waiting"] * 2, ["not-waiting", "B"] * 2), (
            "one of them, however often he pressed"
        )


async def test_a_spectator_link_never_opens_a_seat(server: LiveServer) -> None:
    """CASES D11"""
    async with person(server, "Anna") as anna, person(server, "Xenia") as xenia:
        made = await anna.post("/api/matches", {"opponent": "link"})
        assert (await xenia.refused(f"/api/matches/{made['id']}/join"))["code"] == "needs-invite"
        assert (await xenia.get(f"/api/matches/{made['id']}"))["seat"] is None
        lobby = await xenia.get("/api/lobby")
        assert made["id"] not in [match["id"] for match in lobby["waiting"]]


async def test_nobody_sits_opposite_himself(server: LiveServer) -> None:
    async with person(server, "Anna") as anna:
        made = await anna.post("/api/matches", {"opponent": "anyone"})
        assert (await anna.refused(f"/api/invites/{made['code']}/join"))["code"] == "own-match"
        assert (await anna.refused(f"/api/matches/{made['id']}/join"))["code"] == "own-match"


async def test_a_waiting_match_can_be_cancelled_by_its_maker_alone(server: LiveServer) -> None:
    async with person(server, "Anna") as anna, person(server, "Boris") as boris:
        made = await anna.post("/api/matches", {"opponent": "anyone"})
        assert (await boris.refused(f"/api/matches/{made['id']}/cancel"))["code"] == "not-your-seat"
        assert (await anna.post(f"/api/matches/{made['id']}/cancel"))["state"] == "cancelled"
        assert (await boris.refused(f"/api/invites/{made['code']}/join"))["code"] == "not-waiting"
        assert (await boris.get("/api/lobby"))["waiting"] == []


async def test_the_same_key_makes_one_match(server: LiveServer) -> None:
    async with person(server, "Anna") as anna:
        first = await anna.post("/api/matches", {}, **{"Idempotency-Key": "k1"})
        again = await anna.post("/api/matches", {}, **{"Idempotency-Key": "k1"})
        other = await anna.post("/api/matches", {}, **{"Idempotency-Key": "k2"})
        assert first["id"] == again["id"] != other["id"]
        answer = await anna.http.post(
            "/api/matches", json={"preset": "blitz"}, headers={"Idempotency-Key": "k1"}
        )
        assert answer.json()["code"] == "key-used"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"preset": "chess"}, "bad-ruleset"),
        ({"preset": "long"}, "bad-ruleset"),
        ({"ruleset": {"scoring": "dollars"}}, "bad-ruleset"),
        ({"ruleset": {"clock": {"bank": 1}}}, "bad-ruleset"),
        ({"ruleset": {"pips_cap": True}}, "bad-ruleset"),
        ({"opponent": "nobody"}, "bad-request"),
        ({"surprise": 1}, "bad-request"),
        ([], "bad-request"),
    ],
)
async def test_a_match_by_rules_that_do_not_exist_is_refused(
    server: LiveServer, body: object, code: str
) -> None:
    async with person(server, "Anna") as anna:
        assert (await anna.refused("/api/matches", body))["code"] == code
        assert (await anna.get("/api/lobby"))["mine"] == []


async def test_own_settings_are_frozen_into_the_match(server: LiveServer) -> None:
    async with person(server, "Anna") as anna:
        made = await anna.post("/api/matches", {"preset": "blitz", "ruleset": {"scoring": "checkers"}})
        assert made["preset"] == "own"
        assert made["ruleset"]["scoring"] == "checkers"
        assert made["ruleset"]["clock"]["bank_ms"] == 60_000
        assert made["ruleset"]["unfinished"] == {"mode": "lead", "num": 1, "den": 2, "may_flip": False}


async def test_a_seat_link_opens_its_own_seat_on_another_device(server: LiveServer) -> None:
    """CASES D11"""
    async with seated(server) as (match_id, anna, boris, a, _b), person(server, "Annas phone") as phone:
        link = await anna.get(f"/api/matches/{match_id}/seat-link")
        assert (await phone.refused(f"/api/matches/{match_id}/seat", {"secret": "x" * 32}))[
            "code"
        ] == "bad-seat-secret"
        refused = await boris.refused(f"/api/matches/{match_id}/seat", {"secret": link["secret"]})
        assert refused["code"] == "own-match", "one player never gets both seats"
        assert (await phone.post(f"/api/matches/{match_id}/seat", {"secret": link["secret"]}))["seat"] == "A"
        async with phone.display(match_id) as second:
            await second.until(lambda: second.view)
            assert second.view["mine"]["game"] == "X"
            await second.play_something()
            await a.until_view(lambda v: v["mine"]["played"])
        stranger_sees = (await phone.http.get(f"/api/matches/{match_id}/seat-link")).json()
        assert stranger_sees == link


async def test_a_rematch_is_a_new_match_with_seats_exchanged(server: LiveServer) -> None:
    async with seated(server) as (match_id, anna, boris, a, b):
        assert (await anna.refused(f"/api/matches/{match_id}/rematch"))["code"] == "match-still-runs"
        await play_to_the_end(a, b)
        asked = await anna.post(f"/api/matches/{match_id}/rematch")
        assert asked["rematch"] == {"offered_by": ["A"], "id": None}
        await b.until(lambda: b.info["rematch"] and b.info["rematch"]["offered_by"] == ["A"])
        agreed, again = await asyncio.gather(
            boris.post(f"/api/matches/{match_id}/rematch"), boris.post(f"/api/matches/{match_id}/rematch")
        )
        assert agreed["rematch"]["id"] == again["rematch"]["id"]
        await a.until(lambda: a.info["rematch"]["id"])
        new = await anna.get(f"/api/matches/{agreed['rematch']['id']}")
        assert (new["state"], new["seat"]) == ("playing", "B")
        assert new["players"]["A"]["name"] == "Boris"


async def test_a_linked_device_goes_with_its_player_to_the_other_seat(server: LiveServer) -> None:
    """§12.4: of a rematch too, and the lobby's own list gives each its seat."""
    async with seated(server) as (match_id, anna, boris, a, b), person(server, "Annas phone") as phone:
        link = await anna.get(f"/api/matches/{match_id}/seat-link")
        await phone.post(f"/api/matches/{match_id}/seat", {"secret": link["secret"]})
        assert await _mine(phone) == {match_id: "A"}
        await play_to_the_end(a, b)
        await boris.post(f"/api/matches/{match_id}/rematch")
        new = (await phone.post(f"/api/matches/{match_id}/rematch"))["rematch"]["id"]
        assert (await phone.get(f"/api/matches/{new}"))["seat"] == "B"
        assert await _mine(phone) == await _mine(anna) == {new: "B"}
        assert await _mine(boris) == {new: "A"}
        async with phone.display(new) as seen:
            await seen.until(lambda: seen.view)
            assert seen.view["seat"] == "B"


async def _mine(who: Person) -> dict[str, str]:
    """The caller's matches that are not over, each with the seat that the lobby gives him."""
    return {match["id"]: match["seat"] for match in (await who.get("/api/lobby"))["mine"]}


async def test_twenty_matches_at_once_are_enough(server: LiveServer) -> None:
    """A call that is made again is no new match, also when there is no room for another."""
    async with person(server, "Anna") as anna:
        made = [
            await anna.post("/api/matches", {}, **{"Idempotency-Key": f"k{i}"}) for i in range(OPEN_AT_ONCE)
        ]
        for i in (0, OPEN_AT_ONCE - 1):
            again = await anna.post("/api/matches", {}, **{"Idempotency-Key": f"k{i}"})
            assert again["id"] == made[i]["id"]
        for headers in ({}, {"Idempotency-Key": "another"}):
            answer = await anna.http.post("/api/matches", json={}, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (429, "too-many-matches")
        assert set(await _mine(anna)) == {match["id"] for match in made}
        await anna.post(f"/api/matches/{made[0]['id']}/cancel")
        await anna.post("/api/matches", {})


async def test_nobody_chooses_what_his_casual_matches_are_worth(server: LiveServer) -> None:
    """They all move the one rating `open` (§10.1)."""
    refused = [
        {"scoring": "classic", "rating_num": 11},
        {"scoring": "classic", "rating_num": 21, "rating_den": 2},
        {"scoring": "pips", "rating_num": 2},
        {"scoring": "pips", "rating_num": 3, "rating_den": 2},
        {"scoring": "checkers", "rating_num": 10},
    ]
    made = [
        {"scoring": "classic", "rating_num": 10},
        {"scoring": "pips", "rating_num": 2, "rating_den": 2},
        {"scoring": "pips", "rating_num": 10, "rated": False},
    ]
    async with person(server, "Anna") as anna:
        for changes in refused:
            problem = await anna.refused("/api/matches", {"ruleset": changes})
            assert (problem["code"], problem["params"]["key"]) == ("bad-ruleset", "rating_num"), changes
        for changes in made:
            match = await anna.post("/api/matches", {"ruleset": changes})
            assert match["ruleset"]["rating_num"] == changes["rating_num"]


async def test_the_preset_classic_may_be_played_for_rating(server: LiveServer) -> None:
    async with person(server, "Anna") as anna:
        made = await anna.post("/api/matches", {"preset": "classic"})
        assert (made["preset"], made["ruleset"]["rating_num"], made["ruleset"]["rated"]) == (
            "classic",
            10,
            True,
        )


@pytest.mark.parametrize(
    ("base_url", "is_secure"),
    [
        pytest.param("https://nardy.example", True, id="https"),
        pytest.param("http://nardy.example", False, id="http"),
        pytest.param("", False, id="not said"),
    ],
)
async def test_a_cookie_of_a_site_on_https_never_goes_in_clear(
    sqlite_url: str, tmp_path: Path, base_url: str, is_secure: bool
) -> None:
    """Whatever the proxy in front says of a request."""
    async with (
        running_server(sqlite_url, tmp_path / "data", base_url=base_url) as server,
        person(server, None) as somebody,
    ):
        answer = await somebody.http.post("/api/session", json={"name": "Anna"})
        kept = [part.strip().lower() for part in answer.headers["set-cookie"].split(";")]
        assert ("secure" in kept) is is_secure


async def test_a_seat_secret_of_odd_letters_is_a_wrong_one(server: LiveServer) -> None:
    async with person(server, "Anna") as anna, person(server, "Boris") as boris:
        made = await anna.post("/api/matches", {})
        for secret in ("п" * 32, "\u0661" * 32, "", "\0"):
            problem = await boris.refused(f"/api/matches/{made['id']}/seat", {"secret": secret})
            assert (problem["status"], problem["code"]) == (403, "bad-seat-secret"), secret


async def test_half_a_character_in_a_ruleset_is_refused(server: LiveServer) -> None:
    """A refusal names the key that is wrong, and this one can be written by nobody."""
    async with person(server, "Anna") as anna:
        for ruleset in ('{"\\ud800": 1}', '{"clock": {"\\ud800": 1}}', '{"scoring": "\\ud800"}'):
            answer = await anna.http.post(
                "/api/matches",
                content=f'{{"ruleset": {ruleset}}}',
                headers={"Content-Type": "application/json"},
            )
            assert (answer.status_code, answer.json()["code"]) == (422, "bad-ruleset"), ruleset


ODD = ("%00", "a%00b", "%F0%9F%8E%B2", "%FF", "a%20b", "x" * 65)


async def test_an_id_that_can_be_nobodys_finds_nothing(store_settings: Settings) -> None:
    """On either database, which would make different things of it."""
    database, folder = store_settings.database_url, store_settings.data_dir / "data"
    async with running_server(database, folder) as server, person(server, "Anna") as anna:
        for odd in ODD:
            for path in ("matches/{}", "matches/{}/view", "matches/{}.json", "invites/{}"):
                answer = await anna.http.get(f"/api/{path.format(odd)}")
                assert (answer.status_code, answer.json()["code"]) == (404, "no-such-match"), (odd, path)
            for path in ("matches/{}/join", "matches/{}/rematch", "invites/{}/join"):
                problem = await anna.refused(f"/api/{path.format(odd)}")
                assert (problem["status"], problem["code"]) == (404, "no-such-match"), (odd, path)
            async with anna.display(odd) as display:
                assert await display.closed() == 1008, odd
                await display.until(lambda: display.frames)
                assert display.frames[0]["problem"]["code"] == "no-such-match", odd


async def test_another_site_can_change_nothing(server: LiveServer) -> None:
    async with person(server, "Anna") as anna:
        answer = await anna.http.post("/api/matches", json={}, headers={"Origin": "https://evil.example"})
        assert (answer.status_code, answer.json()["code"]) == (403, "foreign-origin")
        own = await anna.http.post("/api/matches", json={}, headers={"Origin": server.url})
        assert own.status_code == 201


@pytest.mark.parametrize(
    "path", ["/", "/rules", "/fairness", "/dice", "/match/x", "/replay/x", "/join/x", "/static/js/board.js"]
)
async def test_nothing_foreign_and_nothing_inline_may_run(server: LiveServer, path: str) -> None:
    async with person(server, None) as visitor:
        answer = await visitor.http.get(path)
        assert answer.status_code == 200
        assert (await visitor.http.head(path)).status_code == 200
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "script-src 'self'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        if "html" in answer.headers["content-type"]:
            for forbidden in ("<script>", " onclick=", " style=", "http://", "https://"):
                assert forbidden not in answer.text.replace("http://www.w3.org/2000/svg", ""), forbidden


async def test_every_answer_has_the_headers_that_browsers_are_guarded_by(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refusals and our own mistakes too: what they echo must not run either."""

    async def breaks(*_: object) -> None:
        raise RuntimeError("a bug")

    async with person(server, "Anna") as anna:
        monkeypatch.setattr(type(server.services.lobby), "invited", breaks)
        http = anna.http
        answers = [
            await http.get("/"),
            await http.get("/api/lobby"),
            await http.get("/healthz"),
            await http.post("/api/session", content=b"{"),
            await http.post("/api/matches", json={}, headers={"Origin": "https://evil.example"}),
            await http.get("/nowhere"),
            await http.get("/api/matches/none"),
            await http.get("/static/none.js"),
            await http.delete("/api/lobby"),
            await http.post("/api/session", content=b"x" * 70_000),
            await http.post("/api/matches", json={"preset": "chess"}),
            await http.get("/api/invites/any"),
        ]
    assert [answer.status_code for answer in answers] == [
        *(200, 200, 200, 400, 403, 404, 404, 404, 405, 413, 422, 500)
    ]
    for answer in answers:
        about = f"{answer.request.url} {answer.status_code}"
        assert "default-src 'none'" in answer.headers["content-security-policy"], about
        assert answer.headers["x-content-type-options"] == "nosniff", about
        assert answer.headers["referrer-policy"] == "same-origin", about


async def test_errors_are_problems_with_a_code(server: LiveServer) -> None:
    async with person(server, "Anna") as anna:
        for path, code in (
            ("/api/matches/none", "no-such-match"),
            ("/api/matches/none/view", "no-such-match"),
            ("/api/matches/none/history", "no-such-match"),
            ("/api/matches/none.json", "no-such-match"),
            ("/api/invites/none", "no-such-match"),
            ("/api/invites/none/qr.svg", "no-such-match"),
            ("/api/nowhere", "not-found"),
            ("/static/none.js", "not-found"),
        ):
            answer = await anna.http.get(path)
            assert answer.headers["content-type"] == "application/problem+json", path
            assert answer.json()["code"] == code, path
        assert (await anna.http.delete("/api/lobby")).json()["code"] == "method-not-allowed"
        broken = await anna.http.post(
            "/api/session", content=b"{", headers={"Content-Type": "application/json"}
        )
        assert broken.json()["code"] == "bad-request"


async def test_the_wire_is_described_by_the_server(server: LiveServer) -> None:
    async with person(server, None) as visitor:
        schemas = await visitor.get("/api/schemas/socket.json")
        sent = {"play", "draft", "resign", "offer-draw", "accept-draw", "seed-commit", "seed-reveal", "pong"}
        assert set(schemas["from_browser"]["discriminator"]["mapping"]) == sent
        told = {"view", "accepted", "problem", "ping", "bye"}
        assert set(schemas["to_browser"]["discriminator"]["mapping"]) == told
        assert {"View", "SeatView", "Info"} <= set(schemas["to_browser"]["$defs"])
        described = await visitor.get("/api/openapi.json")
        assert "/api/matches/{match_id}/view" in described["paths"]


async def test_a_body_without_end_is_refused(server: LiveServer) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(200):
            yield b"x" * 1024

    async with person(server, "Anna") as anna:
        answer = await anna.http.post("/api/session", content=b"x" * 70_000)
        assert (answer.status_code, answer.json()["code"]) == (413, "too-large")
        with contextlib.suppress(httpx2.HTTPError):  # cut off, or refused: never read to its end
            assert (await anna.http.post("/api/session", content=endless())).status_code >= 400
        assert (await anna.get("/api/session"))["player"]["name"] == "Anna"

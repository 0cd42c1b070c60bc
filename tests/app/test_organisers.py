"""Organisers' calls on both databases: who may what, calls made once, no update lost, the log of them."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import json
import logging
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio

from app.settings import Settings
from app.store import Store
from engine.turn import Seat, Seats
from tests.support.organising import API, BY_HAND, Admin, an_owner, entrants, key_for, with_key
from tests.support.server import QUICK, LiveServer, bot, person, running_server
from tests.support.stores import NOON, a_new_match, a_playing_match, finish


@pytest_asyncio.fixture
async def server(store_settings: Settings) -> AsyncIterator[LiveServer]:
    """A server on each kind of database."""
    async with running_server(store_settings.database_url, store_settings.data_dir / "data") as running:
        yield running


@pytest_asyncio.fixture
async def admin(server: LiveServer) -> AsyncIterator[Admin]:
    async with an_owner(server) as owner:
        yield owner


# --------------------------------------------------------------------------------------------------- who may what

# Every call about one event, and who may make it at least.
RIGHTS = """
observer GET    /events/{event}
owner    PATCH  /events/{event}
owner    PATCH  /events/{event}/settings
owner    POST   /events/{event}/open-entry
owner    POST   /events/{event}/start
owner    POST   /events/{event}/finish
owner    POST   /events/{event}/cancel
observer GET    /events/{event}/entrants
owner    POST   /events/{event}/entrants
owner    POST   /events/{event}/entrants/import
owner    POST   /events/{event}/invitations
observer GET    /events/{event}/entrants/{number}
owner    POST   /events/{event}/entrants/{number}/approve
owner    POST   /events/{event}/entrants/{number}/decline
owner    POST   /events/{event}/entrants/{number}/check-in
owner    POST   /events/{event}/entrants/{number}/withdraw
owner    POST   /events/{event}/entrants/{number}/rejoin
owner    POST   /events/{event}/entrants/{number}/ban
owner    POST   /events/{event}/entrants/{number}/substitute
owner    POST   /events/{event}/entrants/{number}/link
owner    PUT    /events/{event}/entrants/{number}/seed
arbiter  POST   /events/{event}/entrants/{number}/penalties
owner    POST   /events/{event}/forbidden-pairs
observer GET    /events/{event}/rounds
owner    POST   /events/{event}/rounds
owner    PUT    /events/{event}/round/pairings
owner    PUT    /events/{event}/stage/seeds
owner    POST   /events/{event}/round/publish
owner    POST   /events/{event}/round/schedule
owner    POST   /events/{event}/round/start
arbiter  POST   /events/{event}/round/pause
arbiter  POST   /events/{event}/round/resume
arbiter  POST   /events/{event}/round/extend
owner    POST   /events/{event}/round/close
owner    POST   /events/{event}/round/undo
observer GET    /events/{event}/matches
observer GET    /events/{event}/matches/{match}
arbiter  POST   /events/{event}/matches/{match}/pause
arbiter  POST   /events/{event}/matches/{match}/resume
arbiter  POST   /events/{event}/matches/{match}/add-time
arbiter  POST   /events/{event}/matches/{match}/void
arbiter  POST   /events/{event}/matches/{match}/result
arbiter  GET    /events/{event}/matches/{match}/estimate
arbiter  POST   /events/{event}/matches/{match}/adjudicate
arbiter  POST   /events/{event}/matches/{match}/replay
arbiter  POST   /events/{event}/meetings/{stage}-{round}-{table}/result
observer GET    /events/{event}/notes
arbiter  POST   /events/{event}/notes
observer GET    /events/{event}/stages/{stage}/standings
observer GET    /events/{event}/stages/{stage}/cross-table
observer GET    /events/{event}/stages/{stage}/bracket
observer GET    /events/{event}/audit
observer GET    /events/{event}/audit.csv
observer GET    /events/{event}/dice
observer GET    /events/{event}/recompute
observer GET    /events/{event}/export
"""
CALLS = [tuple(line.split()) for line in RIGHTS.strip().splitlines()]
ROLES = ("observer", "arbiter", "owner")


async def test_the_table_of_rights_has_every_call(admin: Admin) -> None:
    api = (await admin.http.get("/api/openapi.json")).json()
    there = {
        (method.upper(), path.removeprefix(API))
        for path, operations in api["paths"].items()
        for method in operations
        if path.startswith(f"{API}/events/")
    }
    assert there == {(method, path) for _, method, path in CALLS}


async def test_each_role_may_what_the_table_says_and_nothing_else(server: LiveServer, admin: Admin) -> None:
    refused: dict[str, set[tuple[str, str]]] = {}
    for role in ROLES:
        async with with_key(server, await key_for(admin, role), admin.event) as holder:
            refused[role] = await _refused(holder)
    for role in ROLES:
        higher = {(method, path) for needs, method, path in CALLS if ROLES.index(needs) > ROLES.index(role)}
        assert refused[role] == higher, role


async def test_nobody_else_may_anything(server: LiveServer, admin: Admin) -> None:
    everything = {(method, path) for _, method, path in CALLS}
    async with an_owner(server, "Boris") as stranger:
        stranger.event = admin.event
        assert await _refused(stranger) == everything
        # A key for another event of the same owner is a stranger's, too.
        other = (await admin.post("/events", {"title": {"en": "Other"}}))["id"]
        secret = (await admin.post("/keys", {"label": "x", "role": "owner", "event": other}))["secret"]
    async with with_key(server, secret, admin.event) as holder:
        assert await _refused(holder) == everything
    async with person(server, None) as visitor, person(server, "Gleb") as guest:
        for somebody, code, status in ((visitor, "bad-key", 401), (guest, "no-right", 403)):
            answer = await somebody.http.get(f"{API}/events/{admin.event}")
            assert (answer.status_code, answer.json()["code"]) == (status, code)


async def _refused(holder: Admin) -> set[tuple[str, str]]:
    """The calls that this one has no right to. Bodies are empty, so that nothing of consequence happens."""
    found = set()
    for _, method, path in CALLS:
        if path.endswith(("/open-entry", "/start", "/finish")) and method == "POST":
            headers = {"If-Match": '"999"'}  # for a version that there is not
        else:
            headers = {}
        filled = re.sub(r"\{(number|stage|round|table)\}", "1", path.replace("{event}", holder.event))
        filled = filled.replace("{match}", "cup-S1R1T1M1")
        answer = await holder.http.request(method, API + filled, headers=headers)
        assert answer.status_code < 500, (method, path, answer.text)
        if answer.status_code == 403:
            assert answer.json()["code"] == "no-right", (method, path, answer.text)
            found.add((method, path))
    return found


async def test_who_made_an_event_on_the_site_is_its_owner_there(server: LiveServer) -> None:
    async with person(server, "Vera") as vera:
        made = await vera.post(f"{API}/events", {"title": {"en": "Cup"}})
        await vera.post(f"{API}/events/{made['id']}/open-entry")
        mine = await vera.get(f"{API}/events")
        assert [event["id"] for event in mine["events"]] == [made["id"]]
        foreign = await vera.http.post(
            f"{API}/events/{made['id']}/start", headers={"Origin": "https://elsewhere.example"}
        )
        assert (foreign.status_code, foreign.json()["code"]) == (403, "foreign-origin")


async def test_nobody_is_arbiter_where_he_plays(server: LiveServer, admin: Admin) -> None:
    async with person(server, "Anna") as anna, person(server, "Boris") as boris:
        await admin.post("{e}/open-entry")
        await entrants(admin, anna, boris)
        secret = await key_for(admin, "arbiter", holder="Anna")
        await admin.post("{e}/start")
        await admin.round_begins()
        async with with_key(server, secret, admin.event) as holder:
            match = (await holder.get("{e}/matches"))["matches"][0]["match"]["id"]
            await holder.running_match()
            for path, body in (
                (f"{{e}}/matches/{match}/add-time", {"seat": "A", "seconds": 60, "reason": "slow line"}),
                (f"{{e}}/matches/{match}/result", {"points_for_A": 9, "reason": "I say so"}),
                ("{e}/meetings/1-1-1/result", {"points_for_a": 9, "winner": 1, "reason": "I say so"}),
                ("{e}/entrants/2/penalties", {"points": 9, "reason": "late"}),
            ):
                assert (await holder.refused("POST", path, body))["code"] == "plays-here", path


# ------------------------------------------------------------------------------------------------------------ keys


async def test_a_key_is_shown_once_stored_hashed_and_never_logged(
    server: LiveServer, admin: Admin, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    made = await admin.post("/keys", {"label": "laptop", "role": "arbiter", "event": admin.event})
    secret = made["secret"]
    assert re.fullmatch(r"nk_[A-Za-z0-9_-]{43}", secret)
    async with with_key(server, secret, admin.event) as holder:
        await holder.get("{e}")
        await holder.refused("POST", "{e}/start")
    everything = "".join(
        [
            (await admin.call("GET", path)).text
            for path in ("/keys", "{e}/audit", "{e}/audit.csv", "{e}/export")
        ]
    )
    listed = {key["label"]: key for key in (await admin.get("/keys"))["keys"]}
    assert listed["laptop"]["last_used_at"] is not None
    assert secret not in everything
    ours = [record for record in caplog.records if record.name.startswith(("app", "uvicorn", "sqlalchemy"))]
    assert any("/keys" in record.getMessage() for record in ours)
    assert secret.removeprefix("nk_") not in str([record.__dict__ for record in ours])


async def test_keys_are_revoked_and_run_out(
    server: LiveServer, admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on(days: int) -> str:
        return (datetime.now(UTC) + timedelta(days)).isoformat(timespec="seconds")

    made = await admin.post("/keys", {"label": "a", "role": "owner", "expires_at": on(30)})
    short = await admin.post("/keys", {"label": "b", "role": "owner", "expires_at": on(20)})
    async with with_key(server, made["secret"], admin.event) as holder:
        await holder.get("{e}")
        # What it makes ends with it at the latest.
        late = {"label": "c", "role": "owner", "expires_at": on(31)}
        assert (await holder.refused("POST", "/keys", late))["params"]["key"] == "expires_at"
        revoked = await admin.send("DELETE", f"/keys/{made['key']['id']}")
        assert revoked["revoked_at"] is not None
        assert (await holder.refused("GET", "{e}"))["code"] == "bad-key"
    organisers = server.services.organisers
    async with with_key(server, short["secret"], admin.event) as holder:
        await holder.get("{e}")
        monkeypatch.setattr(organisers, "_now", lambda: short["key"]["expires_at"])
        answer = await holder.call("GET", "{e}")
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")


async def test_a_key_for_one_event_makes_none_and_sees_no_other(server: LiveServer, admin: Admin) -> None:
    await admin.post("/events", {"title": {"en": "Other"}})
    async with with_key(server, await key_for(admin, "owner"), admin.event) as holder:
        assert (await holder.refused("POST", "/events", {"title": {"en": "X"}}))["code"] == "no-right"
        assert [event["id"] for event in (await holder.get("/events"))["events"]] == [admin.event]
        assert (await holder.refused("POST", "/keys", {"label": "x", "role": "owner"}))["code"] == "no-right"
        assert {key["event"] for key in (await holder.get("/keys"))["keys"]} == {admin.event}
    async with with_key(server, await key_for(admin, "arbiter"), admin.event) as holder:
        assert (await holder.refused("GET", "/keys"))["code"] == "no-right"


# ------------------------------------------------------------------------------------------------ calls made once


async def test_the_same_call_many_times_at_once_is_made_once(admin: Admin) -> None:
    body = {"title": {"en": "Once"}, "settings": {"stages": [{"kind": "swiss"}]}}
    answers = await asyncio.gather(
        *(admin.call("POST", "/events", body, Idempotency_Key="one") for _ in range(8))
    )
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1
    assert sum("idempotent-replayed" not in answer.headers for answer in answers) == 1
    again = await admin.refused("POST", "/events", {"title": {"en": "Twice"}}, Idempotency_Key="one")
    assert (again["status"], again["code"]) == (409, "key-used")
    titles = [event["title"]["en"] for event in (await admin.get("/events"))["events"]]
    assert titles.count("Once") == 1
    assert "Twice" not in titles


@pytest.mark.parametrize(
    ("path", "body", "other"),
    [
        ("/keys", {"label": "k", "role": "observer"}, {"label": "k", "role": "owner"}),
        ("{e}/notes", {"text": "seen"}, {"text": "not seen"}),
        ("{e}/entrants", {"player": "Dora"}, {"player": "Eva"}),
        (
            "{e}/forbidden-pairs",
            {"first": 1, "second": 2, "reason": "kin"},
            {"first": 1, "second": 3, "reason": "kin"},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_every_call_that_makes_something_is_made_once(
    server: LiveServer, admin: Admin, path: str, body: dict[str, Any], other: dict[str, Any]
) -> None:
    await admin.post("{e}/open-entry")
    await admin.take_in(b"name\nAnna\nBoris\nCid\n")
    async with person(server, "Dora"), person(server, "Eva"):
        answers = await asyncio.gather(
            *(admin.call("POST", path, body, Idempotency_Key="k") for _ in range(5))
        )
        assert {answer.status_code for answer in answers} == {201}
        assert len({answer.text for answer in answers}) == 1
        entries = len((await admin.get("{e}/audit?limit=500"))["entries"])
        assert (await admin.call("POST", path, body, Idempotency_Key="k")).text == answers[0].text
        assert (await admin.refused("POST", path, other, Idempotency_Key="k"))["code"] == "key-used"
        assert len((await admin.get("{e}/audit?limit=500"))["entries"]) == entries


async def test_what_was_refused_may_be_asked_again_under_its_name(server: LiveServer, admin: Admin) -> None:
    refused = await admin.refused("POST", "{e}/entrants", {"player": "Gleb"}, Idempotency_Key="g")
    assert refused["params"]["because"] == "no-such-player"
    await admin.post("{e}/open-entry")
    async with person(server, "Gleb"):
        made = await admin.post("{e}/entrants", {"player": "Gleb"}, Idempotency_Key="g")
        assert made["entrant"] == 1


# --------------------------------------------------------------------------------------------------- lost updates


async def test_of_two_changes_for_one_version_one_is_refused(admin: Admin) -> None:
    etag = (await admin.call("GET", "{e}")).headers["etag"]
    changes = [{"settings": {"no_show_s": seconds}} for seconds in (60, 90, 120)]
    answers = await asyncio.gather(
        *(admin.call("PATCH", "{e}/settings", change, If_Match=etag) for change in changes)
    )
    assert sorted(answer.status_code for answer in answers) == [200, 412, 412]
    lost = next(answer for answer in answers if answer.status_code == 412).json()
    won = next(answer for answer in answers if answer.status_code == 200)
    assert (lost["code"], f'"{lost["params"]["version"]}"') == ("stale-version", won.headers["etag"])
    settings = (await admin.get("{e}"))["settings"]
    assert settings["no_show_s"] == changes[answers.index(won)]["settings"]["no_show_s"]
    # With the new version it goes on.
    await admin.send("PATCH", "{e}/settings", changes[0], If_Match=won.headers["etag"])
    assert (await admin.refused("PATCH", "{e}/settings", changes[0], If_Match="yes"))["code"] == "bad-version"


async def test_every_call_is_refused_that_was_meant_for_another_version(
    server: LiveServer, admin: Admin
) -> None:
    await admin.post("{e}/open-entry")
    async with person(server, "Anna") as anna, person(server, "Boris") as boris:
        await entrants(admin, anna, boris)
        await admin.post("{e}/start")
        await admin.round_begins()
        match = await admin.running_match()
        log = await admin.get("{e}/audit?limit=500")
        version = (await admin.get("{e}"))["version"]
        orders: dict[str, dict[str, Any]] = {
            **{order: {} for order in ("pause", "resume", "void", "replay")},
            "add-time": {"seat": "A", "seconds": 60},
            "result": {"points_for_A": 5},
            "adjudicate": {"points_for_A": 5, "confirm": ""},
        }
        calls = [
            ("PATCH", "{e}", {"title": {"en": "Other"}}),
            ("POST", "{e}/notes", {"text": "It began late."}),
            ("POST", "{e}/entrants/import", None),
            *(
                ("POST", f"{{e}}/matches/{match}/{order}", {**body, "reason": "x"})
                for order, body in orders.items()
            ),
        ]
        for method, path, body in calls:
            refused = await admin.refused(method, path, body, If_Match=f'"{version - 1}"')
            assert (path, refused["code"], refused["params"]) == (path, "stale-version", {"version": version})
        assert await admin.get("{e}/audit?limit=500") == log
        for method, path, body in (calls[0], calls[1], calls[3]):
            version = (await admin.get("{e}"))["version"]
            await admin.send(method, path, body, If_Match=f'"{version}"')
        assert (await admin.get("{e}"))["view"]["title"] == {"en": "Other", "ru": "Кубок"}


# ------------------------------------------------------------------------------------------------- pages and paces


async def test_pages_hold_everything_once(admin: Admin) -> None:
    await admin.post("{e}/open-entry")
    await admin.take_in(("name\n" + "".join(f"Player {n}\n" for n in range(1, 8))).encode())
    for path, of in (("{e}/entrants", "entrants"), ("{e}/audit", "entries"), ("/events", "events")):
        whole = (await admin.get(f"{path}?limit=500"))[of]
        found, cursor = [], ""
        while cursor is not None:
            page = await admin.get(f"{path}?limit=3{cursor and f'&cursor={cursor}'}")
            assert len(page[of]) <= 3
            found += page[of]
            cursor = page["next"]
        assert found == whole
        assert (await admin.refused("GET", f"{path}?cursor=nonsense"))["code"] == "bad-cursor"
    named = await admin.get("{e}/entrants?name=PLAYER 3&status=entered")
    assert [one["entrant"]["number"] for one in named["entrants"]] == [3]


async def test_every_answer_says_how_many_calls_are_left(server: LiveServer, admin: Admin) -> None:
    answer = await admin.call("GET", "{e}")
    assert answer.headers["ratelimit-policy"] == '"organiser";q=600;w=60'
    left = int(re.search(r"r=(\d+)", answer.headers["ratelimit"])[1])  # type: ignore[index]
    assert 0 < left < 600
    allowance = server.services.organisers_allowance
    allowance._limit = 5
    codes = [(await admin.call("GET", "/keys")).status_code for _ in range(8)]
    assert 429 in codes
    refused = await admin.call("GET", "/keys")
    assert (refused.status_code, refused.json()["code"]) == (429, "too-often")
    assert int(refused.headers["retry-after"]) >= 1
    assert "r=0;" in refused.headers["ratelimit"]


async def test_a_body_is_bounded_and_strict(admin: Admin) -> None:
    answer = await admin.http.post(f"{API}/events/{admin.event}/entrants/import", content=b"x" * 70_000)
    assert (answer.status_code, answer.json()["code"]) == (413, "too-large")
    for body in ({"player": "x", "more": 1}, {"player": 5}, [], "x", {}):
        assert (await admin.refused("POST", "{e}/entrants", body))["code"] == "bad-request"


# --------------------------------------------------------------------------------------------------------- entrants


async def test_whose_place_another_has_taken_is_led_to_what_is_left_to_him(server: LiveServer) -> None:
    async with an_owner(server) as one, an_owner(server, "Olga") as two, person(server, "Anna") as anna:
        for admin in (one, two):
            await admin.post("{e}/open-entry")
        first, _ = (await one.take_in(b"name\nGleb\nDora\n"))["lines"]
        await one.post("{e}/start")
        async with person(server, None) as gleb:
            await gleb.post("/api/session/link", {"link": first["link"]})
            (there,) = (await gleb.get("/api/my/competitions"))["entered"]
            assert there["competition"]["id"] == one.event
            await one.post("{e}/entrants/1/substitute", {"player": "Anna", "reason": "ill"})
            assert (await gleb.get("/api/my/competitions"))["entered"] == []
            assert (await gleb.post("/api/session/link/look", {"link": first["link"]}))["event"] is None
            await two.post("{e}/entrants", {"player": "Gleb"})
            (left,) = (await gleb.get("/api/my/competitions"))["entered"]
            assert (left["competition"]["id"], left["mine"]["entrant"]) == (two.event, 1)
            looked = await gleb.post("/api/session/link/look", {"link": first["link"]})
            assert looked["event"]["id"] == two.event
        (hers,) = (await anna.get("/api/my/competitions"))["entered"]
        assert (hers["competition"]["id"], hers["mine"]["entrant"]) == (one.event, 1)


async def test_a_list_enters_right_lines_and_names_wrong_ones(server: LiveServer, admin: Admin) -> None:
    await admin.post("{e}/open-entry")
    async with person(server, "Анна"):
        text = "имя;посев\nАнна;1\nГлеб;2\n;3\nДора;x\nКомпьютер;\nАнна;\n"
        known = await admin.take_in(text.encode("cp1251"), new=False)
        told = [(one["line"], one["status"], (one["fault"] or {}).get("code")) for one in known["lines"]]
        assert told == [
            (2, "entered", None),
            (3, "wrong", "no-such-player"),
            (4, "wrong", "empty"),
            (5, "wrong", "bad-seed-number"),
            (6, "wrong", "no-such-player"),
            (7, "already", None),
        ]
        assert (known["entered"], known["already"], known["wrong"]) == (1, 1, 4)
        new = await admin.take_in(text.encode("utf-8-sig"))
        assert [(one["line"], one["status"], one["entrant"]) for one in new["lines"]] == [
            (2, "already", 1),
            (3, "entered", 2),
            (4, "wrong", None),
            (5, "wrong", None),
            (6, "wrong", None),
            (7, "already", 1),
        ]
        assert new["lines"][4]["fault"]["code"] == "computer"
    view = await admin.get("{e}")
    assert [(one["entrant"]["name"], one["entrant"]["seed"]) for one in view["entrants"]] == [
        ("Анна", 1),
        ("Глеб", 2),
    ]


async def test_who_was_entered_by_a_list_comes_in_by_his_link(server: LiveServer, admin: Admin) -> None:
    await admin.post("{e}/open-entry")
    (line,) = (await admin.take_in("Глеб\n".encode()))["lines"]
    page, _, secret = line["link"].partition("#")
    assert page == f"{server.url}/enter"
    async with person(server, None) as gleb:
        seen = await gleb.post("/api/session/link/look", {"link": secret})
        # Nothing of what he has played: his board may be one of which organisers are told nothing.
        assert seen["player"] == {"name": "Глеб", "tag": None, "kind": "guest"}
        assert seen["event"]["id"] == admin.event
        assert (seen["is_me"], seen["match"]) == (False, None)
        assert (await gleb.get("/api/session"))["player"] is None, "looking signs nobody in"
        opened = await gleb.post("/api/session/link", {"link": line["link"]})
        assert opened["player"]["name"] == "Глеб"
        assert (await gleb.get("/api/session"))["player"]["name"] == "Глеб"
        assert (await gleb.post("/api/session/link", {"link": secret}))["player"]["name"] == "Глеб"
        assert (await gleb.post("/api/session/link/look", {"link": secret}))["is_me"]
    async with person(server, None) as thief:
        wrong = (
            line["account"],
            f"{line['account']}.",
            secret[:-1],
            line["link"][:-1],
            page,
            "x" * 200,
            "é.é",
        )
        for link in wrong:
            for path in ("/api/session/link", "/api/session/link/look"):
                assert (await thief.refused(path, {"link": link}))["code"] == "bad-key"
    (again,) = (await admin.take_in("Глеб\n".encode()))["lines"]
    assert (again["status"], again["link"]) == ("already", None), (
        "an account that was there is opened to nobody"
    )


async def test_a_new_link_makes_the_old_one_void_and_all_that_it_opened(
    server: LiveServer, admin: Admin
) -> None:
    await admin.post("{e}/open-entry")
    gleb_line, dora_line = (await admin.take_in(b"name\nGleb\nDora\n"))["lines"]
    await admin.post("{e}/start")
    await admin.round_begins()
    match = await admin.running_match()
    seat_link = f"/api/matches/{match}/seat-link"
    async with contextlib.AsyncExitStack() as stack:
        old, device, dora, gleb = [await stack.enter_async_context(person(server, None)) for _ in range(4)]
        await old.post("/api/session/link", {"link": gleb_line["link"]})
        await dora.post("/api/session/link", {"link": dora_line["link"]})
        await device.post("/api/session", {"name": "Somebody"})
        secret = (await old.get(seat_link))["secret"]
        await device.post(f"/api/matches/{match}/seat", {"secret": secret})
        entry = (await old.get("/api/my/competitions"))["entered"][0]["mine"]
        shown = [await stack.enter_async_context(one.display(match)) for one in (old, device, dora)]
        watching = await stack.enter_async_context(old.display(match, watch=True))
        for display in (*shown, watching):
            await display.until(lambda d=display: d.info)
        seats = [display.info["seat"] for display in shown]
        assert seats[0] == seats[1] != seats[2]

        path, why = "{e}/entrants/1/link", {"reason": "he has lost it"}
        made = await admin.post(path, why, Idempotency_Key="new-link")
        assert (made["entrant"], made["account"]) == (1, gleb_line["account"])
        assert made["link"].startswith(f"{server.url}/enter#{made['account']}.")
        assert made["link"] != gleb_line["link"]

        for display in (shown[0], shown[1], watching):
            assert await display.closed() == 1008
            assert (display.frames[-1]["type"], display.frames[-1]["reason"]) == ("bye", "revoked")
        assert not shown[2].ended.is_set()
        for where in ("/api/session/link", "/api/session/link/look"):
            assert (await dora.refused(where, {"link": gleb_line["link"]}))["code"] == "bad-key"
        assert (await old.get("/api/session"))["player"] is None
        assert (await old.refused("/api/matches", {}))["code"] == "no-name"
        assert (await old.http.get(f"{API}/events")).json()["code"] == "bad-key"
        # The way by which a device was let in is shut: by what it has, and by what it knows.
        assert (await device.http.get(seat_link)).json()["code"] == "not-your-seat"
        refused = await device.refused(f"/api/matches/{match}/seat", {"secret": secret})
        assert refused["code"] == "bad-seat-secret"

        await gleb.post("/api/session/link", {"link": made["link"]})
        assert (await gleb.get("/api/session"))["player"]["name"] == "Gleb"
        assert (await gleb.http.get(f"{API}/events")).status_code == 200
        assert (await gleb.get("/api/my/competitions"))["entered"][0]["mine"] == entry
        fresh = (await gleb.get(seat_link))["secret"]
        assert fresh != secret
        assert (await device.post(f"/api/matches/{match}/seat", {"secret": fresh}))["seat"] == seats[0]
        here = await stack.enter_async_context(gleb.display(match))
        await here.until(lambda: here.info and here.info["seat"] == seats[0])
        assert (await gleb.post("/api/session", {"name": "Gleb B"}))["player"]["name"] == "Gleb B"
        assert (await gleb.get("/api/session"))["player"]["name"] == "Gleb B", "he stays who he is"
        assert (await old.post("/api/session", {"name": "Gleb C"}))["player"]["matches"] == 0
        assert (await gleb.get("/api/session"))["player"]["name"] == "Gleb B", "and nobody else is he"

        again = await admin.post(path, why, Idempotency_Key="new-link")
        assert again == made, "the same call again is no other link"
        assert (await gleb.get("/api/session"))["player"] is not None
        third = await admin.post(path, {})
        assert await here.closed() == 1008
        assert (await gleb.get("/api/session"))["player"] is None
        assert (await gleb.refused("/api/session/link", {"link": made["link"]}))["code"] == "bad-key"
        opened = await gleb.post("/api/session/link", {"link": third["link"]})
        assert opened["player"]["name"] == "Gleb B"
        assert (await dora.get("/api/session"))["player"]["name"] == "Dora"
        assert not shown[2].ended.is_set()

    log = await admin.get("{e}/audit?what=link-renewed")
    told = [(entry["actor"]["name"], entry["key"]["label"], entry["changes"]) for entry in log["entries"]]
    change = {"what": "link-renewed", "target": "entrant 1", "before": None, "after": None}
    assert told == [
        ("Vera", "mine", [{**change, "reason": "he has lost it"}]),
        ("Vera", "mine", [{**change, "reason": None}]),
    ]


async def test_what_is_opened_in_the_moment_of_a_new_link_is_void_too(
    server: LiveServer, admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    await admin.post("{e}/open-entry")
    gleb_line, _ = (await admin.take_in(b"name\nGleb\nDora\n"))["lines"]
    await admin.post("{e}/start")
    await admin.round_begins()
    match = await admin.running_match()
    matches = server.services.matches
    async with person(server, None) as gleb, person(server, "Somebody") as device:
        await gleb.post("/api/session/link", {"link": gleb_line["link"]})
        seats_of, looked_up = matches._store.matches.seats_of, asyncio.Event()

        async def noted(*asked: str) -> Any:
            found = await seats_of(*asked)
            looked_up.set()
            return found

        async with matches._using(match) as room, contextlib.AsyncExitStack() as stack:
            async with room.lock:  # the display has been looked up, and is not among those that are sent away
                with monkeypatch.context() as patch:
                    patch.setattr(matches._store.matches, "seats_of", noted)
                    opening = await stack.enter_async_context(gleb.display(match))
                    await asyncio.wait_for(looked_up.wait(), 10)
                made = await admin.post("{e}/entrants/1/link", {})
            assert await opening.closed() == 1008
            assert [frame["type"] for frame in opening.frames] == ["bye"], "it is shown nothing of the match"

        grant_seat = matches._store.matches.grant_seat

        async def between(*asked: Any, **more: Any) -> Any:
            await admin.post("{e}/entrants/1/link", {})
            return await grant_seat(*asked, **more)

        await gleb.post("/api/session/link", {"link": made["link"]})
        secret = (await gleb.get(f"/api/matches/{match}/seat-link"))["secret"]
        with monkeypatch.context() as patch:
            patch.setattr(matches._store.matches, "grant_seat", between)
            refused = await device.refused(f"/api/matches/{match}/seat", {"secret": secret})
        assert refused["code"] == "bad-seat-secret"
        assert (await device.http.get(f"/api/matches/{match}/seat-link")).json()["code"] == "not-your-seat"


async def test_no_seat_stays_lent_that_was_lent_while_the_link_was_renewed(
    server: LiveServer, admin: Admin
) -> None:
    store: Store = server.services.matches._store
    owner = await server.services.competitions.owner(admin.event)
    device = (await store.accounts.create_guest("Phone", NOON)).id
    for _ in range(10):
        anna = (await store.accounts.create_guest("Anna", NOON, owner)).id
        boris = (await store.accounts.create_guest("Boris", NOON)).id
        players = Seats(anna, boris)
        running = await a_playing_match(store, players)
        over = await finish(store, await a_playing_match(store, players), 1)
        await store.matches.grant_seat(over.id, device, Seat.A)
        again = a_new_match(anna, players=Seats(boris, anna), rematch_of=over.id)
        renewed = store.organisers.renew_link(
            anna, owner, admin.event, NOON, target="entrant 1", reason=None, by=owner, via=None
        )
        await asyncio.gather(
            store.matches.grant_seat(running.id, device, Seat.A),
            store.matches.set_rematch(over.id, again),
            renewed,
        )
        assert await store.matches.granted_to(device) == {}


async def test_keys_and_bots_that_were_made_by_a_link_are_void_with_it(
    server: LiveServer, admin: Admin
) -> None:
    await admin.post("{e}/open-entry")
    (line,) = (await admin.take_in(b"name\nGleb\n"))["lines"]
    async with person(server, None) as gleb:
        await gleb.post("/api/session/link", {"link": line["link"]})
        key = await gleb.post(f"{API}/keys", {"label": "his", "role": "owner"})
        made = await gleb.post("/api/bots", {"name": "Zarik"})
        async with with_key(server, key["secret"]) as his, bot(server, made["token"]) as zarik:
            assert (await his.get("/keys"))["keys"][0]["id"] == key["key"]["id"]
            assert (await zarik.get("/api/session"))["player"]["name"] == "Zarik"
            assert not (await gleb.get("/api/session"))["link_void"]
            renewed = await admin.post("{e}/entrants/1/link", {})
            assert (await gleb.get("/api/session")) == {"player": None, "link_void": True}
            assert (await his.refused("GET", "/keys"))["code"] == "bad-key"
            assert (await zarik.http.get("/api/session")).json()["code"] == "bad-token"
            assert [one["revoked_at"] for one in (await admin.get("/keys"))["keys"]] == [None], "his alone"
        await gleb.post("/api/session/link", {"link": renewed["link"]})
        (kept,) = (await gleb.get("/api/bots"))["bots"]
        assert (kept["id"], kept["token_at"]) == (made["bot"]["id"], None)
        again = await gleb.post(f"/api/bots/{kept['id']}/token")
        async with bot(server, again["token"]) as zarik:
            assert (await zarik.get("/api/session"))["player"]["name"] == "Zarik"
        (gone,) = (await gleb.get(f"{API}/keys"))["keys"]
        assert gone["revoked_at"] is not None


async def test_nobody_renews_the_link_of_his_opponent_by_way_of_another_event(server: LiveServer) -> None:
    async with person(server, "Vera") as vera, person(server, None) as gleb:
        key = (await vera.post(f"{API}/keys", {"label": "mine", "role": "owner"}))["secret"]
        async with with_key(server, key) as one, with_key(server, key) as two:
            for admin in (one, two):
                admin.event = (await admin.post("/events", {"title": {"en": "Cup"}, "settings": BY_HAND}))[
                    "id"
                ]
                await admin.post("{e}/open-entry")
            (line,) = (await one.take_in(b"name\nGleb\n"))["lines"]
            await gleb.post("/api/session/link", {"link": line["link"]})
            await two.post("{e}/entrants", {"player": line["account"]})
            await one.post("{e}/entrants/1/link", {})
            await two.post("{e}/entrants", {"player": "Vera"})
            refused = await one.refused("POST", "{e}/entrants/1/link", {})
            assert (refused["code"], refused["params"]) == ("plays-here", {"because": "plays-with"})
            refused = await two.refused("POST", "{e}/entrants/1/link", {})
            assert (refused["code"], refused["params"]) == ("plays-here", {})
            async with person(server, "Anna"):
                for admin in (one, two):  # whoever has made a key has it, in whose name ever it acts
                    secret = await key_for(admin, "owner", holder="Anna")
                    async with with_key(server, secret, admin.event) as her:
                        refused = await her.refused("POST", "{e}/entrants/1/link", {})
                        assert refused["code"] == "plays-here"
            await two.post("{e}/cancel", {"reason": "nobody came"})
            link = (await one.post("{e}/entrants/1/link", {}))["link"]
            await gleb.post("/api/session/link", {"link": link})
            made = await gleb.post("/api/matches", {"ruleset": QUICK})
            await vera.post(f"/api/invites/{made['code']}/join")
            assert (await one.refused("POST", "{e}/entrants/1/link", {}))["code"] == "plays-here"
            assert (await gleb.get("/api/session"))["player"]["name"] == "Gleb"


async def test_nobody_renews_a_link_that_is_not_of_his_own_list(server: LiveServer, admin: Admin) -> None:
    async with an_owner(server, "Olga") as olga, person(server, "Anna") as anna:
        for one in (admin, olga):
            await one.post("{e}/open-entry")
        (line,) = (await olga.take_in(b"name\nGleb\n"))["lines"]
        await admin.post("{e}/entrants", {"player": "Gleb"})
        await entrants(admin, anna)
        bot = await anna.post("/api/bots", {"name": "Zarik"})
        await admin.send("PATCH", "{e}/settings", {"settings": {"entry": {"bots": True}}})
        await admin.post("{e}/entrants", {"player": bot["bot"]["id"]})
        assert [one["has_link"] for one in (await admin.get("{e}"))["entrants"]] == [False] * 3
        assert [one["has_link"] for one in (await olga.get("{e}"))["entrants"]] == [True]
        for number, code in ((1, "no-link"), (2, "no-link"), (3, "no-link"), (4, "entry-refused")):
            assert (await admin.refused("POST", f"{{e}}/entrants/{number}/link", {}))["code"] == code
        stale = await olga.refused("POST", "{e}/entrants/1/link", {}, If_Match='"1"')
        assert stale["code"] == "stale-version"
        await olga.post("{e}/entrants", {"player": "Olga"})  # by it she might see what her opponent sees
        assert (await olga.refused("POST", "{e}/entrants/1/link", {}))["code"] == "plays-here"
        assert (await anna.post("/api/session/link/look", {"link": line["link"]}))["player"]["name"] == "Gleb"
        assert (await admin.get("{e}/audit?what=link-renewed"))["entries"] == []


# ------------------------------------------------------------------------------------------------------------- log


async def test_each_change_leaves_exactly_one_entry(server: LiveServer, admin: Admin) -> None:
    async with person(server, "Anna") as anna, person(server, "Boris") as boris, person(server, "Cid"):

        async def entries() -> list[dict[str, Any]]:
            found = (await admin.get("{e}/audit?limit=500"))["entries"]
            return [entry for entry in found if entry["actor"] is not None]

        async def one(method: str, path: str, body: Any, what: str) -> dict[str, Any]:
            before = await entries()
            await admin.send(method, path, body)
            after = await entries()
            assert after[: len(before)] == before, "what is written stays as it is"
            (new,) = after[len(before) :]
            assert what in [change["what"] for change in new["changes"]], (path, new)
            assert new["actor"]["name"] == "Vera"
            assert new["key"] is None or new["key"]["label"] == "mine"
            return new

        why = {"reason": "as the rules say"}
        told = await one("PATCH", "{e}", {"title": {"en": "Spring cup"}}, "described")
        assert told["changes"][0]["before"] == {"title_en": "Cup"}
        assert told["changes"][0]["after"] == {"title_en": "Spring cup"}
        told = await one("PATCH", "{e}/settings", {"settings": {"no_show_s": 900}}, "settings-changed")
        assert (told["changes"][0]["before"], told["changes"][0]["after"]) == (
            {"no_show_s": 300},
            {"no_show_s": 900},
        )
        await one("POST", "/keys", {"label": "x", "role": "observer", "event": admin.event}, "key-created")
        await one("POST", "{e}/open-entry", None, "entry-opened")
        for name in ("Anna", "Boris", "Cid"):
            await one("POST", "{e}/entrants", {"player": name}, "entrant-registered")
        await one("POST", "{e}/invitations", {"player": "Cid"}, "player-invited")
        await one("PUT", "{e}/entrants/2/seed", {"seed": 1}, "entrant-seeded")
        await one("POST", "{e}/forbidden-pairs", {"first": 1, "second": 3, **why}, "pair-forbidden")
        await one("POST", "{e}/entrants/3/withdraw", {}, "entrant-withdrew")
        await one("POST", "{e}/entrants/3/rejoin", None, "entrant-returned")
        told = await one("POST", "{e}/entrants/3/ban", why, "entrant-banned")
        assert told["changes"][0]["reason"] == why["reason"]
        assert told["changes"][0]["after"] == {"status": "banned"}
        await one("POST", "{e}/start", None, "stage-opened")
        await one("POST", "{e}/entrants/1/penalties", {"points": 3, **why}, "penalty-given")
        await one("PUT", "{e}/stage/seeds", {"seeds": [1, 2], **why}, "stage-seeded")
        await one("POST", "{e}/rounds", None, "round-drafted")
        await one("POST", "{e}/round/undo", why, "round-undone")
        await one("POST", "{e}/rounds", None, "round-drafted")
        await one("PUT", "{e}/round/pairings", {"pairs": [[2, 1]]}, "round-edited")
        await one("POST", "{e}/round/publish", {"start_at": "2100-01-01T00:00Z"}, "round-published")
        await one("POST", "{e}/round/schedule", {"start_at": None}, "round-scheduled")
        await one("POST", "{e}/round/start", None, "round-started")
        await one("POST", "{e}/round/pause", why, "round-paused")
        await one("POST", "{e}/round/resume", None, "round-resumed")
        await one("POST", "{e}/round/extend", {"until": "2100-01-01T00:00Z", **why}, "round-extended")
        match = await admin.running_match()
        await one("POST", "{e}/notes", {"text": "A quarrel", "match": match}, "note-added")
        async with anna.display(match) as a, boris.display(match) as b:
            for display in (a, b):
                await display.until(lambda d=display: d.view)
            await asyncio.gather(a.commit_seed(), b.commit_seed())
            await asyncio.gather(a.reveal_seed(), b.reveal_seed())
            for display in (a, b):
                await display.until_view(lambda v: v["stage"] == "playing", 10)
            at = f"{{e}}/matches/{match}"
            told = await one("POST", f"{at}/add-time", {"seat": "A", "seconds": 30, **why}, "time-added")
            assert told["changes"][0]["after"] == {"seat": "A", "ms": 30_000}
            stands = {"state": "playing", "finished_rounds": 0, "paused_until": None}
            assert (await admin.get(at))["standing"] == stands
            await one("POST", f"{at}/pause", why, "match-paused")
            assert (await admin.get(at))["standing"] == {**stands, "state": "pause-ordered"}
            refused = await admin.refused("POST", f"{at}/pause", why)
            assert (refused["code"], refused["params"]) == ("bad-decision", {"because": "pause-stands"})
            await one("POST", f"{at}/resume", why, "match-resumed")
            refused = await admin.refused("POST", f"{at}/resume", why)
            assert (refused["code"], refused["params"]) == ("bad-decision", {"because": "no-pause"})
            estimate = await admin.get(f"{at}/estimate")
            before = await admin.call("GET", at)
            await a.play_something()
            assert (await admin.call("GET", at)).content == before.content, "of the open phase nothing (§5.4)"
            await b.play_something()
            body = {"points_for_A": 4, "confirm": estimate["confirm"], **why}
            await one("POST", f"{at}/adjudicate", body, "match-ended")
        await one(
            "POST", "{e}/meetings/1-1-1/result", {"points_for_a": 7, "winner": 1, **why}, "meeting-ruled"
        )
        await one("POST", "{e}/round/close", None, "round-closed")
        await one("POST", "{e}/cancel", why, "cancelled")


async def test_the_log_is_exported_whole_and_harmless(admin: Admin) -> None:
    await admin.post("{e}/notes", {"text": '=HYPERLINK("http://evil.example")'})
    rows = (await admin.call("GET", "{e}/audit.csv")).content.decode("utf-8-sig").splitlines()
    assert rows[0] == "id,at,actor,name,key,what,target,before,after,reason"
    assert len(rows) - 1 == len((await admin.get("{e}/audit"))["entries"])
    exported = await admin.get("{e}/export")
    assert exported["audit"] == (await admin.get("{e}/audit?limit=500"))["entries"]
    assert not re.search(r"nk_[A-Za-z0-9_-]{43}", json.dumps(exported))
    assert not any(cell.startswith(tuple("=+-@")) for row in csv.reader(rows) for cell in row)


async def test_an_event_is_computed_again_beside_what_runs(admin: Admin) -> None:
    await admin.post("{e}/open-entry")
    await admin.take_in(b"Anna\nBoris\nCid\n")
    await admin.post("{e}/start")
    await admin.round_begins()
    proofs = await asyncio.gather(*(admin.get("{e}/recompute") for _ in range(3)))
    assert all(proof["differences"] == [] for proof in proofs)
    assert proofs[0]["facts"] >= 8  # entry, three entrants, the stage, the round drafted, published, started


# ----------------------------------------------------------------------------------------------- what nobody is told


async def test_no_call_tells_anything_of_an_open_qualifying_round(server: LiveServer, admin: Admin) -> None:
    """§5.4: while the round is open, every answer is the same to the byte, whatever the entrants do."""
    stages = [{"kind": "qualifying", "matches": 1, "computer": "beginner"}]
    await admin.send("PATCH", "{e}/settings", {"settings": {"stages": stages}})
    await admin.post("{e}/open-entry")
    async with person(server, "Anna") as anna, person(server, "Boris") as boris:
        await entrants(admin, anna, boris)
        await admin.post("{e}/start")
        await admin.round_begins()
        matches = []
        for somebody in (anna, boris):
            mine: dict[str, Any] = {"is_made": False}
            while not mine["is_made"]:
                mine = (await somebody.get(f"/api/competitions/{admin.event}/mine"))["mine"]["next"]
                await asyncio.sleep(0.05)
            matches.append(mine["match"])

        async def everything() -> dict[str, tuple[int, str | None, bytes]]:
            found = {}
            for _, method, path in CALLS:
                filled = re.sub(r"\{(number|stage|round|table)\}", "1", path.replace("{event}", admin.event))
                if method == "GET":
                    for match in matches if "{match}" in filled else [""]:
                        answer = await admin.call("GET", filled.replace("{match}", match))
                        found[f"{filled} {match}"] = (
                            answer.status_code,
                            answer.headers.get("etag"),
                            answer.content,
                        )
            why = {"reason": "to see whether it still runs"}
            for match in matches:
                for order, body in (
                    ("pause", why),
                    ("resume", why),
                    ("void", why),
                    ("replay", why),
                    ("result", {"points_for_A": 1, **why}),
                    ("add-time", {"seat": "A", "seconds": 1, **why}),
                    ("adjudicate", {"points_for_A": 1, "confirm": "x", **why}),
                ):
                    answer = await admin.call("POST", f"{{e}}/matches/{match}/{order}", body)
                    found[f"{match} {order}"] = answer.status_code, None, answer.content
                    assert answer.json()["code"] == "round-is-open", (order, answer.text)
            answer = await admin.call("POST", "{e}/round/close")
            found["close"] = answer.status_code, None, answer.content
            return found

        async with anna.display(matches[0]) as a, boris.display(matches[1]) as b:
            for display in (a, b):
                await display.until(lambda d=display: d.view)
            await asyncio.gather(a.commit_seed(), b.commit_seed())
            await asyncio.gather(a.reveal_seed(), b.reveal_seed())
            for display in (a, b):
                await display.until_view(lambda v: v["stage"] == "playing", 10)
            before = await everything()
            await a.play_something()
            assert await everything() == before
            price = b.view["mine"]["resign"]["points"]
            assert (await b.ask(type="resign", turn="1W", points=price))["type"] == "accepted"
            await b.until_view(lambda v: v["stage"] == "over", 10)
            await asyncio.sleep(2.5)  # the server has looked twice at what is over
            assert await everything() == before
            # Nor is it told by the version that a change has, or that a change is refused for.
            etag = before[f"/events/{admin.event} "][1]
            noted = await admin.call("POST", "{e}/round/pause", {"reason": "tea"}, If_Match=etag)
            assert noted.status_code == 200, noted.text
            assert noted.headers["etag"] == f'"{int(str(etag).strip(chr(34))) + 1}"'

"""What a server writes about itself: who, what, when; and never a secret."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import re
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import httpx2
import pytest

from app import logs
from app.logs import JsonLines, Mask, TextLines, about, apart
from app.settings import Settings
from tests.support.process import a_process, free_port
from tests.support.server import QUICK, LiveServer, first_way, person, play_to_the_end

PASSWORD = "sword-fish-77"
Lines = list[dict[str, Any]]


def a_record(message: str, *arguments: object, wrong: BaseException | None = None) -> logging.LogRecord:
    traceback = (type(wrong), wrong, None) if wrong else None
    return logging.LogRecord("app.test", logging.WARNING, __file__, 1, message, arguments, traceback)


def as_json(record: logging.LogRecord, *secrets: str) -> dict[str, Any]:
    line = JsonLines(Mask(*secrets)).format(record)
    assert "\n" not in line
    told: dict[str, Any] = json.loads(line)
    return told


# ---------------------------------------------------------------------------------------------------------- lines


def test_a_line_is_one_object_with_what_it_is_about() -> None:
    with about(node="n1", match="m1"), about(seat="A", command=None):
        line = as_json(a_record("a display %s", "opened"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line.pop("time"))
    assert line == {
        "level": "warning",
        "logger": "app.test",
        "message": "a display opened",
        "node": "n1",
        "match": "m1",
        "seat": "A",
    }


def test_a_traceback_is_part_of_its_line() -> None:
    line = as_json(a_record("broken", wrong=ValueError("two\nlines")))
    assert "ValueError: two\nlines" in line["exception"]


def test_a_text_line_is_one_line_whatever_is_in_it() -> None:
    with about(request="r1"):
        text = TextLines(Mask()).format(a_record("a\nb \x1b[31m"))
    assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3} warning  app\.test: a\\nb \\x1b\[31m \[request=r1\]", text), (
        text
    )


def test_work_that_goes_on_by_itself_is_not_about_who_started_it() -> None:
    with about(node="n1", request="r1", match="m1", command="c1"):
        context = apart(match="m2")
    told = context.run(as_json, a_record("x"))
    assert {name: told.get(name) for name in ("node", "match", "request", "command")} == {
        "node": "n1",
        "match": "m2",
        "request": None,
        "command": None,
    }


@pytest.mark.parametrize(
    ("told", "hidden"),
    [
        pytest.param(f"cannot reach postgresql://nardy:{PASSWORD}@db/nardy", PASSWORD, id="an address"),
        pytest.param("cannot reach postgresql://nardy:odd@sign@db/nardy", "odd", id="an odd address"),
        pytest.param(f"host=db password={PASSWORD} user=nardy", PASSWORD, id="a list of settings"),
        pytest.param(f"connect(password='{PASSWORD}')", PASSWORD, id="a call"),
        pytest.param('violates "x"\nDETAIL:  Key (code)=(k3v9) already exists.', "k3v9", id="a refused key"),
        pytest.param("Failed('x\\nDETAIL:  Failing row contains (13/8).\\nHINT: y')", "13/8", id="a row"),
        pytest.param(f"no such key: nk_{'k' * 43}", "kkkk", id="an organiser's key"),
        pytest.param(f"/enter#abcdefghijkl.{'m' * 43}", "mmmm", id="an entrant's link"),
        pytest.param("signed with correct horse battery", "correct horse battery", id="the secret key"),
    ],
)
def test_what_others_put_into_their_errors_is_masked(told: str, hidden: str) -> None:
    for record in (a_record(told), a_record("%s", told), a_record("x", wrong=ValueError(told))):
        for lines in (JsonLines, TextLines):
            line = lines(Mask("correct horse battery")).format(record)
            assert hidden not in line
            assert "…" in line


def test_the_settings_own_secrets_are_known_to_the_mask(tmp_path: Path) -> None:
    settings = Settings(database_url="postgresql://nardy:p%40ss@db/n?password=other", data_dir=tmp_path)
    mask = logs.mask_of(settings)
    for secret in ("p%40ss", "p@ss", "other", (tmp_path / "secret.key").read_text().strip()):
        assert secret not in mask(f"here: {secret} is it")


@pytest.mark.parametrize(("setting", "is_json"), [("json", True), ("text", False), ("auto", True)])
def test_lines_are_json_where_nobody_looks_on(setting: str, is_json: bool, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, log_format=setting)
    assert logs.is_json(settings, io.StringIO()) == is_json


def test_lines_are_text_on_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert not logs.is_json(Settings(), Terminal())
    assert logs.is_json(Settings(log_format="json"), Terminal())


# ------------------------------------------------------------------------------------------------------- requests


@pytest.fixture
def log() -> Iterator[Lines]:
    """What this process logs during the test, as it would be written."""
    lines: Lines = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(json.loads(self.format(record)))

    kept, ours = Kept(), logging.getLogger("app")
    kept.setFormatter(JsonLines(Mask()))
    before = ours.level
    ours.addHandler(kept)
    ours.setLevel(logging.DEBUG)
    yield lines
    ours.removeHandler(kept)
    ours.setLevel(before)


async def requests(lines: Lines, number: int = 1) -> Lines:
    """The lines of so many requests; a line is written after the answer has gone out."""
    async with asyncio.timeout(5):
        while len(found := [line for line in lines if "status" in line]) < number:
            await asyncio.sleep(0.01)
    return found


async def test_each_request_has_one_line_and_an_id(server: LiveServer, log: Lines) -> None:
    async with httpx2.AsyncClient(base_url=server.url) as http:
        answer = await http.get("/api/lobby?who=me")
    [line] = await requests(log)
    assert line["request"] == answer.headers["x-request-id"]
    assert re.fullmatch("[0-9a-f]{16}", line["request"])
    assert (line["level"], line["message"]) == ("info", "GET /api/lobby 200")
    assert (line["method"], line["path"], line["status"]) == ("GET", "/api/lobby", 200)
    assert line["bytes"] == len(answer.content)
    assert 0 < line["ms"] < 5_000
    assert line["node"] == server.app.state.node


@pytest.mark.parametrize(
    ("given", "is_kept"),
    [
        ("7f3c-22_a.b", True),
        ("a" * 64, True),
        ("a" * 65, False),
        ("short", False),
        ('quo"tes and spaces', False),
        ("", False),
    ],
)
async def test_an_id_that_is_sane_is_kept(server: LiveServer, log: Lines, given: str, is_kept: bool) -> None:
    async with httpx2.AsyncClient(base_url=server.url) as http:
        answer = await http.get("/api/session", headers={"X-Request-Id": given})
    assert (answer.headers["x-request-id"] == given) == is_kept
    assert (await requests(log))[0]["request"] == answer.headers["x-request-id"]


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/join/k3v9k3v9", "/join/…"),
        ("/join/k3v9k3v9?x=1", "/join/…"),
        ("/api/invites/k3v9k3v9", "/api/invites/…"),
        ("/api/invites/k3v9k3v9/qr.svg", "/api/invites/…/qr.svg"),
        ("/match/abcdefghijkl", "/match/abcdefghijkl"),
        ("/match/abcdefghijkl%23seat=k3v9", "/match/abcdefghijkl"),
        ("/match/k3v9k3v9", "/match/…"),
        ("/jion/k3v9k3v9", "/…"),
        ("/k3v9k3v9", "/…"),
        ("/join/k3v9k3v9/more", "/…"),
        ("/static/css/nardy.css?k3v9", "/static/css/nardy.css"),
    ],
)
async def test_a_path_tells_no_secret(server: LiveServer, log: Lines, path: str, told: str) -> None:
    async with httpx2.AsyncClient(base_url=server.url) as http:
        await http.get(path)
    assert [line["path"] for line in await requests(log)] == [told]
    assert "k3v9" not in json.dumps(log)


async def test_health_is_not_worth_a_line(server: LiveServer, log: Lines) -> None:
    async with httpx2.AsyncClient(base_url=server.url) as http:
        await http.get("/healthz")
        await http.head("/readyz")
    assert {line["level"] for line in await requests(log, 2)} == {"debug"}


async def test_a_bug_is_logged_and_answered_under_the_same_id(
    server: LiveServer, log: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise ZeroDivisionError("on our side")

    monkeypatch.setattr(server.services.lobby, "info", broken, raising=True)
    async with httpx2.AsyncClient(base_url=server.url) as http:
        answer = await http.get("/api/matches/abcdefghijkl", headers={"X-Request-Id": "my-own-id"})
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (500, "internal-error")
    assert problem["params"] == {"request": "my-own-id"}
    assert answer.headers["x-request-id"] == "my-own-id"
    assert "default-src" in answer.headers["content-security-policy"]
    assert "our side" not in answer.text.replace("Something broke on our side", "")
    [bug] = [line for line in log if line["level"] == "error"]
    assert (bug["request"], bug["match"]) == ("my-own-id", "abcdefghijkl")
    assert "ZeroDivisionError: on our side" in bug["exception"]
    assert (await requests(log))[-1]["status"] == 500


# -------------------------------------------------------------------------------------------------- a whole match

# Plays and rolls as they are written anywhere in this program; times and ids do not look like them.
A_PLAY = re.compile(
    r"\b(?:bar|\d{1,2})/(?:off|\d{1,2})\b|\[\s*\d{1,2}\s*,|\b(?:die|dice|moves|hops?|roll)\b[\"'\\]*\s*[=:]|\b[1-6]-[1-6]\b"
)


def leaks(log: str, secrets: dict[str, str]) -> list[str]:
    """Which of the secrets are in a log; `a play` for anything that looks like one."""
    found = [name for name, secret in secrets.items() if secret in log]
    without_times = re.sub(r'"time": "[^"]*"', "", log)
    return found + (["a play"] if A_PLAY.search(without_times) else [])


async def break_the_journal(url: str) -> None:
    """From now on the database refuses every play; PostgreSQL tells the row that it refuses."""
    if url.startswith("sqlite"):
        await on_sqlite(url, "ALTER TABLE journal RENAME TO lost")
    else:
        await on_postgres(url, "ALTER TABLE journal ADD CONSTRAINT none CHECK (false) NOT VALID")


REFUSE_INVITES = "ALTER TABLE matches ADD CONSTRAINT none CHECK (code IS NULL) NOT VALID"


async def mend_the_journal(url: str) -> None:
    if url.startswith("sqlite"):
        await on_sqlite(url, "ALTER TABLE lost RENAME TO journal")
    else:
        await on_postgres(url, "ALTER TABLE journal DROP CONSTRAINT none")
        await on_postgres(url, "ALTER TABLE matches DROP CONSTRAINT none")


async def on_sqlite(url: str, sql: str) -> None:
    database = sqlite3.connect(url.removeprefix("sqlite:///"), timeout=10, isolation_level=None)
    database.execute("PRAGMA legacy_alter_table = ON")
    database.execute(sql)
    database.close()


async def on_postgres(url: str, sql: str) -> None:
    database = await asyncpg.connect(url)
    await database.execute(sql)
    await database.close()


def with_password(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return url
    user = parts.username or "postgres"
    return urlunsplit(parts._replace(netloc=f"{user}:{PASSWORD}@{parts.netloc.rpartition('@')[2]}"))


async def test_a_whole_match_leaves_no_secret_in_the_log(store_settings: Settings, tmp_path: Path) -> None:
    """At the most talkative level, with invites, another device, spectators, refusals, bugs and a broken database."""
    url = store_settings.database_url
    settings = Settings(
        database_url=with_password(url), data_dir=tmp_path, secret_key="not to be found in any log"
    )
    port, file = free_port(), tmp_path / "log"
    server = LiveServer(f"http://127.0.0.1:{port}", None, settings)
    secrets = {"the key": settings.secret_key, "the database's password": PASSWORD}
    async with a_process(settings, port, file, LOG_LEVEL="debug", LOG_FORMAT="json") as process:
        async with person(server, "Anna") as anna, person(server, "Boris") as boris:
            made = await anna.post("/api/matches", {"ruleset": QUICK})
            secrets["the invite"] = code = made["code"]
            match_id = made["id"]
            for path in (
                f"/join/{code}",
                f"/api/invites/{code}",
                f"/api/invites/{code}/qr.svg",
                f"/jion/{code}",
            ):
                await boris.http.get(path)
            async with anna.display(match_id) as a:
                await boris.post(f"/api/invites/{code}/join")
                async with boris.display(match_id) as b, person(server, None) as visitor:
                    await asyncio.gather(a.until(lambda: a.view), b.until(lambda: b.view))
                    await asyncio.gather(a.commit_seed(), b.commit_seed())
                    await asyncio.gather(a.reveal_seed(), b.reveal_seed())
                    for display in (a, b):
                        await display.until_view(lambda v: v["stage"] == "playing")
                    secrets |= {"Anna's seed": a._seed, "Boris's seed": b._seed}

                    seat = (await anna.get(f"/api/matches/{match_id}/seat-link"))["secret"]
                    secrets["the seat"] = seat
                    async with person(server, "Anna's phone") as phone:
                        await phone.http.get(f"/match/{match_id}%23seat={seat}")
                        await phone.http.get(f"/match/{match_id}?seat={seat}")
                        await phone.refused(f"/api/matches/{match_id}/seat", {"secret": seat + "x"})
                        await phone.refused(f"/api/matches/{match_id}/seat", {"secret": [seat], "more": seat})
                        await phone.post(f"/api/matches/{match_id}/seat", {"secret": seat})
                        secrets["the phone's cookie"] = str(phone.http.cookies["nardy"])
                        async with phone.display(match_id) as second, visitor.display(match_id) as watching:
                            await second.until(lambda: second.view and second.view["seat"] == "A")
                            await watching.until(lambda: watching.view)
                            await second.send(
                                type="draft", turn="1W", moves=first_way(a.view["mine"]["steps"])[:1]
                            )
                            await second.ask(type="play", turn="1W", moves=[[24, 1]])
                            await second.ask(type="play", turn="9K", moves=[[13, 8]])
                            await second.ask(type="seed-reveal", seed=a._seed)
                            await second.send(type="play", seed=a._seed, secret=seat, moves=[[13, 8]])
                            await watching.ask(type="resign", turn="1W", points=1)
                            await second.connection.send(b"\x00 binary")
                            await break_the_journal(url)
                            await second.send(
                                type="play", id="broken", turn="1W", moves=first_way(a.view["mine"]["steps"])
                            )
                            await asyncio.wait_for(second.connection.wait_closed(), 10)
                            if not url.startswith("sqlite"):
                                await on_postgres(url, REFUSE_INVITES)
                            broken = await anna.http.post("/api/matches", json={"ruleset": QUICK})
                            assert broken.status_code == (201 if url.startswith("sqlite") else 500)
                            if url.startswith("sqlite"):
                                broken = await anna.http.get(f"/api/matches/{match_id}/history")
                            await mend_the_journal(url)
                    await play_to_the_end(a, b)
                    secrets["the server's seed"] = a.view["dice"]["seed"]
            secrets |= {
                "Anna's cookie": anna.http.cookies["nardy"],
                "Boris's cookie": boris.http.cookies["nardy"],
            }
        process.terminate()
        await process.wait()

    log = file.read_text()
    assert leaks(log, secrets) == []
    for name, secret in secrets.items():
        assert secret
        assert leaks(f"{log} {secret}", secrets) == [name], "the net has no hole"
    for play in ("bar/off", "13/8", '{"roll": [6, 5]}', "6-5", "hops=()"):
        assert leaks(f"{log} {play}", secrets) == ["a play"]

    lines = [json.loads(line) for line in log.splitlines()]
    opened = [line for line in lines if line["message"] == "a display opened"]
    closed = [line for line in lines if line["message"].startswith("a display closed")]
    assert sorted(line["seat"] for line in opened) == ["A", "A", "B", "spectator"]
    assert {line["match"] for line in opened} == {match_id}
    assert all(line["request"] and line["node"] for line in opened)
    assert sorted(line["seat"] for line in closed) == ["A", "A", "B", "spectator"]
    assert all(line["frames_in"] and line["frames_out"] and line["s"] >= 0 for line in closed)
    assert {line["reason"] for line in closed} >= {"1000", "error"}
    plays = [line for line in lines if line["message"] == "play, accepted"]
    assert len(plays) > 20
    assert all(line["command"] and line["match"] == match_id and line["seat"] in "AB" for line in plays)
    assert [line for line in lines if line["level"] == "error" and line.get("command") == "broken"]
    if not url.startswith("sqlite"):
        assert broken.status_code == 500
        [bug] = [
            line
            for line in lines
            if line.get("request") == broken.headers["x-request-id"] and "exception" in line
        ]
        assert "CheckViolationError" in bug["exception"]
        assert "DETAIL:  …" in bug["exception"]


async def test_a_server_that_cannot_start_tells_no_password(tmp_path: Path) -> None:
    for url in (
        f"postgresql://nobody:{PASSWORD}@127.0.0.1:1/none",
        f"postgresql://no/body:{PASSWORD}@x:y/none",
    ):
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app.cli", "serve", "--port", "0", "--data", str(tmp_path)),
            *("--database", url),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        out, _ = await process.communicate()
        assert process.returncode == 1
        assert out.startswith(b"nardy: ")
        assert PASSWORD.encode() not in out

"""How often is too often: new names from one address. Bodies that are too large, however they are sent."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from app.service.errors import TooOften
from app.service.pace import Pace, household
from app.web.pages import MAX_BODY
from tests.support.server import LiveServer, person, running_server


def test_so_many_at_once_and_then_as_time_passes() -> None:
    time = [100.0]
    pace = Pace(3, 60.0, lambda: time[0])
    for _ in range(3):
        pace.take("a")
    with pytest.raises(TooOften) as refused:
        pace.take("a")
    assert refused.value.params == {"retry_s": 20}
    pace.take("b")
    time[0] += 19.9
    with pytest.raises(TooOften):
        pace.take("a")
    time[0] += 0.2
    pace.take("a")
    with pytest.raises(TooOften):
        pace.take("a")
    time[0] += 1_000
    for _ in range(3):
        pace.take("a")


def test_what_is_refused_does_not_count() -> None:
    time = [0.0]
    pace = Pace(1, 10.0, lambda: time[0])
    pace.take("a")
    for _ in range(50):
        with pytest.raises(TooOften):
            pace.take("a")
    time[0] = 10.0
    pace.take("a")


def test_no_limit_is_none() -> None:
    pace = Pace(0, 60.0, lambda: 0.0)
    for _ in range(1_000):
        pace.take("a")


def test_not_everybody_is_remembered_for_ever() -> None:
    pace = Pace(1, 60.0, lambda: 0.0)
    for number in range(30_000):
        pace.take(str(number))
    assert len(pace._used) == 10_000


@pytest.mark.parametrize(
    ("address", "whose"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
    ],
)
def test_an_address_stands_for_whoever_has_it(address: str, whose: str) -> None:
    assert household(address) == whose


# ------------------------------------------------------------------------------------------------------------ newcomers


async def says_a_name(server: LiveServer, address: str | None = None) -> httpx2.Response:
    """Somebody new, through a proxy on this machine if there is an address."""
    headers = {"X-Forwarded-For": address} if address else {}
    async with httpx2.AsyncClient(base_url=server.url, headers=headers) as http:
        return await http.post("/api/session", json={"name": "Anna"})


async def test_one_address_says_so_many_new_names(sqlite_url: str, tmp_path: Path) -> None:
    async with running_server(sqlite_url, tmp_path, newcomers_an_hour=3) as server:
        async with person(server, "Vera") as vera:
            for name in ("Vera L", "Vera M", "Vera N"):
                await vera.post("/api/session", {"name": name})  # that is not new
            await vera.post("/api/bots", {"name": "Zarik"})
            assert (await says_a_name(server)).status_code == 200
            refused = await says_a_name(server)
            assert refused.status_code == 429
            assert refused.headers["content-type"] == "application/problem+json"
            assert refused.json()["code"] == "too-often"
            assert 1_195 <= int(refused.headers["retry-after"]) <= 1_200
            assert refused.json()["params"] == {"retry_s": int(refused.headers["retry-after"])}
            assert "set-cookie" not in refused.headers
            assert (await vera.refused("/api/bots", {"name": "Kubik"}))["code"] == "too-often"
            await vera.post("/api/session", {"name": "Vera"})


async def test_behind_a_proxy_the_address_is_what_the_proxy_says(sqlite_url: str, tmp_path: Path) -> None:
    async with running_server(sqlite_url, tmp_path, newcomers_an_hour=1) as server:
        for address in ("203.0.113.7", "203.0.113.8", "2001:db8::1", "2001:db8:0:1::1"):
            assert (await says_a_name(server, address)).status_code == 200
        for address in ("203.0.113.7", "2001:db8::2", "1.2.3.4, 203.0.113.8"):
            assert (await says_a_name(server, address)).status_code == 429, (
                "the last one is whom the proxy saw"
            )


async def test_nobody_else_may_say_where_he_is(sqlite_url: str, tmp_path: Path) -> None:
    async with running_server(
        sqlite_url, tmp_path, newcomers_an_hour=1, forwarded_allow_ips="192.0.2.1"
    ) as server:
        codes = [(await says_a_name(server, f"203.0.113.{n}")).status_code for n in range(3)]
        assert codes == [200, 429, 429]


# ------------------------------------------------------------------------------------------------------- large bodies


async def raw(server: LiveServer, *parts: bytes) -> tuple[int, Any]:
    """Status and body of what these bytes are answered with."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        async with asyncio.timeout(10):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = int(head.lower().partition("content-length: ")[2].split()[0])
            return int(head.split()[1]), json.loads(await reader.readexactly(length))
    finally:
        writer.close()


def chunked(path: str, body: bytes, size: int) -> list[bytes]:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    parts = [body[i : i + size] for i in range(0, len(body), size)]
    return [head.encode(), *(f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in parts), b"0\r\n\r\n"]


def a_name_of(length: int) -> bytes:
    return json.dumps({"name": "x" * (length - len('{"name": ""}'))}).encode()


@pytest.mark.parametrize("size", [1_000, 70_000], ids=["small chunks", "large chunks"])
@pytest.mark.parametrize("path", ["/api/session", "/api/matches"])
async def test_a_body_that_does_not_say_its_length_is_too_large_all_the_same(
    server: LiveServer, path: str, size: int
) -> None:
    status, problem = await raw(server, *chunked(path, a_name_of(MAX_BODY + 1), size))
    assert (status, problem["code"], problem["status"]) == (413, "too-large", 413)
    assert problem["params"] == {"limit": MAX_BODY}


async def test_one_of_just_the_largest_size_is_read(server: LiveServer) -> None:
    status, problem = await raw(server, *chunked("/api/session", a_name_of(MAX_BODY), 5_000))
    assert (status, problem["code"]) == (400, "bad-request"), "a name has at most 200 characters"
    status, answer = await raw(server, *chunked("/api/session", b'{"name": "Anna"}', 3))
    assert (status, answer["player"]["name"]) == (200, "Anna")


async def test_a_body_that_says_its_length_is_refused_before_it_is_read(server: LiveServer) -> None:
    async with person(server, None) as somebody:
        answer = await somebody.http.post("/api/session", content=a_name_of(MAX_BODY + 1))
        assert (answer.status_code, answer.json()["code"]) == (413, "too-large")

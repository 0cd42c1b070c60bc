"""A server that is asked to stop: what it has accepted is stored and answered, and it ends by itself and soon."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
import random
import signal
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.settings import Settings
from app.store import open_store
from tests.support.forks import forks
from tests.support.nodes import until
from tests.support.process import a_process, free_port
from tests.support.server import LiveServer, person, seated
from tests.support.stubborn import Stubborn, check_history, message_of, pairs

STOPS = 5


async def test_plays_in_flight_at_a_stop_are_answered_or_not_done(store_settings: Settings) -> None:
    """Every display hears `bye restart` and is closed with 1001, and the server ends with 0, each time."""
    chance, stops, everyone = random.Random(19), 0, list[Stubborn]()
    port = free_port()
    async with forks(store_settings, port) as server:
        await server.start()
        here = LiveServer(server.url, None, store_settings)
        while stops < STOPS:
            async with pairs(here, 4) as players, asyncio.timeout(60):
                everyone += players
                playing = [asyncio.create_task(player.play_on()) for player in players]
                while stops < STOPS and not any(player.is_over for player in players):
                    await asyncio.sleep(chance.uniform(0.1, 0.4))
                    await until(lambda: all(p.is_connected or p.is_over for p in players))
                    for player in players:
                        player.goodbyes.clear()
                    began = time.monotonic()
                    assert await server.kill(signal.SIGTERM) == 0
                    assert time.monotonic() - began < 3
                    await until(lambda: all(p.goodbyes or p.is_over for p in players))
                    for player in players:
                        if not player.is_over:
                            last, code = player.goodbyes[0]
                            assert (last["type"], last.get("reason"), code) == ("bye", "restart", 1001)
                    store = await open_store(store_settings)
                    for player in players:
                        rows = await store.matches.events(player.match_id, 0)
                        stored = {message_of(row.command_id) for row in rows}
                        assert player.acknowledged <= stored
                        assert not player.unanswered & stored, "done and not answered"
                    await store.close()
                    stops += 1
                    await server.start()
                for player in players:
                    player.has_had_enough = True
                await asyncio.gather(*playing)
    store = await open_store(store_settings)
    assert await check_history(store, everyone) > 50
    await store.close()


# -------------------------------------------------------------------------------------------- who does not listen


@contextlib.asynccontextmanager
async def raw(port: int, *pieces: bytes, patience_s: float = 2.0) -> AsyncIterator[socket.socket]:
    """A connection that sends these pieces for so long as they are taken, and reads nothing."""
    loop = asyncio.get_running_loop()
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setblocking(False)
        await loop.sock_connect(connection, ("127.0.0.1", port))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience_s):
                for piece in pieces:
                    await loop.sock_sendall(connection, piece)
        yield connection


def handshake(match_id: str) -> bytes:
    key = base64.b64encode(os.urandom(16)).decode()
    return (
        f"GET /ws/matches/{match_id} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
    ).encode()


PING = b"\x89\xfd\0\0\0\0" + bytes(125)  # masked; each is answered with as much
GET = b"GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"


async def answer_on(connection: socket.socket) -> tuple[int, Any]:
    """The next answer on a connection that is kept: status and body."""
    connection.setblocking(False)
    loop = asyncio.get_running_loop()
    text = b""
    async with asyncio.timeout(5):
        while b"\r\n\r\n" not in text or not text.endswith(b"}"):
            piece = await loop.sock_recv(connection, 65_536)
            assert piece, text
            text += piece
    head, _, body = text.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def written(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


async def test_nobody_holds_up_a_stop(store_settings: Settings, tmp_path: Path) -> None:
    """Neither sockets that do not read, nor idle connections, nor requests that never end."""
    port, log = free_port(), tmp_path / "log"
    server = LiveServer(f"http://127.0.0.1:{port}", None, store_settings)
    async with a_process(store_settings, port, log, LOG_LEVEL="info", LOG_FORMAT="json") as process:
        async with contextlib.AsyncExitStack() as stack:
            enter = stack.enter_async_context
            match_id, anna, _, a, b = await enter(seated(server))
            async with asyncio.timeout(20):
                await enter(raw(port))
                await enter(raw(port, GET[:20]))
                await enter(
                    raw(port, b"POST /api/session HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{")
                )
                await enter(raw(port, *[GET] * 2_000))
                await enter(raw(port, handshake(match_id)))
                await enter(raw(port, handshake(match_id), *[PING * 100] * 300))
                await until(lambda: log.read_text().count('"a display opened"') == 4, patience_s=20)
            idle = await enter(raw(port, b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"))
            assert await answer_on(idle) == (200, {"ok": True})
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            await a.until(lambda: a.frames[-1]["type"] == "bye")
            await asyncio.get_running_loop().sock_sendall(idle, b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
            status, problem = await answer_on(idle)
            assert (status, problem["code"], problem["params"]) == (503, "not-ready", {"missing": "restart"})
            async with person(server, None) as visitor, visitor.display(match_id) as late:
                await late.connection.wait_closed()
                assert (late.frames[-1]["type"], late.frames[-1]["reason"]) == ("bye", "restart")
                assert late.connection.close_code == 1001
            async with asyncio.timeout(12):
                assert await process.wait() == 0
            assert time.monotonic() - began < 8
    said = written(log)
    told = [line["message"] for line in said if line["logger"] in ("app.cli", "app.serving")]
    serving, stopping, deaf, stopped = told
    assert (serving, stopping, stopped) == ("serving", "stopping", "stopped")
    # On a busy machine the one that never answers a ping may have been given up before.
    assert deaf in ("1 displays have not said goodbye", "2 displays have not said goodbye")
    assert not [line for line in said if line["level"] in ("warning", "error")]


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        (signal.SIGTERM, signal.SIGTERM, 143),
        (signal.SIGTERM, signal.SIGINT, 130),
        (signal.SIGINT, signal.SIGINT, 130),
    ],
    ids=["TERM TERM", "TERM INT", "INT INT"],
)
async def test_a_second_signal_ends_it_at_once(
    tmp_path: Path, sqlite_url: str, first: signal.Signals, second: signal.Signals, status: int
) -> None:
    settings = Settings(database_url=sqlite_url, data_dir=tmp_path, secret_key="a key for tests only")
    port, log = free_port(), tmp_path / "log"
    server = LiveServer(f"http://127.0.0.1:{port}", None, settings)
    async with a_process(settings, port, log, LOG_FORMAT="json") as process:
        async with seated(server) as (match_id, _, _, a, _b), raw(port, handshake(match_id)):
            process.send_signal(first)
            await a.until(lambda: a.frames[-1]["type"] == "bye")
            process.send_signal(second)
            async with asyncio.timeout(1):
                assert await process.wait() == status
    assert log.read_text() == ""


async def test_one_interrupt_is_an_ordinary_stop(tmp_path: Path, sqlite_url: str) -> None:
    settings = Settings(database_url=sqlite_url, data_dir=tmp_path, secret_key="a key for tests only")
    log = tmp_path / "log"
    async with a_process(settings, free_port(), log, LOG_FORMAT="json") as process:
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(5):
            assert await process.wait() == 0
    assert log.read_text() == ""

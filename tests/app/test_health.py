"""Alive and ready: what proxies and supervisors are told."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from app.settings import Settings
from app.store.store import Store
from tests.support.server import LiveServer, running_server

PLACES = ["/healthz", "/readyz"]


async def asked(server: LiveServer, path: str, method: str = "GET") -> httpx2.Response:
    async with httpx2.AsyncClient(base_url=server.url) as http:
        return await http.request(method, path)


@pytest.mark.parametrize("path", PLACES)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_running_server_is_alive_and_ready(
    store_settings: Settings, tmp_path: Path, method: str, path: str
) -> None:
    async with running_server(store_settings.database_url, tmp_path / "data") as server:
        answer = await asked(server, path, method)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-length"] == str(len('{"ok":true}'))
    assert answer.text == ("" if method == "HEAD" else '{"ok":true}')


def missing(answer: httpx2.Response) -> Any:
    """What a server that is not ready says it lacks."""
    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["cache-control"] == "no-store"
    problem = json.loads(answer.text)
    assert problem["code"] == "not-ready"
    assert problem["params"].keys() == {"missing"}
    return problem["params"]["missing"]


async def test_a_database_that_fails_is_missing_until_it_is_back(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_: Store) -> bool:
        raise OSError("the password is swordfish")

    with monkeypatch.context() as broken:
        broken.setattr(Store, "schema_is_current", fails)
        answer = await asked(server, "/readyz")
        assert missing(answer) == "database"
        assert "swordfish" not in answer.text
        assert (await asked(server, "/readyz", "HEAD")).status_code == 503
        assert (await asked(server, "/healthz")).status_code == 200
    await asyncio.sleep(1.1)
    assert (await asked(server, "/readyz")).status_code == 200


async def test_a_database_that_hangs_is_missing_soon_and_asked_once(
    server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    async def hangs(_: Store) -> bool:
        nonlocal calls
        calls += 1
        await asyncio.sleep(60)
        return True

    monkeypatch.setattr(Store, "schema_is_current", hangs)
    began = time.monotonic()
    answers = await asyncio.gather(*(asked(server, "/readyz") for _ in range(10)))
    assert {missing(answer) for answer in answers} == {"database"}
    assert time.monotonic() - began < 4
    assert calls == 1


async def test_another_schema_is_missing(server: LiveServer) -> None:
    file = server.settings.sqlite_file
    assert file is not None
    with sqlite3.connect(file) as database:
        database.execute("UPDATE alembic_version SET version_num = 'newer'")
    database.close()
    assert missing(await asked(server, "/readyz")) == "schema"
    assert (await asked(server, "/healthz")).status_code == 200


async def test_a_node_that_has_not_taken_up_its_matches_is_not_ready(server: LiveServer) -> None:
    server.services.matches._serving = False
    assert missing(await asked(server, "/readyz")) == "matches"


async def test_a_node_that_is_about_to_stop_is_not_ready(server: LiveServer) -> None:
    assert (await asked(server, "/readyz")).status_code == 200
    server.services.health.stop()
    assert missing(await asked(server, "/readyz")) == "restart"
    assert (await asked(server, "/healthz")).status_code == 200


async def test_both_are_described(server: LiveServer) -> None:
    paths = (await asked(server, "/api/openapi.json")).json()["paths"]
    for path in PLACES:
        assert paths[path].keys() == {"get", "head"}
    ids = [call["operationId"] for path in paths.values() for call in path.values()]
    assert len(ids) == len(set(ids))
    assert "/api/healthz" not in paths

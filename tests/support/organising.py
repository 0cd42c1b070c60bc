"""An organiser who has a key, and talks to a server by nothing but HTTP."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2

from tests.support.server import QUICK, LiveServer, Person, person

API = "/api/admin/v1"
# Rounds by hand, matches without waiting, places that hang on no analysis.
BY_HAND = {
    "ruleset": QUICK,
    "stages": [{"kind": "swiss", "rounds": 3}],
    "tie_breaks": ["match_points", "point_difference", "less_time", "lot"],
}


@dataclass
class Admin:
    """Whoever has this key."""

    http: httpx2.AsyncClient
    event: str = ""

    async def call(self, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        """A call below the API's root; `{e}` is the event."""
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        path = API + path.replace("{e}", f"/events/{self.event}")
        return await self.http.request(method, path, json=body, headers=names)

    async def get(self, path: str) -> Any:
        answer = await self.call("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return await self.send("POST", path, body, **headers)

    async def send(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        answer = await self.call(method, path, body, **headers)
        assert answer.status_code in (200, 201), (method, path, answer.status_code, answer.text)
        return answer.json()

    async def refused(self, method: str, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
        """The problem that it is answered with."""
        answer = await self.call(method, path, body, **headers)
        assert answer.headers["content-type"] == "application/problem+json", (path, answer.text)
        problem: dict[str, Any] = answer.json()
        assert problem["status"] == answer.status_code >= 400
        return problem

    async def take_in(self, data: bytes, *, new: bool = True) -> Any:
        """A list of entrants."""
        path = f"{API}/events/{self.event}/entrants/import?new={str(new).lower()}"
        answer = await self.http.post(path, content=data, headers={"Content-Type": "text/csv"})
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def round_begins(self) -> None:
        """The next round, by hand."""
        await self.post("{e}/rounds")
        await self.post("{e}/round/publish")
        await self.post("{e}/round/start")

    async def running_match(self) -> str:
        """A match that is played now, once it has been made."""
        async with asyncio.timeout(10):
            while True:
                found = (await self.get("{e}/matches?state=playing"))["matches"]
                for line in found:
                    match = str(line["match"]["id"])
                    anybody = {"Authorization": ""}  # the key is for the organisers' calls alone
                    if (await self.http.get(f"/api/matches/{match}", headers=anybody)).status_code == 200:
                        return match
                await asyncio.sleep(0.05)


@contextlib.asynccontextmanager
async def with_key(server: LiveServer, secret: str, event: str = "") -> AsyncIterator[Admin]:
    """Whoever has this key."""
    headers = {"Authorization": f"Bearer {secret}"}
    async with httpx2.AsyncClient(base_url=server.url, headers=headers, timeout=30) as http:
        yield Admin(http, event)


@contextlib.asynccontextmanager
async def an_owner(server: LiveServer, name: str = "Vera", **event: Any) -> AsyncIterator[Admin]:
    """An owner with a key and an event that he has made with it."""
    async with person(server, name) as owner:
        made = await owner.post(f"{API}/keys", {"label": "mine", "role": "owner"})
        async with with_key(server, made["secret"]) as admin:
            body = {"title": {"en": "Cup", "ru": "Кубок"}, "settings": BY_HAND, **event}
            admin.event = (await admin.post("/events", body))["id"]
            yield admin


async def key_for(admin: Admin, role: str, **more: Any) -> str:
    """A key for the owner's event in this role."""
    body = {"label": f"for {role}", "role": role, "event": admin.event, **more}
    made = await admin.post("/keys", body)
    return str(made["secret"])


async def entrants(admin: Admin, *people: Person) -> list[int]:
    """Enters these: their numbers."""
    numbers = []
    for somebody in people:
        player = (await somebody.get("/api/session"))["player"]
        written = f"{player['name']}#{player['tag']}" if player["tag"] else player["name"]
        numbers.append((await admin.post("{e}/entrants", {"player": written}))["entrant"])
    return numbers

"""The socket's own rules: who may open one, how much may come over it, and what ends it."""

from __future__ import annotations

import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from app.web.messages import MAX_MESSAGE
from app.web.socket import FLOOD_MESSAGES
from tests.support.server import Display, LiveServer, first_way, seated


async def test_a_page_of_another_site_opens_no_display(server: LiveServer) -> None:
    """Its visitor's cookie would come along, and the seat with it."""
    async with seated(server) as (match_id, anna, _, _a, _b):
        address = f"{server.url.replace('http', 'ws', 1)}/ws/matches/{match_id}"
        cookie = "; ".join(f"{name}={value}" for name, value in anna.http.cookies.items())
        displays = server.services.matches._rooms[match_id].displays
        for foreign in ("https://evil.example", "null", f"{server.url}.evil.example", "http://127.0.0.1"):
            with pytest.raises(InvalidStatus) as refused:
                await connect(address, origin=foreign, additional_headers={"Cookie": cookie})
            assert refused.value.response.status_code == 403, foreign
            assert len(displays) == 2
        async with connect(address, origin=server.url, additional_headers={"Cookie": cookie}) as own:
            assert json.loads(await own.recv())["view"]["seat"] == "A"


NOTHING = {"type": "pong", "ping": 999_999}  # an answer to no ping


async def _flood(display: Display, messages: int) -> None:
    for _ in range(messages):
        await display.send(**NOTHING)


async def test_a_flood_ends_the_display_and_nothing_less(server: LiveServer) -> None:
    async with seated(server) as (match_id, anna, _, a, b), anna.display(match_id) as second:
        await second.until(lambda: second.view)
        await _flood(second, FLOOD_MESSAGES - 1)
        answer = await second.ask(type="play", turn="9W", moves=[])
        assert answer["problem"]["code"] == "stale-turn", "the last that may come is still answered"
        await _flood(second, 1)
        assert await second.closed() == 1008
        await second.until(lambda: second.frames[-1]["type"] == "bye")
        assert second.frames[-1]["reason"] == "flood"
        await a.play_something()
        await b.until_view(lambda v: v["seats"]["A"]["state"] == "played")
        assert b.view["seats"]["A"]["connected"], "his other tab is still there"


async def test_a_message_that_is_too_long_is_refused_and_the_display_lives(server: LiveServer) -> None:
    async with seated(server) as (_, _, _, a, _b):
        text = json.dumps(
            {"type": "play", "id": "x", "turn": "1W", "moves": first_way(a.view["mine"]["steps"])}
        )
        for length in (MAX_MESSAGE + 1, 60_000):
            frames = len(a.frames)
            await a.connection.send(text.ljust(length))
            await a.until(lambda frames=frames: len(a.frames) > frames)
            problem = a.frames[-1]["problem"]
            assert (problem["code"], problem["params"]["limit"]) == ("bad-message", MAX_MESSAGE)
        await a.connection.send(text.ljust(MAX_MESSAGE))
        await a.until(lambda: any(frame["type"] == "accepted" and frame["id"] == "x" for frame in a.frames))


async def test_a_message_that_is_far_too_long_is_not_even_read(server: LiveServer) -> None:
    async with seated(server) as (_, _, _, a, b):
        await a.connection.send("x" * 65_537)
        assert await a.closed() == 1009
        await b.until_view(lambda v: not v["seats"]["A"]["connected"])
        await b.play_something()


async def test_a_binary_message_is_refused_and_the_display_lives(server: LiveServer) -> None:
    async with seated(server) as (_, _, _, a, _b):
        text = json.dumps(
            {"type": "play", "id": "x", "turn": "1W", "moves": first_way(a.view["mine"]["steps"])}
        )
        for binary in (b"\x00\xff", text.encode()):
            frames = len(a.frames)
            await a.connection.send(binary)
            await a.until(lambda frames=frames: len(a.frames) > frames)
            assert a.frames[-1]["problem"]["code"] == "bad-message"
        assert not a.view["mine"]["played"]
        await a.play_something()


async def test_only_a_turns_own_round_trips_are_allowed_for_in_it(server: LiveServer) -> None:
    """§7.1: an answer kept back from an earlier turn, or measured in it, gains nothing in this one."""
    async with seated(server) as (match_id, _, _, a, b):
        a.answers_pings = False
        await a.send(type="draft", turn="1W", moves=first_way(a.view["mine"]["steps"])[:1])
        await a.until_view(lambda v: v["mine"]["draft"])
        kept_back = a.frames[-1]["ping"]
        room = server.services.matches._rooms[match_id]
        assert set(room.round_trips) == set("AB")
        await a.play_something()
        await b.play_something()
        await a.until_view(lambda v: v["turn"] == "1K")
        assert "A" not in room.round_trips, "measured in the turn before"
        ping = a.frames[-1]["ping"]
        await a.send(type="pong", ping=kept_back)
        await a.ask(type="play", turn="1W", moves=[])  # whatever comes after it is read after it
        assert "A" not in room.round_trips, "asked in the turn before"
        await a.send(type="pong", ping=ping)
        await a.ask(type="play", turn="1W", moves=[])
        assert room.round_trips["A"] >= 0

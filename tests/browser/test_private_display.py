"""What the other displays hold of a play while it is secret: nothing, in no frame, no document and no heap (§5)."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from difflib import unified_diff
from typing import Any

from playwright.async_api import Page, expect

from tests.browser.hand import Hand
from tests.browser.screens import PHONE, STILL, Screens, Wire, until
from tests.support.server import LiveServer, first_way, seated

# The document but for what is public in an open phase: clocks, and each player's state in words and shape.
_DOCUMENT = """() => {
  const copy = document.documentElement.cloneNode(true);
  for (const part of copy.querySelectorAll('.clock, .state, .tile > p, #prompt')) part.remove();
  return copy.outerHTML;
}"""


async def document(page: Page) -> list[str]:
    """The document, a line for each tag."""
    return str(await page.evaluate(_DOCUMENT)).replace("<", "\n<").splitlines()


async def at_rest(page: Page) -> None:
    """The page has come to rest: its dice too."""
    before: list[str] = []
    while (after := await document(page)) != before:
        before = after
        await asyncio.sleep(0.4)


async def strings_in_heap(page: Page) -> list[str]:
    """Every string that the page's JavaScript holds."""
    devtools = await page.context.new_cdp_session(page)
    parts: list[str] = []
    devtools.on("HeapProfiler.addHeapSnapshotChunk", lambda event: parts.append(event["chunk"]))
    await devtools.send("HeapProfiler.collectGarbage")
    await devtools.send("HeapProfiler.takeHeapSnapshot", {"reportProgress": False})
    await devtools.detach()
    strings: list[str] = json.loads("".join(parts))["strings"]
    return strings


async def globals_of(page: Page) -> str:
    """Storage and everything reachable by name from the window, as text."""
    return str(
        await page.evaluate(
            "() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href,"
            " document.title, Object.entries(window).filter(([, v]) => !['object', 'function'].includes(typeof v))])"
        )
    )


def without_public_state(view: Any) -> Any:
    """A view but for who thinks or has played, and the clocks."""
    return {key: value for key, value in view.items() if key != "seats"}


Watcher = tuple[Page, Wire]


async def quiet(watchers: list[Watcher], act: Callable[[], Awaitable[None]]) -> None:
    """Nothing of the documents and views of these displays changes when this is done, but what is public."""
    before = [(await document(page), without_public_state(wire.view)) for page, wire in watchers]
    await act()
    await asyncio.sleep(0.3)  # more than the page waits before it sends a draft
    for (page, wire), (lines, view) in zip(watchers, before, strict=True):
        assert list(unified_diff(lines, await document(page), n=0)) == []
        assert without_public_state(wire.view) == view


async def test_nothing_of_a_secret_play_is_in_other_displays(live: LiveServer, screens: Screens) -> None:
    async with seated(live) as (match, anna, boris, _a, _b):
        a_page = await screens.page(somebody=anna, **STILL)
        b_page = await screens.page(somebody=boris, **PHONE, **STILL)
        x_page = await screens.page(**STILL)
        a_wire, b_wire, x_wire = Wire(a_page), Wire(b_page), Wire(x_page)
        for page in (a_page, b_page, x_page):
            await page.goto(f"/match/{match}")
            await page.wait_for_selector(".stage .board")
        for page in (a_page, b_page, x_page):
            await page.wait_for_selector(".record .open")
            await at_rest(page)
        watchers = [(b_page, b_wire), (x_page, x_wire)]
        hand = Hand(a_page)

        moves = first_way(a_wire.view["mine"]["steps"])

        async def draft() -> None:
            await hand.write(" ".join("/".join(map(str, move)) for move in moves).replace("25/", "bar/"))
            await until(lambda: a_wire.messages("draft"))

        async def play() -> None:
            await hand.press("done")
            await expect(a_page.locator("#prompt")).to_have_text("Ваш ход сделан. Ждём соперника.")
            await expect(b_page.locator(".band.them .state")).to_contain_text("ход сделан")

        await quiet(watchers, draft)
        drafted = [len(wire.received) for _, wire in watchers]
        await quiet(watchers, play)
        await expect(b_page.locator("#prompt")).to_contain_text("Соперник сыграл.")
        assert [len(wire.received) for _, wire in watchers] > drafted  # who has played is public

        [sent] = a_wire.messages("play")
        text = a_wire.view["mine"]["played"]["play"]
        secrets = {sent["id"], text, json.dumps(moves, separators=(",", ":"))}
        in_a = await strings_in_heap(a_page)
        assert any(text in string for string in in_a), "what is looked for can be found where it may be"
        for page, wire in watchers:
            assert wire.view["theirs"] is None
            everything = [
                *wire.received,
                await page.content(),
                await globals_of(page),
                *await strings_in_heap(page),
            ]
            for secret in secrets:
                assert not any(secret in string for string in everything), secret

        for path in ("", "/view", "/history"):
            for somebody in (b_page, x_page):
                answer = await somebody.request.get(f"/api/matches/{match}{path}")
                assert answer.ok
                assert text not in await answer.text()
        lobby = await x_page.request.get("/api/lobby")
        assert text not in await lobby.text()


async def test_a_second_tab_that_watches_tells_its_player_nothing(live: LiveServer, screens: Screens) -> None:
    async with seated(live) as (match, _anna, boris, a, _b):
        page = await screens.page(somebody=boris, **STILL)
        watching = await page.context.new_page()
        wire = Wire(watching)
        await watching.goto(f"/match/{match}?watch=1")
        await watching.wait_for_selector(".watching .board")
        await at_rest(watching)

        async def play() -> None:
            await a.play_something()

        await quiet([(watching, wire)], play)
        assert wire.view["seat"] is None
        assert wire.view["mine"] is None


async def test_a_spectator_sees_both_boards_as_of_the_last_finished_phase(
    live: LiveServer, screens: Screens
) -> None:
    async with seated(live) as (match, _anna, _boris, a, b):
        page = await screens.page(**STILL)
        await page.goto(f"/match/{match}")
        await expect(page.locator(".watching .board")).to_have_count(2)
        await expect(page.locator(".record .open td")).to_have_text(
            ["1 б", "-".join(map(str, a.view["roll"])), "скрыто", "скрыто"]
        )
        await expect(page.locator(".stage .hit")).to_have_count(0)
        drawn = "() => [...document.querySelectorAll('.stage .checkers')].map(g => g.innerHTML)"
        before = await page.evaluate(drawn)
        await a.play_something()
        await expect(page.locator(".doing .state").first).to_contain_text("ход сделан")
        assert await page.evaluate(drawn) == before
        await b.play_something()
        await expect(page.locator(".record tbody tr")).to_have_count(2)
        after = await page.evaluate(drawn)
        assert after[0] != before[0]
        assert after[1] != before[1]
        plays = a.view["record"][0][2:4]
        await expect(page.locator(".record tbody tr").first.locator("td").nth(2)).to_have_text(ru(plays[0]))
        await expect(page.locator(".record tbody tr").first.locator("td").nth(3)).to_have_text(ru(plays[1]))


def ru(play: str) -> str:
    """A play in Russian notation."""
    return re.sub(r"\boff\b", "сн", re.sub(r"\bbar\b", "бар", play)).replace("--", "—")

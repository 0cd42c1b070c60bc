"""The whole way: a match is played against the computer to its end, judged by the server, read on its pages."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, Route, expect

from engine.turn import Seat
from tests.browser.player import Player
from tests.browser.screens import STILL, Screens
from tests.support.server import QUICK, LiveServer, Person, person, running_server

LEVEL = "club"  # the quickest judge: what is read here is that the pages tell what it says
PATIENCE_MS = 120_000


@pytest_asyncio.fixture(loop_scope="session")
async def judging(tmp_path: Path) -> AsyncIterator[LiveServer]:
    """A server that analyses matches."""
    database = f"sqlite:///{tmp_path / 'nardy.sqlite3'}"
    async with running_server(database, tmp_path / "data", analysis_level=LEVEL) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def own_screens(browser: Browser, judging: LiveServer) -> AsyncIterator[Screens]:
    """Screens at that server."""
    screens = Screens(browser, judging.url)
    yield screens
    await screens.close()
    assert screens.errors == []


@pytest.mark.parametrize("level", ["новичок", "любитель", "эксперт", "мастер"])
async def test_a_match_is_played_and_its_objective_result_is_read(
    judging: LiveServer, own_screens: Screens, level: str
) -> None:
    page = await own_screens.page(**STILL)
    match = await play(page, judging, level)

    await expect(page.locator(".objective-words")).to_be_visible(timeout=PATIENCE_MS)

    async with person(judging, None) as guest:
        found = (await guest.get(f"/api/matches/{match}/analysis"))["analysis"]
        await the_card_tells(page, found)
        await the_replay_reviews(page, found)
        await others_are_shown_the_card(guest, match, found)


async def play(page: Page, server: LiveServer, level: str) -> str:
    """Against a computer of this level, from the home page to the end; the match's id. Its dice roll in no time."""

    async def quick(route: Route) -> None:
        wish = route.request.post_data_json
        await route.continue_(post_data={**wish, "ruleset": {**wish["ruleset"], **QUICK}})

    await page.route("**/api/matches", quick)
    await page.goto("/")
    await page.get_by_label("Ваше имя").fill("Вера")
    await page.locator(".choice label", has_text="компьютер").click()
    await page.locator(".choice label", has_text=level).click()
    await page.get_by_role("button", name="Начать матч").click()
    await page.wait_for_selector(".stage .hit.source", timeout=20_000)
    match = page.url.rsplit("/", 1)[1]
    async with person(server, None) as same:
        for cookie in await page.context.cookies():
            same.http.cookies.set(cookie["name"], cookie["value"])  # type: ignore[typeddict-item]
        async with same.display(match) as tab:
            player = Player(server, match, Seat.A, page, touch=False, tab=tab)
            await page.reload()
            await tab.until(lambda: tab.view)
            await player.wire.until(lambda v: v["stage"] != "seeding", 15)
            await player.play_to_the_end()
    await expect(page.locator(".result h1")).to_be_visible()
    return match


async def the_card_tells(page: Page, found: dict[str, Any]) -> None:
    """The two sentences and the figures are those of the analysis, from Vera's side: she sits in seat A."""
    luck, rest = found["luck_for_A"], found["objective_for_A"]
    first = (
        "не помогли"
        if abs(luck) < 0.05
        else f"дали {'вам' if luck > 0 else 'сопернику'} +{figure(luck)} очка"
    )
    second = (
        "матч равный"
        if abs(rest) < 0.05
        else f"на {figure(rest)} очка в {'вашу пользу' if rest > 0 else 'пользу соперника'}"
    )
    words = page.locator(".objective-words")
    await expect(words).to_contain_text(first)
    await expect(words).to_contain_text(second)
    me = found["players"]["A"]
    cells = page.locator(".judged tbody tr td:nth-child(2)")
    await expect(cells.nth(1)).to_have_text(str(me["decisions"]))
    await expect(cells.nth(2)).to_have_text(str(me["grades"]["mistake"]))
    await expect(cells.nth(3)).to_have_text(str(me["grades"]["blunder"]))


def figure(points: float) -> str:
    return f"{abs(points):.1f}".replace(".", ",")


async def the_replay_reviews(page: Page, found: dict[str, Any]) -> None:
    """From the card to the replay, from mistake to mistake."""
    await page.locator(".objective-foot a").click()
    await page.wait_for_selector(".chart .curves")
    await page.keyboard.press("Home")
    wrong = [
        turn["turn"]
        for turn in found["turns"]
        if any(turn[seat]["grade"] in ("mistake", "blunder") for seat in "AB")
    ]
    press = page.get_by_role("button", name="Следующая ошибка")
    seen = []
    while await press.get_attribute("aria-disabled") != "true":
        await press.click()
        seen.append(page.url.partition("#")[2])
    assert seen == wrong
    assert len(seen) > 0, "the built-in computer errs in every match"


async def others_are_shown_the_card(guest: Person, match: str, found: dict[str, Any]) -> None:
    """A messenger finds the picture by the page, and the objective result is on it."""
    html = (await guest.http.get(f"/match/{match}")).text
    image = re.search(r'<meta property="og:image" content="([^"]+)">', html)
    assert image
    picture = await guest.http.get(image[1])
    assert picture.headers["content-type"] == "image/png"
    card = (await guest.http.get(f"/api/matches/{match}/card.svg?lang=ru")).text
    assert "Объективный итог" in card
    assert (
        "поровну" if abs(found["objective_for_A"]) < 0.05 else f"{figure(found['objective_for_A'])} очка"
    ) in card

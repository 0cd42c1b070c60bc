"""Files of a finished match on its pages: every button gives what it says, beside it what gnubg's users must know."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Page, expect

from engine.records import mat, objective
from engine.records.ids import read_xgid
from engine.records.text import read_bytes
from engine.variant import SHORT
from tests.browser.screens import DESKTOP, EN, PHONE, RU, STILL, Screens
from tests.support.server import LiveServer, play_to_the_end, seated


async def downloaded(page: Page, words: str) -> tuple[str, bytes]:
    """What a press on this button saves, and under which name."""
    async with page.expect_download() as waited:
        await page.get_by_role("link", name=words, exact=True).click()
    saved = await waited.value
    path = await saved.path()
    return saved.suggested_filename, await asyncio.to_thread(path.read_bytes)


@pytest.mark.parametrize(
    ("screen", "language", "words"),
    [
        pytest.param(
            {**DESKTOP, **EN}, "en", ("Full", "Short", "Fixed columns", "Russian"), id="desktop, English"
        ),
        pytest.param(
            {**PHONE, **RU}, "ru", ("Полная", "Краткая", "Столбцами", "Международный"), id="phone, Russian"
        ),
    ],
)
async def test_a_finished_match_is_saved_in_every_form_from_result_and_replay(
    screens: Screens, live: LiveServer, screen: dict[str, object], language: str, words: tuple[str, ...]
) -> None:
    async with seated(live, opponent="anyone") as (match, anna, _, a, b):
        await play_to_the_end(a, b)
        page = await screens.page(somebody=anna, **{**screen, **STILL})
        for path in (f"/match/{match}", f"/replay/{match}"):
            await page.goto(path)
            card = page.locator(".downloads")
            await expect(card).to_be_visible()
            for form, name in zip(("full", "short", "fixed"), words, strict=False):
                file, data = await downloaded(page, name)
                assert file == f"nardy-{match}-{form}-{language}.txt"
                text = read_bytes(data)
                assert (objective.form_of(text), objective.language_of(text)) == (form, language)
                assert objective.read(text).record.result is not None
            other = {"en": "ru", "ru": "en"}[language]
            await card.get_by_text(words[3], exact=True).click()
            file, data = await downloaded(page, words[0])
            assert file == f"nardy-{match}-full-{other}.txt"
            assert objective.language_of(read_bytes(data)) == other
            file, data = await downloaded(
                page, ".mat, both games" if language == "en" else ".mat, обе партии"
            )
            assert file == f"nardy-{match}.mat"
            assert len(mat.read(read_bytes(data)).record.games) == 2
            await expect(card.locator(".advice")).to_contain_text("set jacoby off")
            await expect(card.locator(".advice li")).to_have_count(3)
            width = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert width <= 0, "nothing scrolls sideways"


async def test_the_replay_tells_other_programs_which_positions_it_shows(
    screens: Screens, live: LiveServer
) -> None:
    async with seated(live, opponent="anyone") as (match, anna, _, a, b):
        await play_to_the_end(a, b)
        page = await screens.page(somebody=anna, **EN, **STILL)
        history = await anna.get(f"/api/matches/{match}/history")
        await page.goto(f"/replay/{match}")
        field = page.get_by_label("XGID, game Y", exact=True)
        assert read_xgid(await field.input_value()).position == SHORT.opening()
        gnubg = page.get_by_label("GNU Backgammon, game X", exact=True)
        await page.keyboard.press("ArrowRight")
        await expect(field).to_have_value(history["ids"][1]["Y"]["xgid"])
        await expect(gnubg).to_have_value(history["ids"][1]["X"]["gnubg"])
        await page.keyboard.press("End")
        await expect(field).to_have_value(history["ids"][-1]["Y"]["xgid"])
        await page.get_by_role("button", name="Copy: XGID, game Y").click()
        await expect(page.locator(".position-ids [role=status]")).to_have_text("Copied")


async def test_a_running_match_offers_no_files(screens: Screens, live: LiveServer) -> None:
    async with seated(live, opponent="anyone") as (match, anna, _, a, b):
        await a.play_something()
        await b.play_something()
        page = await screens.page(somebody=anna, **EN, **STILL)
        await page.goto(f"/replay/{match}")
        await expect(page.locator(".position-ids")).to_be_visible()
        await expect(page.locator(".downloads")).to_have_count(0)

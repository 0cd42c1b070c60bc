"""The players change seats after each phase, and who has played may look at the other board."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Stage
from tests.browser.hand import Hand
from tests.browser.screens import EN, PHONE, RU, STILL, Screens, Wire, until
from tests.browser.staged import Staged
from tests.builders import A, B, a_phase, rules
from tests.support.server import LiveServer, seated

START = "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2"
UNLIKE = "6:6 8:3 13:5 24:1 | 6:5 8:3 13:5 24:2"  # the other board, to be told from the first

SEATS = [
    pytest.param(A, "3W", "X", "white", "Y", "black", id="A: White on X, then Black on Y"),
    pytest.param(B, "3W", "Y", "white", "X", "black", id="B: White on Y, then Black on X"),
    pytest.param(A, "3K", "Y", "black", "X", "white", id="A: Black on Y, then White on X"),
    pytest.param(B, "3K", "X", "black", "Y", "white", id="B: Black on X, then White on Y"),
]
SAYS = {
    ("ru", "white"): ("Вы — белые", "Доски поменялись: теперь вы белые."),
    ("ru", "black"): ("Вы — чёрные", "Доски поменялись: теперь вы чёрные."),
    ("en", "white"): ("You are White", "Boards swapped: you are White now."),
    ("en", "black"): ("You are Black", "Boards swapped: you are Black now."),
}


async def seat_is(page: Page, game: str, color: str, language: str) -> None:
    """The page shows this player at this board, of this colour, at the bottom."""
    band = page.locator(".band.me")
    await expect(band).to_have_class(f"band me {color}")
    await expect(band.locator(".seat")).to_have_text(SAYS[language, color][0])
    await expect(band.locator(".aside").first).to_have_text(
        f"{'доска' if language == 'ru' else 'board'} {game}"
    )
    other = "black" if color == "white" else "white"
    await expect(page.locator(".band.them")).to_have_class(f"band them {other}")
    tiles = page.locator(".strip .tile")
    assert await tiles.evaluate_all("tiles => tiles.map(t => t.dataset.game)") == ["X", "Y"], (
        "X is always first"
    )
    await expect(page.locator(f'.tile[data-game="{game}"] .you')).to_have_count(1)
    await expect(page.locator(".tile .you:not(.look)")).to_have_count(1)
    boxes = [
        await page.locator(f".stage {part}").bounding_box() for part in (".band.them", ".board", ".band.me")
    ]
    tops = [box["y"] for box in boxes if box]
    assert tops == sorted(tops), "my band is below the board, the opponent's above"


@pytest.mark.parametrize("language", ["ru", "en"])
@pytest.mark.parametrize(("seat", "turn", "game", "color", "next_game", "next_color"), SEATS)
async def test_my_side_is_at_the_bottom_before_and_after_the_swap(
    deal: Stage, seat: Any, turn: str, game: str, color: str, next_game: str, next_color: str, language: str
) -> None:
    table = a_phase(turn, "6-2", x=START, y=UNLIKE)
    staged = await deal(table, seat, **STILL, **(EN if language == "en" else RU))
    page = staged.page
    await seat_is(page, game, color, language)
    await staged.hand.sees(p13=5)
    await staged.hand.write("13/5")
    await staged.other_plays("13/7 13/11")
    await staged.hand.press("done")
    await expect(page.locator("#prompt")).to_contain_text(SAYS[language, next_color][1])
    await seat_is(page, next_game, next_color, language)
    await staged.hand.sees(p13=5, p6=5 if next_color == "black" or next_game == "X" else 6)
    await expect(page.locator(".announce:not(.pause)")).to_contain_text(
        SAYS[language, next_color][1].rstrip(".")
    )


@pytest.mark.parametrize("screen", [pytest.param({}, id="desktop"), pytest.param(PHONE, id="phone")])
async def test_the_swap_is_seen_as_motion_and_ends_on_the_other_board(
    stage: Stage, screen: dict[str, Any]
) -> None:
    staged = await stage(a_phase("3W", "6-2", x=START, y=START), **screen)
    page = staged.page
    await staged.hand.write("13/5") if not screen else await staged.hand.touch_drag(13, 5)
    await staged.other_plays("13/7 13/11")
    await staged.hand.press("done")
    await expect(page.locator(".swap-layer .leaves")).to_have_count(1)
    await expect(page.locator(".swap-layer .comes")).to_have_count(1)
    await expect(page.locator(".swap-layer")).to_have_count(0, timeout=2_000)
    await seat_is(page, "Y", "black", "ru")
    await expect(page.locator(".stage .hit.source").first).to_be_attached()
    await expect(page.locator(".announce.over:not(.pause)")).to_have_count(0, timeout=3_000)


async def test_text_means_the_same_from_every_seat(deal: Stage) -> None:
    for seat, turn in ((A, "3W"), (A, "3K"), (B, "3W"), (B, "3K")):
        staged = await deal(a_phase(turn, "6-2", x=START, y=START), seat, **STILL)
        await staged.hand.write("13/7 24/22")
        await staged.hand.sees(p13=4, p7=1, p24=1, p22=1)
        await staged.hand.press("done")
        await until(staged.plays)
        assert sorted(staged.plays()[-1]["moves"]) == [[13, 7], [24, 22]]


# ---------------------------------------------------------------------------------------------- the other's board


async def played(staged: Staged) -> None:
    """My play is made."""
    await staged.hand.write("13/5")
    await staged.hand.press("done")
    await expect(staged.page.locator('.actions [data-act="look"]')).to_be_visible()


def look(page: Page) -> Any:
    return page.locator('.actions [data-act="look"]')


async def test_the_switch_to_the_opponents_board_comes_when_it_is_allowed(deal: Stage) -> None:
    staged = await deal(a_phase("3W", "6-2", x=START, y=UNLIKE), **STILL)
    page = staged.page
    strip = page.locator('.tile[data-game="Y"] .button')
    await expect(look(page)).to_have_count(0)
    await expect(strip).to_have_attribute("aria-disabled", "true")
    await strip.click(force=True)
    await expect(page.locator("#prompt")).to_have_text("Доску соперника можно смотреть после своего хода.")
    await expect(page.locator(".banner")).to_be_hidden()
    await played(staged)
    await expect(look(page)).to_have_text("Смотреть доску соперника")
    await expect(look(page)).to_have_attribute("aria-disabled", "false")
    await expect(strip).to_have_attribute("aria-disabled", "false")


@pytest.mark.parametrize("by", ["button", "strip"])
async def test_looking_shows_the_opponents_board_from_my_side_and_cannot_be_taken_for_playing(
    deal: Stage, by: str
) -> None:
    staged = await deal(a_phase("3W", "6-2", x=START, y=UNLIKE), **STILL)
    page = staged.page
    await played(staged)
    await (
        staged.hand.press("look") if by == "button" else page.locator('.tile[data-game="Y"] .button').click()
    )
    await expect(page.locator(".banner")).to_be_visible()
    await expect(page.locator(".banner")).to_contain_text("Доска соперника")
    await expect(page.locator(".band.me .seat")).to_have_text("Здесь вы чёрные")
    await expect(page.locator(".band.me")).to_have_class("band me black")
    await staged.hand.sees(p13=5, p6=5)
    await expect(page.locator(".stage .hit")).to_have_count(0)
    await expect(look(page)).to_have_text("Вернуться к своей доске")
    await staged.hand.press("look")
    await expect(page.locator(".banner")).to_be_hidden()
    await expect(page.locator(".band.me .seat")).to_have_text("Вы — белые")
    await staged.hand.sees(p13=4, p5=1)


async def test_an_opponents_draft_is_shown_and_taken_back_as_he_does(
    live: LiveServer, screens: Screens
) -> None:
    async with seated(live) as (match, anna, boris, a, b):
        a_page, b_page = (
            await screens.page(somebody=anna, **STILL),
            await screens.page(somebody=boris, **STILL),
        )
        b_wire = Wire(b_page)
        for page in (a_page, b_page):
            await page.goto(f"/match/{match}")
            await page.wait_for_selector(".stage .hit.source")
        await a.play_something()
        await Hand(a_page).press("look")
        await expect(a_page.locator(".banner")).to_be_visible()
        draft = a_page.locator(".stage .draft .to")
        await expect(draft).to_have_count(0)
        source = b_wire.view["mine"]["steps"][0][0][0]
        await Hand(b_page).click(source)
        await expect(draft).to_have_count(1)
        await expect(a_page.locator(".record .open td").nth(3)).to_have_text(re.compile(r"^\d+/\d+\*? …$"))
        await Hand(b_page).press("undo")
        await expect(draft).to_have_count(0)
        await expect(a_page.locator(".record .open td").nth(3)).to_have_text("…")
        await b.play_something()
        await expect(a_page.locator("#prompt")).to_contain_text("Доски поменялись: теперь вы чёрные.")
        await seat_is(a_page, "Y", "black", "ru")


async def test_looking_as_it_was_at_the_start_shows_no_draft(deal: Stage) -> None:
    staged = await deal(a_phase("3W", "6-2", x=START, y=START, ruleset=rules(peek="start")), **STILL)
    await played(staged)
    await staged.hand.press("look")
    await expect(staged.page.locator(".banner")).to_be_visible()
    await staged.other_drafts("13/7")
    await staged.page.wait_for_timeout(100)
    await expect(staged.page.locator(".stage .draft .to")).to_have_count(0)


async def test_where_looking_is_off_there_is_nothing_to_look_at(deal: Stage) -> None:
    staged = await deal(a_phase("3W", "6-2", x=START, y=START, ruleset=rules(peek="off")), **STILL)
    await played(staged)
    await expect(look(staged.page)).to_have_attribute("aria-disabled", "true")
    await expect(staged.page.locator('.tile[data-game="Y"] .button')).to_be_hidden()
    await staged.page.wait_for_timeout(450)
    await look(staged.page).click(force=True)
    await expect(staged.page.locator(".banner")).to_be_hidden()

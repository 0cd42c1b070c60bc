"""What surrounds the board: controls that stay where they are, resigning, a finger that scrolls or drags."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page, expect

from engine.match import SetResult, VoidMatch
from engine.view import view_for
from tests.browser.conftest import Stage
from tests.browser.screens import DESKTOP, EN, PHONE, RU, STILL, until
from tests.builders import A, B, Table, a_match, a_phase, rules

START = "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2"

# Everything that can be pressed, and the line and the box that hold it, with where they are on the screen.
_BOXES = """() => {
  const found = {};
  const controls = '.match button, .match summary, .stage .hit, .actions, #prompt, .stage .board';
  for (const part of document.querySelectorAll(controls)) {
    const { x, y, width, height } = part.getBoundingClientRect();
    if (!width) continue;
    const name = part.id || part.dataset.act || part.dataset.place || part.className.baseVal || part.className;
    const key = `${name} ${Object.keys(found).length}`;
    found[key] = [x, y, width, height].map(Math.round).join(' ');
  }
  return found;
}"""


async def boxes(page: Page) -> dict[str, str]:
    """Where every control is."""
    return dict(await page.evaluate(_BOXES))


def a_table(**more: Any) -> Table:
    """A match in its third round."""
    return a_phase("3W", "6-2", x=START, y=START, **more)


SCREENS = [
    pytest.param({**DESKTOP, **RU, **STILL}, id="desktop, Russian"),
    pytest.param({**DESKTOP, **EN, **STILL}, id="desktop, English"),
    pytest.param({**PHONE, **RU, **STILL}, id="phone, Russian"),
    pytest.param({**PHONE, **EN, **STILL}, id="phone, English"),
    pytest.param({"viewport": {"width": 768, "height": 1024}, **RU, **STILL}, id="tablet, Russian"),
]


@pytest.mark.parametrize("screen", SCREENS)
async def test_controls_do_not_move_whatever_the_opponent_does(deal: Stage, screen: dict[str, Any]) -> None:
    """CASES F6"""
    staged = await deal(a_table(), **screen)
    page, table = staged.page, staged.table
    await staged.hand.click(13)
    before = await boxes(page)
    assert len(before) > 30
    table.leave(B, after=1000)
    await staged.show()
    away = "нет связи, ждём" if screen["locale"] == RU["locale"] else "reconnecting"
    await expect(page.locator(".band.them .state")).to_contain_text(away)
    assert await boxes(page) == before
    table.back(B, after=2000)
    await staged.show()
    await expect(page.locator(".band.them .state")).not_to_contain_text(away)
    assert await boxes(page) == before
    await staged.other_plays("13/7 13/11")
    await expect(page.locator(".band.them .state .icon")).to_have_count(1)
    assert await boxes(page) == before


@pytest.mark.parametrize("screen", SCREENS[:3])
async def test_the_box_of_the_buttons_stays_in_place_when_they_change(
    deal: Stage, screen: dict[str, Any]
) -> None:
    staged = await deal(a_table(), **screen)
    page = staged.page
    place = (
        "e => { const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height].map(Math.round); }"
    )
    parts = [page.locator(name) for name in (".actions", "#prompt", ".stage .board")]
    before = [await part.evaluate(place) for part in parts]
    await staged.hand.drag(13, 5)
    await staged.hand.press("done")
    await expect(page.locator('.actions [data-act="look"]')).to_be_visible()
    assert [await part.evaluate(place) for part in parts] == before
    await staged.hand.press("look")
    await expect(page.locator(".banner")).to_be_visible()
    assert [await part.evaluate(place) for part in parts] == before


# -------------------------------------------------------------------------------------------------------- resigning


async def ask_to_resign(page: Page, name: str = "Сдаться…") -> None:
    await page.get_by_role("button", name=name).click()


async def test_resigning_shows_its_price_and_asks_and_no_keeps_playing(deal: Stage) -> None:
    """CASES F6"""
    staged = await deal(a_table())
    page = staged.page
    price = view_for(staged.table.match, A).mine.resign  # type: ignore[union-attr]
    assert price is not None
    await ask_to_resign(page)
    dialog = page.get_by_role("alertdialog")
    await expect(dialog).to_contain_text(f"Сдать матч за {price['points']} очков?")
    await expect(dialog).to_contain_text(f"Уступается партия {price['game']}.")
    for leave in (dialog.get_by_role("button", name="Играть дальше").click(), page.keyboard.press("Escape")):
        await leave
        await expect(dialog).to_be_hidden()
        await ask_to_resign(page)
    await page.keyboard.press("Enter")  # the button that keeps playing has the focus
    await expect(dialog).to_be_hidden()
    assert [message for message in staged.sent if message["type"] == "resign"] == []
    await staged.hand.click(13)
    await staged.hand.sees(p13=4, p7=1)


async def test_resigning_costs_what_was_shown(stage: Stage) -> None:
    staged = await stage(a_table(), **EN)
    page = staged.page
    price = view_for(staged.table.match, A).mine.resign  # type: ignore[union-attr]
    assert price is not None
    await ask_to_resign(page, "Resign…")
    await page.get_by_role("alertdialog").get_by_role("button", name="Resign", exact=True).click()
    await expect(page.locator(".result h1")).to_have_text("You have lost the match")
    await expect(page.locator(".result .score")).to_have_text(f"−{price['points']} : +{price['points']}")
    [sent] = [message for message in staged.sent if message["type"] == "resign"]
    assert (sent["points"], sent["turn"]) == (price["points"], "3W")


async def test_leaving_before_the_first_phase_is_played_is_no_resignation(stage: Stage) -> None:
    staged = await stage(a_match())
    await ask_to_resign(staged.page)
    await expect(staged.page.get_by_role("alertdialog")).to_contain_text("Матч прервётся без результата.")
    await staged.page.get_by_role("alertdialog").get_by_role("button", name="Сдаться").click()
    await expect(staged.page.locator(".result h1")).to_have_text("Матч прерван")


async def test_after_my_play_there_is_nothing_to_resign(deal: Stage) -> None:
    staged = await deal(a_table(), **STILL)
    await staged.hand.drag(13, 5)
    await staged.hand.press("done")
    await expect(staged.page.get_by_role("button", name="Сдаться…")).to_have_attribute(
        "aria-disabled", "true"
    )
    await staged.page.get_by_role("button", name="Сдаться…").click(force=True)
    await expect(staged.page.get_by_role("alertdialog")).to_be_hidden()
    await expect(staged.page.locator("#prompt")).to_have_text("Сдаться можно, пока ход за вами.")


async def test_a_draw_is_offered_and_accepted(deal: Stage) -> None:
    staged = await deal(a_table(ruleset=rules(draw_offers="draw")), **STILL)
    page = staged.page
    await page.get_by_role("button", name="Предложить ничью").click()
    await expect(page.locator("#prompt")).to_have_text("Соперник увидит предложение, когда закроется фаза.")
    await expect(page.get_by_role("button", name="Ничья предложена")).to_have_attribute(
        "aria-disabled", "true"
    )
    assert [message["type"] for message in staged.sent] == ["offer-draw"]


# ------------------------------------------------------------------------------------------------- a finger on glass


async def scrolled(page: Page) -> float:
    return float(await page.evaluate("scrollY"))


async def test_a_finger_that_drags_a_checker_does_not_scroll_and_a_swipe_elsewhere_does(deal: Stage) -> None:
    staged = await deal(a_table(), **PHONE, **STILL)
    page, hand = staged.page, staged.hand
    await page.evaluate("scrollTo(0, 60)")
    x, y = await hand.on(13)
    await hand.swipe((x, y), (x + 30, y - 120))
    assert await scrolled(page) == 60
    x, y = await hand.beside(22)
    await hand.swipe((x, y), (x, y - 100))
    await page.wait_for_timeout(100)
    assert await scrolled(page) > 100
    await page.evaluate("scrollTo(0, 0)")


async def test_two_taps_play_and_the_checker_stays_picked_up_between_them(stage: Stage) -> None:
    staged = await stage(a_table(), **PHONE, **STILL)
    page, hand = staged.page, staged.hand
    await page.get_by_role("button", name="Ещё").click()
    await page.locator("#settings > summary").click()
    await page.locator("#settings label", has_text="берёт шашку").click()
    await page.evaluate("scrollTo(0, 0)")
    await hand.tap(13)
    picked = page.locator('.stage .hit[data-place="13"]')
    await expect(picked).to_have_attribute("aria-pressed", "true")
    await staged.other_plays("13/7 13/11")  # a view comes meanwhile
    await expect(page.locator(".band.them .state")).to_contain_text("ход сделан")
    await expect(picked).to_have_attribute("aria-pressed", "true")
    await expect(page.locator(".stage .hints .pick")).to_have_count(1)
    await hand.tap_beside(11)
    await hand.sees(p13=4, p11=1)


@pytest.mark.parametrize("language", [pytest.param(RU, id="ru"), pytest.param(EN, id="en")])
async def test_a_phone_of_360_px_has_big_targets_and_no_sideways_scroll(deal: Stage, language: Any) -> None:
    staged = await deal(a_table(), **PHONE, **STILL, **language)
    page = staged.page
    small = """() => [...document.querySelectorAll(':is(.match, header.top) :is(button, summary)')]
      .filter(e => e.checkVisibility({ visibilityProperty: true }))
      .map(e => [e.textContent, e.getBoundingClientRect()]).filter(([, b]) => b.width < 40 || b.height < 40)
      .map(([name, b]) => `${name} ${b.width}×${b.height}`)"""
    assert await page.evaluate(small) == []
    points = await page.locator(".stage .hit").evaluate_all(
        """hits => hits.filter(h => h.dataset.place > 0 && h.dataset.place < 25)
          .map(h => h.getBoundingClientRect()).map(b => [b.width, b.height])"""
    )
    assert len(points) == 24
    assert all(width >= 24 and height >= 150 for width, height in points), points
    assert await page.evaluate("document.documentElement.scrollWidth") <= 360
    for button in await page.locator(".actions button").all():
        box = await button.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 740, "everything to play with is on the first screen"
    await page.set_viewport_size({"width": 360, "height": 640})
    for button in await page.locator(".actions button").all():
        box = await button.bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 640, "of a short phone too"


@pytest.mark.parametrize("screen", [pytest.param(PHONE, id="phone"), pytest.param(DESKTOP, id="desktop")])
async def test_a_double_click_on_done_does_not_press_the_button_that_comes_in_its_place(
    deal: Stage, screen: dict[str, Any]
) -> None:
    staged = await deal(a_table(), **screen, **STILL)
    await staged.hand.drag(13, 5)
    box = await staged.page.locator('[data-act="done"]').bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    await staged.page.mouse.click(x, y)
    await staged.page.locator('[data-act="look"]').wait_for()
    await staged.page.mouse.click(x, y)
    await staged.page.wait_for_timeout(500)
    await expect(staged.page.locator(".banner")).to_be_hidden()
    await staged.page.mouse.click(x, y)
    await expect(staged.page.locator(".banner")).to_be_visible()


@pytest.mark.parametrize("screen", [pytest.param(PHONE, id="phone"), pytest.param(DESKTOP, id="desktop")])
async def test_done_pressed_many_times_sends_one_play(stage: Stage, screen: dict[str, Any]) -> None:
    staged = await stage(a_table(), **screen, **STILL, answers=False)
    await staged.hand.drag(13, 5)
    done = staged.page.locator('[data-act="done"]')
    for _ in range(4):
        await done.click(force=True)
    await until(staged.plays)
    assert len(staged.plays()) == 1


async def test_what_the_server_ended_by_the_rules_of_an_event_is_said_in_words(stage: Stage) -> None:
    late = a_match().play_until("2W")
    late.do(SetResult("server", 7, "round-over", late.at(0)))
    page = (await stage(late, **PHONE, **RU, **STILL)).page
    await expect(page.locator(".how")).to_have_text(
        "Время тура вышло: засчитана половина перевесов на двух досках."
    )
    bill = page.locator(".bill")
    await expect(bill).to_contain_text("Решение сервера")
    await expect(bill).to_contain_text("раунда; причина: время тура вышло")
    # The boards as they lie do not come to these points, so nothing is said of what each of them counts.
    await expect(page.locator(".game .tag")).to_have_count(0)
    level = a_match().play_until("2W")
    level.do(SetResult("server", 0, "round-over", level.at(0)))
    page = (await stage(level, **PHONE, **RU, **STILL)).page
    await expect(page.locator(".game .tag")).to_have_text(["в общий перевес"] * 2)
    await expect(page.locator(".bill")).to_contain_text("половина суммы, дробь отброшена; причина")
    nobody = a_match(present=False)
    nobody.do(VoidMatch("server", "no-show", nobody.at(0)))
    page = (await stage(nobody, **EN, **STILL)).page
    await expect(page.locator(".how")).to_contain_text("not both came to the board")
    await expect(page.locator(".bill")).to_contain_text("the match is void; reason: a no-show")
    ruled = a_match().play_until("2W")
    ruled.do(SetResult("somebody", 7, "The clock fell off the table", ruled.at(0)))
    page = (await stage(ruled, **EN, **STILL)).page
    await expect(page.locator(".bill")).to_contain_text("reason: The clock fell off the table")
    await expect(page.locator(".game .tag")).to_have_text(["not counted"] * 2)
    await expect(page.locator(".how")).to_have_text("The result was set by the arbiter.")

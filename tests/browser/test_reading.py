"""The board for everyone: read out by a screen reader, seen in grey, without motion."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Stage
from tests.browser.screens import EN, PHONE, RU, STILL, until
from tests.browser.staged import Staged
from tests.builders import A, B, Table, a_match, a_phase, rules

START = "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2"

LISTEN = """() => {
  window.said = [];
  window.listening ??= new MutationObserver(() => {
    const text = document.getElementById('prompt')?.textContent;
    if (text && text !== window.said.at(-1)) window.said.push(text);
  });
  window.listening.observe(document, { childList: true, subtree: true, characterData: true });
}"""


def a_table(roll: str = "6-2") -> Table:
    return a_phase("3W", roll, x=START, y=START)


async def listened(stage: Stage, table: Table, seat: Any = A, **screen: Any) -> Staged:
    """A table whose page keeps all that its live region has said."""
    staged = await stage(table, seat, **{**STILL, **screen})
    await staged.page.evaluate(LISTEN)
    return staged


async def said(page: Page) -> list[str]:
    return list(await page.evaluate("window.said"))


# ------------------------------------------------------------------------------------------------------ read out

LABELS = [
    pytest.param(
        RU,
        {24: "пункт 24, ваших 2, можно пойти", 13: "пункт 13, ваших 5, можно пойти", 12: "пункт 12, соперника 5",
         9: "пункт 9, пусто", 25: "бар, ваших 0", 0: "снято ваших: 0"},
        id="ru",
    ),
    pytest.param(
        EN,
        {24: "your 24-point, 2 of yours, can move", 13: "your 13-point, 5 of yours, can move",
         12: "your 12-point, 5 of the opponent's", 9: "your 9-point, empty", 25: "bar, 0 of yours",
         0: "borne off: 0 of yours"},
        id="en",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("language", "labels"), LABELS)
async def test_every_point_is_a_labelled_control(deal: Stage, language: Any, labels: dict[int, str]) -> None:
    staged = await deal(a_table(), **STILL, **language)
    hits = staged.page.locator(".stage .hit")
    assert await hits.evaluate_all("hits => hits.map(h => Number(h.dataset.place))") == [
        25,
        *range(24, -1, -1),
    ]
    for place, label in labels.items():
        await expect(staged.page.locator(f'.stage .hit[data-place="{place}"]')).to_have_attribute(
            "aria-label", label
        )
    everything = await hits.evaluate_all(
        "hits => hits.map(h => [h.getAttribute('role'), h.getAttribute('aria-label')])"
    )
    assert all(role == "button" and label for role, label in everything)
    assert len({label for _, label in everything}) == 26
    assert await hits.evaluate_all("hits => hits.filter(h => h.getAttribute('tabindex') === '0').length") == 1


@pytest.mark.parametrize(
    ("seat", "turn", "label"),
    [
        pytest.param(A, "3W", "Доска X, вы белые. Зары 6-2.", id="A in W"),
        pytest.param(A, "3K", "Доска Y, вы чёрные. Зары 6-2.", id="A in K"),
        pytest.param(B, "3W", "Доска Y, вы белые. Зары 6-2.", id="B in W"),
        pytest.param(B, "3K", "Доска X, вы чёрные. Зары 6-2.", id="B in K"),
    ],
)
async def test_the_board_says_what_it_is(deal: Stage, seat: Any, turn: str, label: str) -> None:
    staged = await deal(a_phase(turn, "6-2", x=START, y=START), seat, **STILL)
    board = staged.page.locator(".stage .board")
    await expect(board).to_have_attribute("aria-label", label)
    await staged.hand.click(13)
    await expect(board).to_have_attribute("aria-label", f"{label} Сыграно: 6.")


async def test_one_live_region_tells_dice_play_reveal_and_swap_each_in_a_sentence(deal: Stage) -> None:
    staged = await listened(deal, a_table())
    page = staged.page
    assert await page.locator("[aria-live], [role=status], [role=alert]").count() == 1
    await expect(page.locator("#prompt")).to_have_text("Ваши зары 6-2. Выберите шашку.")
    await staged.hand.click(13)
    await staged.hand.click(24)
    await staged.other_plays("24/22 13/7")
    await until_said(page, "Соперник сыграл.")
    await staged.hand.press("done")
    swap = re.compile(r"Доски поменялись: теперь вы чёрные\. Ход соперника: 24/22 13/7\. Ваши зары: \d-\d\.")
    await expect(page.locator("#prompt")).to_have_text(swap)
    heard = await said(page)
    for sentence in (
        "Осталась 2. Выберите шашку.",
        "Ход собран: 24/22 13/7. Нажмите «Готово».",
        "Соперник сыграл.",
    ):
        assert sentence in heard, heard
    assert len([sentence for sentence in heard if sentence.startswith("Доски поменялись")]) == 1


async def test_the_reveal_is_told_in_english_too(deal: Stage) -> None:
    staged = await listened(deal, a_table(), **EN)
    await staged.hand.drag(13, 5)
    await staged.hand.press("done")
    await expect(staged.page.locator("#prompt")).to_have_text("You have played. Waiting for your opponent.")
    await staged.other_plays("24/22 13/7")
    swap = re.compile(
        r"Boards swapped: you are Black now\. Your opponent played 24/22 13/7\. Your roll: \d-\d\."
    )
    await expect(staged.page.locator("#prompt")).to_have_text(swap)


async def test_a_picked_up_checker_tells_where_it_can_go(deal: Stage) -> None:
    staged = await deal(a_table(), **STILL)
    await staged.page.locator('.stage .hit[data-place="24"]').focus()
    await staged.hand.keys("Enter")
    await expect(staged.page.locator("#prompt")).to_have_text("Шашка взята: 24. Куда: 18, 22, 16.")
    await expect(staged.page.locator('.stage .hit[data-place="18"]')).to_have_attribute(
        "aria-label", "пункт 18, пусто, можно поставить"
    )
    await staged.hand.keys("Escape")
    await expect(staged.page.locator("#prompt")).to_have_text("Ваши зары 6-2. Выберите шашку.")


async def test_low_time_is_told_once(deal: Stage) -> None:
    """CASES E9"""
    table = a_phase(
        "3W", "6-2", x=START, y=START, banks=(20_900, 240_000), ruleset=rules(clock={"delay_ms": 0})
    )
    staged = await listened(deal, table)
    await until_said(staged.page, "Осталось меньше 20 секунд.")
    await expect(staged.page.locator(".band.me .clock")).to_have_class(re.compile(r"\blow\b"))
    await staged.page.wait_for_timeout(500)
    assert (await said(staged.page)).count("Осталось меньше 20 секунд.") == 1


async def test_the_end_is_told(stage: Stage) -> None:
    table = a_phase("9K", "6-5", x="1:2 2:2 | 1:1", y="1:2 2:2 | 1:1")
    staged = await listened(stage, table)
    await staged.other_plays()
    await staged.hand.press("done")
    await expect(staged.page.locator(".result h1")).to_have_text("Ничья")
    await until_said(staged.page, "Матч окончен. Итог на странице.")


async def until_said(page: Page, sentence: str) -> None:
    await page.wait_for_function("sentence => window.said.includes(sentence)", arg=sentence)


# ------------------------------------------------------------------------------------------------------------ seen

_CONTRAST = """() => {
  const channel = (c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const light = (color) => {
    const canvas = document.createElement('canvas').getContext('2d');
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
    return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  };
  const style = (selector) => getComputedStyle(document.querySelector(selector));
  const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const surface = style('.stage .surface').fill;
  const halo = style('.stage .last .to-halo').stroke;
  const stroke = (mark) => style(`.stage .last .${mark}`).stroke;
  return { from: ratio(stroke('from'), surface), to: ratio(stroke('to'), halo) };
}"""


async def after_a_play(stage: Stage, **screen: Any) -> Staged:
    """The opponent has just played on the board that is now mine."""
    table = a_match()
    staged = await stage(table, **{**STILL, **screen})
    await staged.hand.click(24)
    await staged.hand.click(13)
    await staged.other_plays("24/14")
    await staged.hand.press("done")
    await staged.page.wait_for_selector(".band.me.black")
    return staged


async def test_the_last_play_is_marked_by_shapes_which_stand_out_in_every_set_of_colours(deal: Stage) -> None:
    staged = await after_a_play(deal)
    page = staged.page
    marks = page.locator(".stage .board > .last:not(.draft)")
    await expect(marks.locator(".from")).to_have_count(1)
    await expect(marks.locator(".to")).to_have_count(1)
    await expect(marks.locator(".line")).to_have_count(1)
    dashes = await marks.locator(".from").evaluate("e => getComputedStyle(e).strokeDasharray")
    assert dashes not in ("none", "")
    assert await marks.locator(".to").evaluate("e => getComputedStyle(e).strokeDasharray") == "none"
    for colours in ("slate", "linen", "night", "contrast"):
        await page.evaluate("colours => { document.documentElement.dataset.board = colours; }", colours)
        for mark, contrast in (await page.evaluate(_CONTRAST)).items():
            assert contrast >= 3, f"{mark} on {colours}"


async def test_the_arrow_of_the_last_play_goes_at_my_first_move_and_its_rings_stay(deal: Stage) -> None:
    staged = await after_a_play(deal)
    marks = staged.page.locator(".stage .board > .last:not(.draft)")
    await expect(marks.locator(".line")).to_have_count(1)
    source = await staged.page.locator(".stage .hit.source").first.get_attribute("data-place")
    await staged.hand.click(int(source or 0))
    await expect(marks.locator(".line")).to_have_count(0)
    await expect(marks.locator(".from")).to_have_count(1)
    await staged.hand.press("undo")
    await expect(marks.locator(".line")).to_have_count(0)


async def test_a_stack_above_five_carries_its_number(deal: Stage) -> None:
    staged = await deal(a_phase("3W", "6-2", x="6:8 8:4 13:3 | 6:5 8:3 13:5 24:2", y=START), **STILL)
    await expect(staged.page.locator(".stage .count")).to_have_text(["8"])
    await expect(staged.page.locator('.stage .checkers use[data-place="6"]')).to_have_count(5)


# ---------------------------------------------------------------------------------------------------- without motion

# Every animation that a script starts would take for ever: whatever waits for one never comes.
FROZEN = """() => {
  const animate = Element.prototype.animate;
  window.animated = 0;
  Element.prototype.animate = function (...how) {
    window.animated += 1;
    const animation = animate.apply(this, how);
    animation.playbackRate = 1e-6;
    return animation;
  };
}"""


async def test_a_play_does_not_wait_for_its_checkers_to_arrive(stage: Stage) -> None:
    staged = await stage(a_table())
    await staged.page.evaluate(FROZEN)
    await staged.hand.click(13)
    await staged.hand.click(24)
    await staged.hand.press("done")
    await until(staged.plays)
    assert await staged.page.evaluate("window.animated") > 0
    assert staged.plays()[0]["moves"] == [[13, 7], [24, 22]]


async def test_with_reduced_motion_nothing_travels_and_input_is_open_at_once(deal: Stage) -> None:
    staged = await listened(deal, a_table())
    page = staged.page
    await page.evaluate(
        """() => {
          window.moving = [];
          new MutationObserver(() => {
            if (document.querySelector('.swapping')) window.moving.push('swap');
            for (const animation of document.getAnimations()) {
              const { target } = animation.effect;
              if (!target?.matches('.stage, .announce')) window.moving.push(target?.outerHTML);
            }
            if (document.querySelector('.band.me.black')) {
              window.opened ??= document.querySelectorAll('.stage .hit.source').length;
            }
          }).observe(document.querySelector('.match'), { childList: true, subtree: true, attributes: true });
        }"""
    )
    await staged.hand.click(13)
    await staged.hand.click(24)
    await staged.other_plays()
    await staged.hand.press("done")
    await page.wait_for_selector(".band.me.black")
    await page.wait_for_function("window.opened !== undefined")
    assert await page.evaluate("window.moving") == []
    assert await page.evaluate("window.opened") > 0


async def test_a_key_ends_the_motion_of_the_swap_at_once(stage: Stage) -> None:
    staged = await stage(a_table(), **PHONE)
    await staged.hand.tap(13)
    await staged.hand.tap(24)
    await staged.other_plays()
    await staged.hand.press("done")
    await staged.page.wait_for_selector(".swapping")
    await staged.page.keyboard.press("Shift")
    await expect(staged.page.locator(".swapping")).to_have_count(0, timeout=150)
    await expect(staged.page.locator(".stage .hit.source").first).to_be_attached()

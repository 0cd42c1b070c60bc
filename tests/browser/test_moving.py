"""Every way of moving a checker, on a board that a person sees. Nothing is sent before Done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from tests.browser.conftest import Stage
from tests.browser.hand import Hand
from tests.browser.screens import EN, PHONE, STILL, until
from tests.browser.staged import Staged
from tests.builders import Table, a_phase

START = "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2"
HOME = "1:2 2:3 3:2 4:2 5:3 6:3 | 20:5 21:5 22:5"  # all mine are home, the other side is past
ON_THE_BAR = "bar:1 6:5 8:3 13:5 24:1 | 6:5 8:3 13:5 24:2"
CLOSED_OUT = "bar:1 6:5 8:3 13:6 | 1:2 2:2 3:2 4:2 5:2 6:2 13:3"
ONLY_THE_LARGER = "24:1 | 12:2 13:2"  # 24/18 or 24/19, but not both
ONLY_THE_SMALLER = "20:1 | 14:2 10:2 1:3"  # of 5 and 4 only 20/16


def opening(roll: str = "6-2") -> Table:
    """The start position in the third round."""
    return a_phase("3W", roll, x=START, y=START)


def on_board(position: str, roll: str) -> Table:
    """This position before player A, who is White on X."""
    return a_phase("3W", roll, x=position, y=START)


def prompt(page: Page) -> Locator:
    """The line that says what is next."""
    return page.locator("#prompt")


async def dice(page: Page) -> list[str]:
    """The dice on the board from the left; those in brackets are drawn as used."""
    return list(
        await page.locator(".stage .dice .die").evaluate_all(
            "dice => dice.map(d => { const n = d.getAttribute('href').slice(2);"
            " return d.classList.contains('used') ? `(${n})` : n; })"
        )
    )


Way = Callable[[Hand], Awaitable[None]]


def told(*steps: tuple[Any, ...]) -> Way:
    """Things a hand does, one after the other: ("click", 13)."""

    async def do(hand: Hand) -> None:
        for name, *arguments in steps:
            await getattr(hand, name)(*arguments)

    return do


async def ctrl_click(hand: Hand) -> None:
    await hand.page.keyboard.down("Control")
    await hand.click(13)
    await hand.page.keyboard.up("Control")


# ------------------------------------------------------------------------------------------------ hands on the board

MOUSE = [
    pytest.param(told(("click", 13)), {"p13": 4, "p7": 1}, id="click: the left die"),
    pytest.param(told(("click_beside", 13)), {"p13": 4, "p7": 1}, id="click anywhere on the point"),
    pytest.param(told(("click", 13, "right")), {"p13": 4, "p11": 1}, id="right click: the other die"),
    pytest.param(ctrl_click, {"p13": 4, "p11": 1}, id="Ctrl-click: the other die"),
    pytest.param(told(("click", 6)), {"p6": 4, "p4": 1}, id="click: the other die where the left one cannot"),
    pytest.param(
        told(("click", 13), ("click_beside", 11)), {"p13": 4, "p11": 1, "p7": 0}, id="click source, target"
    ),
    pytest.param(
        told(("click", 13), ("click_beside", 7)), {"p13": 4, "p7": 1}, id="click source and where it went"
    ),
    pytest.param(told(("drag", 13, 7)), {"p13": 4, "p7": 1}, id="drag over one die"),
    pytest.param(told(("drag", 13, 11)), {"p13": 4, "p11": 1}, id="drag over the other die"),
    pytest.param(told(("drag", 13, 5)), {"p13": 4, "p5": 1}, id="drag over both dice at once"),
    pytest.param(told(("drag", 13, 7), ("drag", 7, 13)), {"p13": 5, "p7": 0}, id="drag back is undo"),
    pytest.param(told(("drag", 13, 5), ("drag", 5, 13)), {"p13": 5, "p5": 0}, id="drag back over both dice"),
    pytest.param(
        told(("drag", 13, 9)), {"p13": 5, "p9": 0}, id="dropped where it cannot go: back where it stood"
    ),
    pytest.param(told(("drag", 13, 2)), {"p13": 5, "p2": 0}, id="dropped too far: back where it stood"),
]


@pytest.mark.parametrize(("way", "seen"), MOUSE)
async def test_moving_with_the_mouse(deal: Stage, way: Way, seen: dict[str, int]) -> None:
    staged = await deal(opening(), **STILL)
    await staged.hand.sees(p13=5, p8=3, p6=5, p24=2)
    await way(staged.hand)
    await staged.hand.sees(**seen)
    assert staged.plays() == []


TOUCH = [
    pytest.param(told(("tap", 13)), {"p13": 4, "p7": 1}, id="tap: the left die"),
    pytest.param(told(("tap_beside", 13)), {"p13": 4, "p7": 1}, id="tap anywhere on the point"),
    pytest.param(told(("press_long", 13)), {"p13": 4, "p11": 1}, id="long press: the other die"),
    pytest.param(
        told(("tap", 13), ("tap_beside", 11)), {"p13": 4, "p11": 1, "p7": 0}, id="tap source, tap target"
    ),
    pytest.param(told(("touch_drag", 13, 7)), {"p13": 4, "p7": 1}, id="drag over one die"),
    pytest.param(told(("touch_drag", 13, 5)), {"p13": 4, "p5": 1}, id="drag over both dice at once"),
    pytest.param(
        told(("touch_drag", 13, 7), ("touch_drag", 7, 13)), {"p13": 5, "p7": 0}, id="drag back is undo"
    ),
]


@pytest.mark.parametrize(("way", "seen"), TOUCH)
async def test_moving_with_a_finger_on_a_phone(deal: Stage, way: Way, seen: dict[str, int]) -> None:
    staged = await deal(opening(), **PHONE, **STILL)
    await staged.hand.sees(p13=5)
    await way(staged.hand)
    await staged.hand.sees(**seen)
    assert staged.plays() == []


async def test_a_second_tap_beside_the_source_means_the_point_that_was_tapped(deal: Stage) -> None:
    staged = await deal(opening("2-1"), **PHONE, **STILL)
    await staged.hand.tap(6)
    await staged.hand.sees(p6=4, p4=1)
    await staged.hand.tap_beside(5)
    await staged.hand.sees(p6=4, p5=1, p4=0)


LEFT_7 = ["ArrowLeft"] * 7  # from 24 over the bar to 18
KEYS = [
    pytest.param(["Enter"], {"p24": 2}, 24, id="Enter alone only picks up"),
    pytest.param(["Enter", *LEFT_7, "Enter"], {"p24": 1, "p18": 1}, 18, id="arrows, Enter picks and puts"),
    pytest.param(["Enter", "Escape", *LEFT_7, "Enter"], {"p24": 2, "p18": 0}, 18, id="Esc lets go"),
    pytest.param(["Enter", *LEFT_7, "Enter", "Backspace"], {"p24": 2, "p18": 0}, 18, id="Backspace undoes"),
    pytest.param(["ArrowDown", "ArrowUp"], {}, 24, id="up and down change the row"),
    pytest.param(["ArrowDown", "ArrowRight"], {}, 0, id="right of the 1-point is the tray"),
]


@pytest.mark.parametrize(("keys", "seen", "focused"), KEYS)
async def test_moving_with_the_keyboard(
    deal: Stage, keys: list[str], seen: dict[str, int], focused: int
) -> None:
    staged = await deal(opening(), **STILL)
    await staged.page.locator('.stage .hit[data-place="24"]').focus()
    await staged.hand.keys(*keys)
    await staged.hand.sees(**seen)
    assert await staged.page.evaluate("Number(document.activeElement.dataset.place)") == focused


WRITTEN = [
    pytest.param("13/7 13/11", {"p13": 3, "p7": 1, "p11": 1}, id="two checkers"),
    pytest.param("13/5", {"p13": 4, "p5": 1}, id="one checker with both dice"),
    pytest.param("13/7/5", {"p13": 4, "p5": 1}, id="the point between written out"),
    pytest.param("24/22 24/18", {"p24": 0, "p22": 1, "p18": 1}, id="the smaller first"),
]


@pytest.mark.parametrize(("text", "seen"), WRITTEN)
async def test_a_play_may_be_written(deal: Stage, text: str, seen: dict[str, int]) -> None:
    staged = await deal(opening(), **STILL)
    await staged.hand.write(text)
    await staged.hand.sees(**seen)
    assert staged.plays() == []


async def test_what_cannot_be_played_is_not_laid_out_and_the_page_says_so(deal: Stage) -> None:
    staged = await deal(opening(), **STILL)
    await staged.hand.write("13/8")
    await expect(prompt(staged.page)).to_have_text("Так сходить нельзя: 13/8.")
    await staged.hand.sees(p13=5, p8=3)


async def test_a_dragged_checker_leaves_a_ghost_and_lies_under_the_pointer(deal: Stage) -> None:
    staged = await deal(opening(), **STILL)
    async with staged.hand.dragged(13, 7):
        await expect(staged.page.locator(".stage .checkers .lifted")).to_have_count(1)
        box = await staged.page.locator(".stage .drag use").bounding_box()
        x, y = await staged.hand.beside(7)
        assert box is not None
        assert abs(box["x"] + box["width"] / 2 - x) < 3
        assert abs(box["y"] + box["height"] / 2 - y) < 3
        await expect(staged.page.locator(".stage .hints .target")).to_have_count(3)  # 7, 11 and 5
    await expect(staged.page.locator(".stage .drag use")).to_have_count(0)
    await expect(staged.page.locator(".stage .lifted")).to_have_count(0)


async def test_a_pointer_that_hardly_moves_is_a_click(deal: Stage) -> None:
    staged = await deal(opening(), **STILL)
    x, y = await staged.hand.on(13)
    await staged.page.mouse.move(x, y)
    await staged.page.mouse.down()
    await staged.page.mouse.move(x + 2, y + 1)
    await staged.page.mouse.up()
    await staged.hand.sees(p13=4, p7=1)


# ----------------------------------------------------------------------------------------------------- bearing off

OFF = [
    pytest.param(
        "2-6",
        told(("double_click", 6)),
        {"off": 1, "p6": 2, "p4": 2},
        id="double click: off, not the left die",
    ),
    pytest.param("6-2", told(("click", 6)), {"off": 1, "p6": 2}, id="click: the left die takes it off"),
    pytest.param("6-2", told(("drag", 6, 0)), {"off": 1, "p6": 2}, id="drag to the tray"),
    pytest.param(
        "2-6",
        told(("click", 6), ("click", 0)),
        {"off": 1, "p6": 2, "p4": 2},
        id="click the checker, the tray",
    ),
]


@pytest.mark.parametrize(("roll", "way", "seen"), OFF)
async def test_bearing_off(deal: Stage, roll: str, way: Way, seen: dict[str, int]) -> None:
    staged = await deal(on_board(HOME, roll), **STILL)
    await way(staged.hand)
    await staged.hand.sees(**seen)


async def test_bearing_off_on_a_phone_which_has_no_tray(deal: Stage) -> None:
    staged = await deal(on_board(HOME, "2-6"), **PHONE, **STILL)
    x, y = await staged.hand.on(6)
    await staged.page.touchscreen.tap(x, y)
    await staged.page.touchscreen.tap(x, y)
    await staged.hand.sees(p6=2, p4=2)
    await expect(staged.page.locator(".band.me .off-note")).to_have_text("снято 1")


# ------------------------------------------------------------------------------------------------------------ dice


async def test_the_left_die_is_played_and_a_used_die_is_dimmed(deal: Stage) -> None:
    staged = await deal(opening(), **STILL)
    assert await dice(staged.page) == ["6", "2"]
    await staged.hand.click(13)
    assert await dice(staged.page) == ["(6)", "2"]
    looks = "die => getComputedStyle(die).getPropertyValue('--die-dash').trim()"
    used, free = staged.page.locator(".stage .die").nth(0), staged.page.locator(".stage .die").nth(1)
    assert await used.evaluate(looks) not in (
        "",
        await free.evaluate(looks),
    )  # a dashed edge: seen without colours


async def test_a_click_on_the_dice_changes_their_order(deal: Stage) -> None:
    staged = await deal(opening(), **STILL)
    await staged.page.mouse.click(*await staged.hand.dice())
    assert await dice(staged.page) == ["2", "6"]
    await staged.hand.click(13)
    await staged.hand.sees(p13=4, p11=1)


async def test_space_changes_the_order_of_the_dice(deal: Stage) -> None:
    staged = await deal(opening(), **STILL)
    await staged.hand.keys("Space")
    assert await dice(staged.page) == ["2", "6"]
    await staged.hand.keys("Space")
    assert await dice(staged.page) == ["6", "2"]


async def test_doubles_are_four_dice(deal: Stage) -> None:
    staged = await deal(opening("2-2"), **STILL)
    assert await dice(staged.page) == ["2"] * 4
    await staged.hand.drag(13, 7)
    assert await dice(staged.page) == ["(2)"] * 3 + ["2"]
    await staged.hand.click(6)
    assert await dice(staged.page) == ["(2)"] * 4
    await staged.hand.press("done")
    await until(staged.plays)
    assert sorted(staged.plays()[0]["moves"]) == [[6, 4], [9, 7], [11, 9], [13, 11]]


# --------------------------------------------------------------------------------------------- undo, reset and done


async def test_undo_takes_back_the_last_move_and_reset_all(deal: Stage) -> None:
    staged = await deal(opening(), **STILL)
    await staged.hand.click(13)
    await staged.hand.click(24)
    await staged.hand.sees(p13=4, p7=1, p24=1, p22=1)
    await staged.hand.press("undo")
    await staged.hand.sees(p13=4, p7=1, p24=2, p22=0)
    await staged.hand.click(24)
    await staged.hand.press("reset")
    await staged.hand.sees(p13=5, p7=0, p24=2, p22=0)
    assert staged.plays() == []


@pytest.mark.parametrize("how", ["button", "key"])
async def test_done_sends_the_play_once_and_the_page_waits_for_the_opponent(deal: Stage, how: str) -> None:
    staged = await deal(opening(), **STILL)
    await staged.hand.drag(13, 5)
    await expect(prompt(staged.page)).to_have_text("Ход собран: 13/7 7/5. Нажмите «Готово».")
    await (staged.hand.press("done") if how == "button" else staged.hand.keys("KeyC"))
    await expect(prompt(staged.page)).to_have_text("Ваш ход сделан. Ждём соперника.")
    await staged.hand.keys("KeyC", "KeyC")
    [play] = staged.plays()
    assert play["turn"] == "3W"
    assert (play["moves"][0][0], play["moves"][-1][1]) == (13, 5)


NOT_DONE = [
    pytest.param(
        opening, [13], "Ещё можно сыграть 2. Например, 24/22.", "A 2 can still be played. For example, 24/22.",
        id="a die is left",
    ),
    pytest.param(
        opening, [],
        "Ещё можно сыграть 6 и 2. Например, 24/18.", "A 6 and a 2 can still be played. For example, 24/18.",
        id="nothing is played",
    ),
    pytest.param(
        lambda: on_board(ONLY_THE_LARGER, "6-5"), [],
        "Играть нужно старшую, 6. Обе зары сыграть нельзя. Например, 24/18.",
        "The 6 must be played. Both cannot. For example, 24/18.",
        id="either die but not both: the larger",
    ),
    pytest.param(
        lambda: on_board(ONLY_THE_SMALLER, "5-4"), [],
        "Играть можно только 4. Обе зары сыграть нельзя. Например, 20/16.",
        "Only the 4 can be played. Both cannot. For example, 20/16.",
        id="the larger is blocked",
    ),
]  # fmt: skip


@pytest.mark.parametrize("language", ["ru", "en"])
@pytest.mark.parametrize(("table", "clicks", "ru", "en"), NOT_DONE)
async def test_a_refused_done_says_why(
    deal: Stage, table: Callable[[], Table], clicks: list[int], ru: str, en: str, language: str
) -> None:
    staged = await deal(table(), **STILL, **(EN if language == "en" else {}))
    await staged.hand.keys("Backspace")  # a forced play has been laid out
    for place in clicks:
        await staged.hand.click(place)
    await expect(staged.page.locator('[data-act="done"]')).to_have_attribute("aria-disabled", "true")
    await staged.page.locator('[data-act="done"]').click(force=True)
    await expect(prompt(staged.page)).to_have_text(ru if language == "ru" else en)
    await expect(prompt(staged.page)).to_have_class("prompt warn")
    assert staged.plays() == []


async def test_what_the_server_refuses_is_said_in_words_and_the_play_can_be_made_again(deal: Stage) -> None:
    staged = await deal(opening(), **STILL, answers=False)
    await staged.hand.drag(13, 5)
    await staged.hand.press("done")
    await until(staged.plays)
    problem = (
        '{"type":"problem","id":"%s","now":1,"problem":{"type":"about:blank","title":"","status":409,%s}}'
    )
    await staged.say(problem % (staged.plays()[0]["id"], '"code":"not-playing","detail":"no","params":{}'))
    await expect(prompt(staged.page)).to_have_class("prompt warn")
    await expect(prompt(staged.page)).not_to_be_empty()
    await staged.hand.press("undo")
    await staged.hand.sees(p13=4)


# ------------------------------------------------------------------------------------------------ positions of need


@pytest.mark.parametrize("place", [13, 24, 6])
async def test_with_a_checker_on_the_bar_others_are_inert_and_the_page_says_why(
    deal: Stage, place: int
) -> None:
    staged = await deal(on_board(ON_THE_BAR, "4-2"), **STILL)
    await expect(staged.page.locator(".stage .hints .pill-n")).to_have_text(["бар"])
    mine = staged.page.locator(".stage .checkers .w")
    await expect(staged.page.locator(".stage .checkers .inert")).to_have_count(await mine.count() - 1)
    await staged.hand.click(place)
    await expect(prompt(staged.page)).to_have_text("Сначала введите шашку с бара.")
    await staged.hand.sees(bar=1, p13=5, p24=1, p6=5)


async def test_a_checker_on_the_bar_enters_and_then_others_move(deal: Stage) -> None:
    staged = await deal(on_board(ON_THE_BAR, "4-2"), **STILL)
    await expect(prompt(staged.page)).to_have_text("Ваши зары 4-2. Сначала введите шашку с бара.")
    await staged.hand.click(25)
    await staged.hand.sees(bar=0, p21=1)
    await expect(staged.page.locator(".stage .checkers .inert")).to_have_count(0)
    await staged.hand.click(13)
    await staged.hand.sees(p13=4, p11=1)
    await staged.hand.press("done")
    await until(staged.plays)
    assert staged.plays()[0]["moves"] == [[25, 21], [13, 11]]


async def test_a_forced_play_is_laid_out_and_waits_for_done(deal: Stage) -> None:
    staged = await deal(on_board(ONLY_THE_LARGER, "6-5"), **STILL)
    await staged.hand.sees(p24=0, p18=1)
    await expect(prompt(staged.page)).to_have_text("Ход собран: 24/18. Другого хода нет. Нажмите «Готово».")
    assert staged.plays() == []
    await staged.hand.press("done")
    await until(staged.plays)
    assert staged.plays()[0]["moves"] == [[24, 18]]


async def test_without_a_legal_play_the_page_says_so_and_the_server_passes(deal: Stage) -> None:
    staged = await deal(on_board(CLOSED_OUT, "6-5"), **STILL)
    await expect(prompt(staged.page)).to_have_text("Хода нет. Сервер пропустит его сам.")
    await staged.page.locator('[data-act="done"]').click(force=True)
    await staged.hand.click(25)
    assert staged.plays() == []
    staged.table.wait(5_000)
    await staged.show()
    await expect(prompt(staged.page)).to_have_text("Хода не было. Ждём соперника.")


# --------------------------------------------------------------------------------------------------------- settings


async def choose(staged: Staged, *names: str) -> None:
    """Open the settings and click these."""
    if await staged.page.locator("#more").is_hidden():
        await staged.page.get_by_role("button", name="Ещё").click()
        await staged.page.locator("#settings > summary").click()
    for name in names:
        await staged.page.locator("#settings label", has_text=name).first.click()


async def next_turn(staged: Staged, roll: str, position: str = START) -> None:
    """Another phase with the same board before me."""
    table = a_phase("4W", roll, x=position, y=position)
    staged.table = table
    await staged.show()


@pytest.mark.parametrize(
    ("name", "laid_out", "sent"),
    [
        pytest.param("делаю сам", False, False, id="never"),
        pytest.param("разложить", True, False, id="lay out"),
        pytest.param("отправить", True, True, id="send"),
    ],
)
async def test_a_forced_play_as_the_player_likes_it(
    stage: Stage, name: str, laid_out: bool, sent: bool
) -> None:
    staged = await stage(opening(), **STILL)
    await choose(staged, name)
    await next_turn(staged, "6-5", ONLY_THE_LARGER)
    await staged.hand.sees(p24=0 if laid_out else 1, p18=1 if laid_out else 0)
    if sent:
        await until(staged.plays)
        await expect(prompt(staged.page)).to_have_text("Ваш ход сделан. Ждём соперника.")
    else:
        await staged.page.wait_for_timeout(300)
        assert staged.plays() == []


async def test_a_whole_play_goes_without_done_if_the_player_likes(stage: Stage) -> None:
    staged = await stage(opening(), **STILL)
    await choose(staged, "Отправлять собранный ход")
    await staged.hand.click(13)
    await staged.page.wait_for_timeout(100)
    assert staged.plays() == []
    await staged.hand.click(13)
    await until(staged.plays)
    assert staged.plays()[0]["moves"] == [[13, 7], [13, 11]]


async def test_settings_of_the_board_are_kept_and_do_what_they_say(stage: Stage) -> None:
    staged = await stage(opening(), **STILL)
    page = staged.page
    right = await staged.hand.on(24)
    await choose(
        staged, "слева", "Старшая зара слева", "берёт шашку", "Номера пунктов", "Счёт пипсов", "Контраст"
    )
    assert (await staged.hand.on(24))[0] < right[0]
    await page.reload()
    await page.wait_for_selector(".stage .board")
    assert (await staged.hand.on(24))[0] < right[0], "home is still on the left"
    await expect(page.locator("html")).to_have_attribute("data-board", "contrast")
    await expect(page.locator(".stage .numbers").first).to_be_hidden()
    await expect(page.locator(".band .pips b")).to_have_count(0)
    await next_turn(staged, "2-6")
    await expect(page.locator(".stage .die").first).to_have_attribute("href", "#d6")
    await staged.hand.click(13)
    await staged.hand.sees(p13=5)
    await staged.hand.click_beside(11)
    await staged.hand.sees(p13=4, p11=1)

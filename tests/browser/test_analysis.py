"""After the match: the objective result on the card, the review beside the replay, the card to be shared."""

from __future__ import annotations

import asyncio
import re
import struct
import zlib
from base64 import b64encode
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, Route, expect

from app.cards.drawing import Card as Drawn
from app.cards.drawing import Ended, Objective, Player, draw
from app.cards.raster import png_of
from engine.plays import read_notation
from engine.position import Position
from engine.turn import Game, Phase, Seat, Seats, Turn
from tests.browser.screens import DESKTOP, EN, PHONE, RU, STILL, Screens, until
from tests.browser.staged import Staged
from tests.builders import A, B
from tests.support.analysed import an_analysed_match, an_analysis, analysed_match, answer

TURNS = an_analysis()["turns"]
WRONG = ("mistake", "blunder")


def wrong_turns(*seats: str, grades: tuple[str, ...] = WRONG) -> list[str]:
    """The turns in which one of these seats erred so."""
    return [turn["turn"] for turn in TURNS if any(turn[seat]["grade"] in grades for seat in seats)]


@pytest.fixture
def card(screens: Screens) -> Callable[..., Awaitable[Staged]]:
    """Opens the result card of the analysed match; `found` is what the server answers about its analysis."""

    async def opened(seat: Seat | None = A, found: dict[str, Any] | None = None, **screen: Any) -> Staged:
        staged = Staged(await screens.page(**{**STILL, **screen}), screens.url, an_analysed_match(), seat)
        staged.analysis = answer() if found is None else found
        await staged.open()
        await staged.page.wait_for_selector(".objective:not([hidden])")
        return staged

    return opened


@pytest.fixture
def replay(screens: Screens) -> Callable[..., Awaitable[Page]]:
    """Opens its replay at a turn, reviewed."""

    async def opened(turn: str = "", seat: Seat | None = A, **screen: Any) -> Page:
        staged = Staged(await screens.page(**{**STILL, **screen}), screens.url, an_analysed_match(), seat)
        staged.analysis = answer()
        await staged.open(f"/replay/{{id}}#{turn}", until=".chart .curves")
        return staged.page

    return opened


Card = Callable[..., Awaitable[Staged]]
Replay = Callable[..., Awaitable[Page]]


# -------------------------------------------------------------------------------- the objective result

SENTENCES = [
    pytest.param(A, RU, "Зары дали вам +4,1 очка. Без них матч на 0,7 очка в пользу соперника.", id="who was lucky"),
    pytest.param(B, RU, "Зары дали сопернику +4,1 очка. Без них матч на 0,7 очка в вашу пользу.", id="who was not"),
    pytest.param(
        None, RU, "Зары дали игроку Вера +4,1 очка. Без них матч на 0,7 очка в пользу игрока Глеб.", id="spectator"
    ),
    pytest.param(
        A, EN, "The dice gave you +4.1 points. Without them the match is 0.7 points in your opponent’s favour.",
        id="English, who was lucky",
    ),
    pytest.param(
        B, EN, "The dice gave your opponent +4.1 points. Without them the match is 0.7 points in your favour.",
        id="English, who was not",
    ),
    pytest.param(
        None, EN, "The dice gave Вера +4.1 points. Without them the match is 0.7 points in favour of Глеб.",
        id="English, spectator",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("seat", "language", "words"), SENTENCES)
async def test_the_objective_result_is_two_sentences_from_the_viewers_side(
    card: Card, seat: Seat | None, language: dict[str, Any], words: str
) -> None:
    page = (await card(seat, **language)).page
    await expect(page.locator(".objective-words")).to_have_text(words)


@pytest.mark.parametrize(
    ("luck", "rest", "words"),
    [
        pytest.param(0.04, -0.04, "Зары не помогли никому. Без них матч равный.", id="nothing"),
        pytest.param(-0.05, 1.96, "Зары дали сопернику +0,1 очка. Без них матч на 2,0 очка в вашу пользу.", id="least"),
        pytest.param(0.0, -12.34, "Зары не помогли никому. Без них матч на 12,3 очка в пользу соперника.", id="much"),
    ],
)  # fmt: skip
async def test_what_rounds_to_nothing_is_said_to_be_nothing(
    card: Card, luck: float, rest: float, words: str
) -> None:
    changed = an_analysis(luck_for_A=luck, objective_for_A=rest, result_for_A=luck + rest)
    page = (await card(found=answer(analysis=changed))).page
    await expect(page.locator(".objective-words")).to_have_text(words)


@pytest.mark.parametrize(
    ("seat", "figures"),
    [
        pytest.param(A, ["+3,40", "+4,13", "−0,73"], id="A"),
        pytest.param(B, ["−3,40", "−4,13", "+0,73"], id="B"),
    ],
)
async def test_the_sum_is_drawn_with_its_figures(card: Card, seat: Seat, figures: list[str]) -> None:
    page = (await card(seat)).page
    await expect(page.locator(".sum dd b")).to_have_text(figures)
    zero, bars = await page.evaluate(
        """() => {
          const edge = (element) => element.getBoundingClientRect();
          const track = edge(document.querySelector('.track'));
          const at = Number(document.querySelector('.sum').style.getPropertyValue('--zero'));
          const zero = track.left + track.width * at;
          return [zero, [...document.querySelectorAll('.track .bar')].map((bar) => [edge(bar).left, edge(bar).right])];
        }"""
    )
    result, luck, rest = bars if seat is A else [[-right, -left] for left, right in bars]
    zero = zero if seat is A else -zero
    assert result[0] == pytest.approx(
        zero, abs=1
    )  # what I won lies to the right of nothing, what I lost to the left
    assert rest[1] == pytest.approx(zero, abs=1)
    assert (luck[0], luck[1]) == (pytest.approx(rest[0], abs=1), pytest.approx(result[1], abs=1))


async def test_both_players_decisions_stand_beside_it(card: Card) -> None:
    page = (await card(B)).page
    rows = page.locator(".judged tbody tr")
    assert await rows.evaluate_all(
        "rows => rows.map(row => [...row.children].map(cell => cell.textContent))"
    ) == [
        ["Потеря за решение", "0,023", "0,029"],
        ["Решений", "37", "44"],
        ["Ошибки", "5", "5"],
        ["Грубые ошибки", "3", "4"],
        ["Везение", "−1,68", "+2,45"],
    ]
    await expect(page.locator(".judged thead th")).to_have_text(["Вы", "Вера"])
    await expect(page.locator(".sum-box")).to_contain_text("Партии разошлись в раунде 1 из 26.")
    await expect(page.locator(".sum-box")).to_contain_text("ойн 1, марс 2, кокс 3")
    await expect(page.locator(".objective-foot small")).to_contain_text("bgsage")


@pytest.mark.parametrize(
    ("seat", "words", "turn"),
    [
        pytest.param(A, "Ваши ошибки", "1W", id="my first mistake"),
        pytest.param(B, "Ваши ошибки", "4W", id="his first mistake"),
        pytest.param(None, "Ошибки", "1W", id="the first of either"),
    ],
)
async def test_a_link_leads_to_the_first_mistake(
    card: Card, seat: Seat | None, words: str, turn: str
) -> None:
    page = (await card(seat)).page
    link = page.locator(".objective-foot a")
    await expect(link).to_have_text(words)
    await expect(link).to_have_attribute("href", f"/replay/m-0001#{turn}")


async def test_a_match_that_counts_for_nothing_has_no_objective_result_but_an_analysis(card: Card) -> None:
    page = (await card(found=answer(analysis=an_analysis(objective_for_A=None)))).page
    await expect(page.locator(".objective-words")).to_have_text(
        "Матч не в счёт, поэтому объективного итога нет."
    )
    await expect(page.locator(".sum")).to_have_count(0)
    await expect(page.locator(".judged tbody tr")).to_have_count(5)


# -------------------------------------------------------------------------------- while it is computed


async def test_a_bar_shows_how_far_the_analysis_is_until_it_is_there(card: Card) -> None:
    staged = await card(found=answer("waiting"))
    page, bar = staged.page, staged.page.get_by_role("progressbar")
    await expect(bar).to_have_attribute("aria-valuetext", "Матч ждёт разбора.")
    assert await bar.get_attribute("aria-valuenow") is None
    staged.analysis = answer("running")
    await expect(bar).to_have_attribute("aria-valuenow", "26")
    await expect(bar).to_have_attribute("aria-valuemax", "52")
    await expect(bar).to_have_attribute("aria-valuetext", "Фаз: 26 из 52")
    filled = "bar => bar.firstElementChild.getBoundingClientRect().width / bar.clientWidth"
    await until_true(lambda: page.evaluate(f"({filled})(document.querySelector('.progress')) > 0.49"))
    staged.analysis = answer()
    await expect(page.locator(".objective-words")).to_contain_text("Без них матч на 0,7 очка")
    await expect(page.locator(".objective > [role=status]")).to_contain_text("Зары дали вам")  # and read out
    asked = len(staged.analyses_asked)
    await asyncio.sleep(2.2)
    assert len(staged.analyses_asked) == asked  # nothing more to ask


async def until_true(holds: Callable[[], Awaitable[Any]], patience: float = 8.0) -> None:
    async with asyncio.timeout(patience):
        while not await holds():
            await asyncio.sleep(0.05)


async def test_the_page_asks_less_often_while_nothing_moves(card: Card) -> None:
    staged = await card(found=answer("waiting"))
    await asyncio.sleep(5.5)
    assert 3 <= len(staged.analyses_asked) <= 5  # at 0, 1, 2.5 and 4.8 s, not every second
    staged.analysis = answer("running")
    await until(lambda: len(staged.analyses_asked) > 5 or staged.analyses_asked.count("GET") > 4, patience=6)


HIDE = """(hidden) => {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event('visibilitychange'));
}"""


async def test_a_hidden_page_asks_nothing_and_asks_at_once_when_it_is_seen_again(card: Card) -> None:
    staged = await card(found=answer("running"))
    await staged.page.evaluate(HIDE, True)
    await asyncio.sleep(0.3)
    asked = len(staged.analyses_asked)
    staged.analysis = answer()
    await asyncio.sleep(2.5)
    assert len(staged.analyses_asked) <= asked
    await staged.page.evaluate(HIDE, False)
    await expect(staged.page.locator(".objective-words")).to_be_visible(timeout=700)


NONE = [
    pytest.param("no-judge", "нет программы, которая оценивает ходы", id="no judge"),
    pytest.param("off", "Разбор матчей на этом сервере выключен", id="off"),
    pytest.param("not-analysable", "Этот матч разобрать нельзя", id="not analysable"),
]


@pytest.mark.parametrize(("reason", "words"), NONE)
async def test_where_there_is_none_the_page_says_why(card: Card, reason: str, words: str) -> None:
    page = (await card(found=answer("none", reason=reason))).page
    await expect(page.locator(".analysis-line > [role=status]")).to_contain_text(words)
    await expect(page.locator(".analysis-state button")).to_be_hidden()
    await expect(page.get_by_role("progressbar")).to_be_hidden()


async def test_long_nardy_is_said_to_be_what_no_program_judges(screens: Screens) -> None:
    table = an_analysed_match()
    table.match = replace(table.match, ruleset=replace(table.match.ruleset, variant="long"))
    staged = Staged(await screens.page(**STILL), screens.url, table, A)
    staged.analysis = answer("none", reason="not-analysable")
    await staged.open()
    await expect(staged.page.locator(".analysis-line > [role=status]")).to_contain_text(
        "Длинные нарды программа"
    )


@pytest.mark.parametrize(
    ("state", "button"),
    [
        pytest.param(answer("failed", reason="failed"), "Разобрать ещё раз", id="failed"),
        pytest.param(answer("none"), "Разобрать матч", id="never asked for"),
    ],
)
async def test_an_analysis_is_asked_for_with_a_button(card: Card, state: dict[str, Any], button: str) -> None:
    staged = await card(found=state)
    staged.analysis = answer("waiting")
    await staged.page.get_by_role("button", name=button).click()
    await expect(staged.page.get_by_role("progressbar")).to_be_visible()
    assert staged.analyses_asked.count("POST") == 1


async def test_a_refusal_to_analyse_is_said_in_words(card: Card) -> None:
    staged = await card(found=answer("failed", reason="failed"))

    async def refuse(route: Route) -> None:
        await route.fulfill(status=429, json={"code": "too-many-matches", "params": {"limit": 30}})

    await staged.page.route("**/analysis", refuse)
    button = staged.page.get_by_role("button", name="Разобрать ещё раз")
    await button.click()
    await expect(staged.page.locator(".analysis-line > [role=status]")).to_contain_text("30")
    await expect(button).to_be_enabled()


async def test_a_server_that_does_not_answer_is_asked_again(card: Card) -> None:
    staged = await card(found=answer("running"))
    await staged.page.route("**/analysis", lambda route: route.abort())
    await expect(staged.page.locator(".analysis-line > [role=status]")).to_have_text(
        "Сервер не отвечает. Спросим ещё раз."
    )
    await staged.page.unroute("**/analysis")
    await expect(staged.page.locator(".objective-words")).to_have_count(0)
    staged.analysis = answer()
    await staged.page.route("**/analysis", staged._analysis_route)
    await expect(staged.page.locator(".objective-words")).to_be_visible()


async def test_without_anything_to_ask_the_card_is_as_it_was(screens: Screens) -> None:
    staged = Staged(await screens.page(**STILL), screens.url, an_analysed_match(), A)
    await staged.open()
    await until(lambda: staged.analyses_asked)
    await expect(staged.page.locator(".bill")).to_be_visible()
    await expect(staged.page.locator(".objective")).to_be_hidden()


# -------------------------------------------------------------------------------- the replay


async def turn_shown(page: Page) -> str:
    return page.url.partition("#")[2]


async def walk(page: Page, button: str) -> list[str]:
    """The turns that one press after another leads to."""
    seen = []
    press = page.get_by_role("button", name=button, exact=True)
    while await press.get_attribute("aria-disabled") != "true":
        await press.click()
        seen.append(await turn_shown(page))
    return seen


WHOSE = [
    pytest.param("", ("A", "B"), id="both"),
    pytest.param("A", ("A",), id="mine"),
    pytest.param("B", ("B",), id="the opponent's"),
]


@pytest.mark.parametrize(("whose", "seats"), WHOSE)
async def test_one_steps_from_mistake_to_mistake(replay: Replay, whose: str, seats: tuple[str, ...]) -> None:
    page = await replay()
    await page.get_by_label("Чьи ошибки").select_option(whose)
    there = await walk(page, "Следующая ошибка")
    assert there == wrong_turns(*seats)
    assert await walk(page, "Предыдущая ошибка") == there[-2::-1]


async def test_mistakes_are_reached_by_the_keyboard(replay: Replay) -> None:
    page = await replay()
    seen = []
    for _ in range(3):
        await page.keyboard.press("Shift+ArrowRight")
        seen.append(await turn_shown(page))
    await page.keyboard.press("Shift+ArrowLeft")
    assert seen == wrong_turns("A", "B")[:3]
    assert await turn_shown(page) == seen[1]


async def test_a_count_leads_to_the_next_of_its_plays_and_round_again(replay: Replay) -> None:
    page = await replay("24W")
    blunders = wrong_turns("B", grades=("blunder",))
    button = page.get_by_role("button", name="Глеб, Грубые ошибки: 3. К следующей")
    seen = []
    for _ in range(4):
        await button.click()
        seen.append(await turn_shown(page))
    assert seen == [*blunders, blunders[0]]


async def test_a_play_has_its_grade_its_loss_the_luck_of_its_roll_and_better_ones(replay: Replay) -> None:
    page = await replay("10K")
    x, y = (page.locator(".worth").nth(n) for n in (0, 1))
    await expect(y.locator(".worth-head")).to_have_text(re.compile(r"Грубая ошибка\s*потеряно 0,193"))
    await expect(y.locator(".worth-facts")).to_have_text("шанс выиграть 90 %везение броска +0,10")
    await expect(y.locator(".play-chip")).to_have_text(
        ["8/4 6/1*+0,193", "18/13 8/4+0,062", "19/14 8/4+0,052"]
    )
    await expect(x.locator(".worth-head")).to_have_text(re.compile(r"Хороший ход\s*потеряно 0,010"))
    await expect(page.locator(".replay [role=status].sr").first).to_contain_text(
        "Вы: Грубая ошибка, потеряно 0,193"
    )


async def test_plays_that_nobody_chose_are_not_graded(replay: Replay) -> None:
    forced = next(turn for turn in TURNS if turn["A"]["kind"] == "forced")
    page = await replay(forced["turn"])
    worth = page.locator(".worth").nth("XY".index(forced["A"]["game"]))
    await expect(worth.locator(".worth-head")).to_have_text("Единственный ход")
    passed = next(turn for turn in TURNS if turn["A"]["kind"] == "pass")
    page = await replay(passed["turn"])
    worth = page.locator(".worth").nth("XY".index(passed["A"]["game"]))
    await expect(worth.locator(".worth-head")).to_have_count(0)
    await expect(worth.locator(".worth-facts")).to_contain_text("везение броска")


DRAWN = """(n) => [...document.querySelectorAll('.replay-board .board')[n].querySelectorAll('.checkers use')]
  .map((use) => [use.classList.contains('w') ? 'white' : 'black', Number(use.dataset.place)])"""


def drawn(white: tuple[int, ...], black: tuple[int, ...]) -> Counter[tuple[str, int]]:
    """The checkers of two sides on a board with White's home below: at most four drawn on the bar, five elsewhere."""
    found = {("white", n): min(white[n], 4 if n == 25 else 5) for n in range(1, 26)}
    found |= {("black", 25 - n if n < 25 else -1): min(black[n], 4 if n == 25 else 5) for n in range(1, 26)}
    return Counter({key: count for key, count in found.items() if count})


def boards(turn: str) -> tuple[dict[Game, Position], dict[Game, Position]]:
    """The games before and after a turn, as White sees them."""
    history = analysed_match().history
    index = next(n for n, phase in enumerate(history) if str(phase.turn) == turn)
    before = history[index - 1].games
    return {game: before[game] for game in Game}, {game: history[index].games[game] for game in Game}


@pytest.mark.parametrize("turn", ["4W", "10K", "11K", "22K"])
async def test_a_better_play_is_laid_out_on_the_board_and_put_back(replay: Replay, turn: str) -> None:
    judged = next(one for one in TURNS if one["turn"] == turn)
    seat = next(seat for seat in "AB" if judged[seat]["grade"] in WRONG)
    game, better = Game(judged[seat]["game"]), judged[seat]["better"][0]["play"]
    at = Turn.parse(turn)
    assert at
    before, made = boards(turn)
    mine = before[game] if at.phase is Phase.W else before[game].turned()
    hops = read_notation(better)
    assert hops
    rules = analysed_match().rules
    roll = next(phase.roll for phase in analysed_match().history if str(phase.turn) == turn)
    end = rules.after(mine, rules.find_play(mine, roll, hops).moves)
    wanted = end if at.phase is Phase.W else end.turned()
    page = await replay(turn)
    n = "XY".index(game.value)
    board, chip = (
        page.locator(".replay-board .board").nth(n),
        page.locator(".worth").nth(n).locator(".play-chip").first,
    )
    shown = drawn(made[game].mine, made[game].theirs)
    assert Counter(map(tuple, await page.evaluate(DRAWN, n))) == shown
    await chip.click()
    await expect(chip).to_have_attribute("aria-pressed", "true")
    assert Counter(map(tuple, await page.evaluate(DRAWN, n))) == drawn(wanted.mine, wanted.theirs)
    assert await board.locator(".draft .line").count() > 0
    await expect(board.locator(".last:not(.draft) .line")).to_have_count(0)
    await expect(page.locator(".replay-play").nth(n)).to_contain_text("Вместо этого:")
    await chip.click()
    await expect(chip).to_have_attribute("aria-pressed", "false")
    assert Counter(map(tuple, await page.evaluate(DRAWN, n))) == shown
    await chip.click()
    await page.keyboard.press("ArrowRight")  # the next step shows what was played
    await expect(page.locator(".play-chip[aria-pressed=true]")).to_have_count(0)


async def test_the_page_reads_every_play_as_the_engine_does(replay: Replay) -> None:
    page = await replay()
    plays = [
        half["play"] for turn in TURNS for half in (turn["A"], turn["B"]) if half["play"] not in ("", "--")
    ]
    plays += [one["play"] for turn in TURNS for half in (turn["A"], turn["B"]) for one in half["better"]]
    read = await page.evaluate(
        "async (plays) => { const { movesOf } = await import('/static/js/review.js'); return plays.map(movesOf); }",
        plays,
    )
    for play, moves in zip(plays, read, strict=True):
        hops = read_notation(play)
        assert hops is not None
        assert [tuple(move[:2]) for move in moves] == [tuple(hop) for hop in hops], play
        assert sum(move[3] for move in moves) == play.count("*"), play
    assert any("bar" in play for play in plays)
    assert any("off" in play for play in plays)


# -------------------------------------------------------------------------------- the course of the match


async def test_the_chart_marks_the_step_and_leads_to_what_is_pressed(replay: Replay) -> None:
    page = await replay("10K")
    turn = next(one for one in TURNS if one["turn"] == "10K")
    y = turn["A"]["win"]  # A is Black on Y
    x = 1 - turn["B"]["win"]
    await expect(page.locator(".chart-now .key")).to_have_text(
        [f"Партия X: {round(x * 100)} %", f"Партия Y: {round(y * 100)} %"]
    )
    at = "() => Number(document.querySelector('.chart .marker circle').getAttribute('cx'))"
    marked = await page.evaluate(at)
    chart = page.locator(".chart")
    box = await chart.bounding_box()
    assert box
    width = (box["width"] - 46 - 22) / len(TURNS)
    assert marked == pytest.approx(46 + 19.5 * width, abs=1)
    await chart.click(position={"x": 46 + 6.5 * width, "y": 60})
    assert await turn_shown(page) == "4W"
    assert await page.evaluate(at) == pytest.approx(46 + 6.5 * width, abs=1)
    await page.keyboard.press("Home")
    await expect(page.locator(".chart .marker circle")).to_have_count(0)


@pytest.mark.parametrize("seat", [pytest.param(A, id="A"), pytest.param(B, id="B")])
async def test_the_curves_and_bars_are_the_figures_of_the_analysis(replay: Replay, seat: Seat) -> None:
    page = await replay(seat=seat, **EN)
    await page.get_by_text("Figures of every round").click()
    rows = await page.locator(".figures-box tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.children].map(cell => cell.textContent))"
    )
    assert len(rows) == 26
    me, them = seat.value, seat.other.value
    for n, row in enumerate(rows):
        phases = TURNS[2 * n : 2 * n + 2]
        chances = []
        for game in "XY":
            half = next((phases[-1][one], one) for one in "AB" if phases[-1][one]["game"] == game)
            chance = half[0]["win"] if half[1] == me else 1 - half[0]["win"]
            whole = round(chance * 100) if chance in (0, 1) else min(99, max(1, round(chance * 100)))
            chances.append(f"{whole}%")
        luck = [sum(phase[one]["luck"] for phase in phases) for one in (me, them)]
        loss = [sum(phase[one]["loss"] for phase in phases) for one in (me, them)]
        signed = [f"{round(n, 2):+.2f}".replace("-", "−") if round(n, 2) else "0.00" for n in luck]
        assert row == [str(n + 1), *chances, *signed, *(f"{n:.3f}" for n in loss)]
    heights = await page.evaluate(
        """() => {
          const bars = (who) => [...document.querySelectorAll(`.chart .bar.loss.${who}`)];
          const heights = (who) => bars(who).map((bar) => bar.getBoundingClientRect().height);
          return { mine: heights('mine'), theirs: heights('theirs') };
        }"""
    )
    for who, one in (("mine", me), ("theirs", them)):
        lost = [sum(phase[one]["loss"] for phase in TURNS[2 * n : 2 * n + 2]) for n in range(26)]
        tallest = max(range(26), key=lambda n: lost[n])
        assert max(heights[who]) / sum(heights[who]) == pytest.approx(lost[tallest] / sum(lost), rel=0.25)


async def test_the_chart_is_drawn_anew_for_another_width(replay: Replay) -> None:
    page = await replay("4W")
    before = await page.locator(".chart").get_attribute("width")
    await page.set_viewport_size({"width": 700, "height": 900})
    await until_true(
        lambda: page.evaluate(f"document.querySelector('.chart').getAttribute('width') !== '{before}'")
    )
    box = await page.locator(".chart-box").bounding_box()
    assert box
    assert float(await page.locator(".chart").get_attribute("width") or 0) == pytest.approx(
        box["width"], abs=1
    )


async def test_a_replay_of_a_match_that_is_not_analysed_says_so_and_works(screens: Screens) -> None:
    staged = Staged(await screens.page(**STILL), screens.url, an_analysed_match(), None)
    staged.analysis = answer("none", reason="no-judge")
    await staged.open("/replay/{id}", until=".review:not([hidden])")
    page = staged.page
    await expect(page.locator(".review .analysis-line > [role=status]")).to_contain_text("нет программы")
    await expect(page.locator(".mistakes")).to_be_hidden()
    await page.keyboard.press("ArrowRight")
    assert await turn_shown(page) == "1W"


# -------------------------------------------------------------------------------- looks

SCREENS = [
    pytest.param({**DESKTOP, **RU, "color_scheme": "light"}, id="desktop, Russian, light"),
    pytest.param({**DESKTOP, **EN, "color_scheme": "dark"}, id="desktop, English, dark"),
    pytest.param({**PHONE, **RU, "color_scheme": "dark"}, id="phone, Russian, dark"),
    pytest.param({**PHONE, **EN, "color_scheme": "light"}, id="phone, English, light"),
]
UNSAID = re.compile(r"\b(analysis|card|result)\.[a-z_.]+|undefined|NaN|null|\{\w+\}")


async def nothing_is_wrong(page: Page, screen: dict[str, Any]) -> None:
    """axe finds nothing, nothing scrolls sideways, all is in words of one language, a finger finds every control."""
    found = (await Axe().run(page)).response["violations"]
    assert [(v["id"], [node["target"] for node in v["nodes"]]) for v in found] == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= screen["viewport"]["width"]
    text = await page.evaluate(
        "document.body.innerText + [...document.querySelectorAll('[aria-label]')].map((e) => e.ariaLabel)"
    )
    assert not UNSAID.search(text), UNSAID.search(text)
    if screen["locale"].startswith("en"):
        assert not re.search("[А-Яа-яЁё]", re.sub("Вера|Глеб|Русский", "", text))
    if "is_mobile" in screen:
        small = await page.evaluate(
            """() => ['.objective', '.worth', '.review', '.replay-bar', '.share']
                 .flatMap((box) => [...document.querySelectorAll(`${box} :is(a, button:not(.link), select)`)])
                 .filter((element) => element.offsetParent)
                 .map((element) => element.getBoundingClientRect())
                 .filter(({ width, height }) => Math.min(width, height) < 39.5)
                 .map(({ width, height }) => [width, height])"""
        )
        assert small == []


@pytest.mark.parametrize("screen", SCREENS)
async def test_the_result_card_is_in_order_on_every_screen(card: Card, screen: dict[str, Any]) -> None:
    staged = await card(**screen)
    await nothing_is_wrong(staged.page, screen)


@pytest.mark.parametrize("screen", SCREENS)
async def test_the_waiting_card_is_in_order_on_every_screen(card: Card, screen: dict[str, Any]) -> None:
    staged = await card(found=answer("running"), **screen)
    await nothing_is_wrong(staged.page, screen)


@pytest.mark.parametrize("screen", SCREENS)
async def test_the_reviewed_replay_is_in_order_on_every_screen(
    replay: Replay, screen: dict[str, Any]
) -> None:
    page = await replay("15W", **screen)
    await page.locator(".play-chip").first.click()
    await page.locator(".figures summary").click()
    await nothing_is_wrong(page, screen)


async def test_on_a_desktop_boards_verdicts_and_buttons_are_on_one_screen(replay: Replay) -> None:
    page = await replay("15W", **{**DESKTOP, **RU})
    bar = await page.locator(".replay-bar").bounding_box()
    for n in range(2):
        worth = await page.locator(".worth").nth(n).bounding_box()
        assert worth is not None
        assert bar is not None
        assert worth["y"] + worth["height"] <= bar["y"] + 1


async def test_nothing_moves_from_step_to_step(replay: Replay) -> None:
    page = await replay("1W", **{**PHONE, **RU})
    places = set()
    for _ in range(30):
        places.add(
            await page.evaluate("document.querySelector('.review').getBoundingClientRect().top + scrollY")
        )
        await page.keyboard.press("ArrowRight")
    assert max(places) - min(places) < 1


# -------------------------------------------------------------------------------- the share card


def a_picture() -> bytes:
    """One grey pixel as PNG."""
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"\0\x80")),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )


@asynccontextmanager
async def share(staged: Staged, status: int = 200) -> AsyncIterator[Any]:
    """The dialog, open; its picture comes from the test."""

    async def picture(route: Route) -> None:
        await route.fulfill(status=status, body=a_picture(), content_type="image/png")

    await staged.page.route("**/card.png*", picture)
    await staged.page.get_by_role("button", name=re.compile("^(Поделиться|Share)$")).click()
    yield staged.page.get_by_role("dialog")


@pytest.mark.parametrize("screen", SCREENS)
async def test_the_card_to_be_shared_is_in_order_on_every_screen(card: Card, screen: dict[str, Any]) -> None:
    staged = await card(**screen)
    async with share(staged) as dialog:
        await expect(dialog.locator("img")).to_be_visible()
        await nothing_is_wrong(staged.page, screen)


async def test_the_card_is_shown_downloaded_and_its_link_copied(card: Card) -> None:
    staged = await card(**EN, permissions=["clipboard-read", "clipboard-write"])
    async with share(staged) as dialog:
        await expect(dialog.locator("img")).to_have_attribute(
            "alt", "Card of the match: Вера and Глеб, score +93 : −93"
        )
        for kind in ("png", "svg"):
            link = dialog.get_by_role("link", name=f"Download {kind.upper()}")
            await expect(link).to_have_attribute("href", f"/api/matches/m-0001/card.{kind}?lang=en")
            await expect(link).to_have_attribute("download", f"nardy-m-0001.{kind}")
        await dialog.get_by_role("button", name="Copy the link").click()
        await expect(dialog.get_by_role("status")).to_have_text("The link is copied.")
        assert await staged.page.evaluate("navigator.clipboard.readText()") == f"{staged._url}/match/m-0001"
        await dialog.get_by_role("button", name="Copy the picture").click()
        await expect(dialog.get_by_role("status")).to_have_text("The picture is copied.")
        types = await staged.page.evaluate(
            "navigator.clipboard.read().then(items => items.flatMap(item => item.types))"
        )
        assert types == ["image/png"]
        await staged.page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)


async def test_the_picture_is_passed_to_the_devices_own_way_of_sharing(card: Card) -> None:
    staged = await card()
    await staged.page.evaluate(
        """() => {
          navigator.canShare = ({ files }) => files?.[0]?.type === 'image/png';
          navigator.share = async ({ url, text, files }) => { window.shared = { url, text, file: files[0].name }; };
        }"""
    )
    async with share(staged) as dialog:
        await dialog.get_by_role("button", name="Отправить").click()
        assert await staged.page.evaluate("window.shared") == {
            "url": f"{staged._url}/match/m-0001",
            "text": "Карточка матча: Вера и Глеб, счёт +93 : −93",
            "file": "nardy-m-0001.png",
        }


async def test_a_card_that_cannot_be_drawn_is_said_in_words(card: Card) -> None:
    staged = await card()
    async with share(staged, status=503) as dialog:
        await expect(dialog.get_by_role("alert")).to_have_text("Нарисовать карточку не получилось.")
        await expect(dialog.get_by_role("button", name="Скопировать картинку")).to_be_disabled()
        await expect(dialog.get_by_role("button", name="Скопировать ссылку")).to_be_enabled()


INK = """async (data) => {
  const image = new Image();
  image.src = `data:image/png;base64,${data}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const pen = canvas.getContext('2d');
  pen.drawImage(image, 0, 0);
  const ground = pen.getImageData(0, 0, 1, 1).data.join();
  const inked = (x, y, width, height) => {
    const { data } = pen.getImageData(x, y, width, height);
    for (let i = 0; i < data.length; i += 4) if (data.subarray(i, i + 4).join() !== ground) return true;
    return false;
  };
  // left and right margin, the gap between the names, and the left name's own row
  return [inked(0, 0, 56, 630), inked(1144, 0, 56, 630), inked(566, 140, 68, 60), inked(300, 140, 260, 60)];
}"""


@pytest.mark.parametrize("name", ["Ж" * 40, "W" * 24, "👑" * 24, "Шƕ@" * 12, "Ա" * 24, "Вера"])
async def test_every_name_keeps_to_its_room_on_the_picture(screens: Screens, name: str) -> None:
    card = Drawn(
        players=Seats(Player(name), Player(name)),
        outcome="finished",
        winner=A,
        points=Seats(1234, -1234),
        games=(Ended("-"), Ended("K", "koks")),
        preset="objective",
        finished_at=0,
        parted=1,
        rounds=26,
        objective=Objective(3.4, 4.1, -0.7),
        address="a-rather-long-name-of-a-club.nardy.example:8443/match/k3fA9bQz01",
    )
    page = await screens.page()
    await page.goto("/rules")
    png = b64encode(await png_of(draw(card, "ru"))).decode()
    assert await page.evaluate(INK, png) == [False, False, False, True]

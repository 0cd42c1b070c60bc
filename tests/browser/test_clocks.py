"""What the clocks show: the server's time, whatever the browser's own clock says and however slow the line is."""

from __future__ import annotations

import asyncio
import contextlib
import re
import statistics
from collections.abc import Callable
from typing import Any

import pytest
from playwright.async_api import Page, Route, WebSocketRoute, expect

from engine.turn import Seat
from tests.browser.conftest import Stage
from tests.browser.hand import Hand
from tests.browser.screens import PHONE, STILL, Screens, until
from tests.browser.staged import Staged
from tests.builders import A, B, Table, a_phase, rules
from tests.support.server import LiveServer, first_way, seated

START = "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2"
NO_DELAY = {"clock": {"delay_ms": 0}}

# A browser whose clock is wrong by so many ms.
WRONG_CLOCK = """
const Right = Date;
const wrong = %d;
globalThis.Date = class extends Right {
  constructor(...given) { given.length ? super(...given) : super(Right.now() + wrong); }
  static now() { return Right.now() + wrong; }
};
"""


async def lag(page: Page, one_way_s: float) -> None:
    """Everything takes so long to and from the server."""
    loop = asyncio.get_running_loop()

    def connected(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def later(send: Callable[[str | bytes], None]) -> Callable[[str | bytes], None]:
            return lambda text: void(loop.call_later(one_way_s, send, text))

        socket.on_message(later(server.send))
        server.on_message(later(socket.send))

    async def slow(route: Route) -> None:
        await asyncio.sleep(2 * one_way_s)
        await route.continue_()

    await page.route_web_socket("**/ws/matches/*", connected)
    await page.route("**/healthz", slow)


def void(_: object) -> None:
    """Nothing: a listener's answer is not waited for."""


async def shown(page: Page, band: str = "me") -> int:
    """The ms that a clock stands for; its figures are these, cut to seconds."""
    ms, text = await page.locator(f".band.{band} .clock").evaluate(
        "clock => [Number(clock.dataset.ms), clock.querySelector('.figures').textContent]"
    )
    minutes, seconds = text.split(":")
    assert abs(int(minutes) * 60_000 + float(seconds) * 1000 - ms) <= 1000
    return int(ms)


async def test_clocks_are_right_with_a_wrong_browser_clock_and_a_slow_line(
    live: LiveServer, screens: Screens
) -> None:
    """CASES E3"""
    async with seated(live, NO_DELAY) as (match, anna, boris, _a, _b):
        pages = {}
        for seat, player, wrong, one_way_ms in ((Seat.A, anna, 5_000, 150), (Seat.B, boris, -5_000, 300)):
            pages[seat] = page = await screens.page(somebody=player, **STILL)
            await page.add_init_script(WRONG_CLOCK % wrong)
            await lag(page, one_way_ms / 1000)
            await page.goto(f"/match/{match}")
        for page in pages.values():
            await page.wait_for_selector(".band.me .clock.running")
        for seat, page in pages.items():
            view = await live.services.matches.view(match, seat)
            for band, whose in (("me", seat), ("them", seat.other)):
                off = [1_000.0]
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(10):  # three round trips are measured, on a busy machine too
                        while abs(statistics.median(off)) > 250:
                            off = [
                                await behind(live, page, band, view.seats[whose].flag_at) for _ in range(7)
                            ]
                assert abs(statistics.median(off)) <= 250, (seat, band, off)


async def behind(live: LiveServer, page: Page, band: str, flag_at: int) -> float:
    """By how many ms a clock differs from the server's just now."""
    await asyncio.sleep(0.06)
    before = live.services.now()
    ms = await shown(page, band)
    return flag_at - (before + live.services.now()) / 2 - ms


async def test_the_time_of_a_browser_has_no_effect(live: LiveServer, screens: Screens) -> None:
    """CASES E4"""
    async with seated(live, NO_DELAY) as (match, anna, _boris, a, _b):
        page = await screens.page(somebody=anna, **STILL)
        await page.add_init_script(WRONG_CLOCK % (24 * 3_600_000))
        await page.goto(f"/match/{match}")
        await page.wait_for_selector(".stage .hit.source")
        await page.evaluate(
            """() => {
              const send = WebSocket.prototype.send;
              window.frames_sent = [];
              WebSocket.prototype.send = function (text) {
                window.frames_sent.push(JSON.parse(text));
                send.call(this, text);
              };
            }"""
        )
        moves = " ".join(f"{start}/{end}" for start, end in first_way(a.view["mine"]["steps"]))
        await Hand(page).write(moves)
        await page.locator('[data-act="done"]').click()
        await expect(page.locator("#prompt")).to_have_text("Ваш ход сделан. Ждём соперника.")
        sent = [frame for frame in await page.evaluate("window.frames_sent") if frame["type"] == "play"]
        assert [sorted(frame) for frame in sent] == [["id", "moves", "turn", "type"]]
        view = await a.until_view(lambda v: v["seats"]["A"]["state"] == "played")
        assert 0 <= view["seats"]["A"]["charged_ms"] < 60_000
        assert 180_000 < view["seats"]["A"]["bank_ms"] <= 240_000


# ------------------------------------------------------------------------------------------------ running and standing


def a_table(banks: tuple[int, int] = (240_000, 240_000), **changes: Any) -> Table:
    return a_phase("3W", "6-2", x=START, y=START, banks=banks, ruleset=rules(**changes))


def clock(staged: Staged, band: str = "me") -> Any:
    return staged.page.locator(f".band.{band} .clock")


async def test_a_running_clock_is_marked_by_shape_and_free_seconds_and_a_standing_one_is_not(
    deal: Stage,
) -> None:
    staged = await deal(a_table(), **STILL)
    for band in ("me", "them"):
        await expect(clock(staged, band)).to_have_class(re.compile("running"))
        await expect(clock(staged, band).locator(".run")).to_be_visible()
        await expect(clock(staged, band).locator(".free")).to_have_text(re.compile(r"^\+(1[012]|[5-9])$"))
        await expect(clock(staged, band).locator(".figures")).to_have_text("4:00")
    await staged.hand.drag(13, 5)
    await staged.hand.press("done")
    await expect(clock(staged)).to_have_class(re.compile("still"))
    await expect(clock(staged).locator(".run")).to_be_hidden()
    await expect(clock(staged).locator(".free")).to_have_text("")
    await expect(clock(staged, "them")).to_have_class(re.compile("running"))


async def test_the_free_seconds_go_first_and_then_the_bank(deal: Stage) -> None:
    staged = await deal(a_table(), **STILL)
    assert await shown(staged.page) == 240_000
    staged.pass_time(6_000)
    await staged.say(f'{{"type":"ping","now":{staged.now()},"ping":901}}')
    await expect(clock(staged).locator(".free")).to_have_text(re.compile(r"^\+[1-6]$"))
    assert await shown(staged.page) == 240_000
    staged.pass_time(61_000)
    await staged.say(f'{{"type":"ping","now":{staged.now()},"ping":902}}')
    await expect(clock(staged).locator(".free")).to_have_text("")
    assert 170_000 < await shown(staged.page) <= 185_000


@pytest.mark.parametrize("screen", [pytest.param({}, id="desktop"), pytest.param(PHONE, id="phone")])
async def test_a_clock_keeps_its_width_whatever_it_shows(deal: Stage, screen: dict[str, Any]) -> None:
    widths = set()
    for bank, ahead in ((240_000, 0), (240_000, 13_000), (20_000, 13_000), (9_999, 13_000)):
        staged = await deal(a_table((bank, bank)), **screen, **STILL)
        staged.pass_time(ahead)
        await staged.say(f'{{"type":"ping","now":{staged.now()},"ping":903}}')
        await staged.page.wait_for_timeout(150)
        box = await clock(staged, "them").bounding_box()
        assert box is not None
        widths.add(round(box["width"]))
    await staged.other_plays("13/7 13/11")
    await expect(clock(staged, "them")).to_have_class(re.compile("still"))
    box = await clock(staged, "them").bounding_box()
    assert box is not None
    assert widths == {round(box["width"])}


async def test_a_clock_never_shows_less_than_nothing(deal: Stage) -> None:
    staged = await deal(a_table((1_500, 240_000), **NO_DELAY), **STILL, answers=False)
    await staged.page.evaluate(
        """() => {
          window.seen = [];
          const clock = document.querySelector('.band.me .clock');
          window.watching = setInterval(() => window.seen.push([Number(clock.dataset.ms), clock.textContent]), 20);
        }"""
    )
    await staged.page.wait_for_timeout(2_200)
    await staged.page.evaluate("clearInterval(window.watching)")
    seen = await staged.page.evaluate("window.seen")
    assert min(ms for ms, _ in seen) == 0
    assert seen[-1][1] == "0:00.0"
    assert not any("-" in text or "−" in text for _, text in seen)


# ---------------------------------------------------------------------------------------------- a tab that was hidden

HIDE = """hidden => {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
  Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => hidden ? 'hidden' : 'visible' });
  document.dispatchEvent(new Event('visibilitychange'));
}"""

SLEEP = """ms => {  // the wall clock goes on, performance.now() has stood still
  const now = Date.now;
  Date.now = () => now() + ms;
}"""


async def test_a_tab_that_was_hidden_long_is_right_within_a_second(screens: Screens) -> None:
    """CASES E9"""
    page = await screens.page(**STILL)
    await page.clock.install(time="2001-01-01")  # a wrong clock besides
    staged = Staged(page, screens.url, a_table(**NO_DELAY), A)
    await staged.open()
    await page.wait_for_selector(".clock.running")
    await page.evaluate(HIDE, True)
    await page.clock.fast_forward(60_000)  # what timers there are run once
    staged.pass_time(60_000)
    await page.evaluate(HIDE, False)
    await page.wait_for_timeout(700)
    assert await off_by(staged) <= 1000


async def test_coming_back_to_a_tab_does_not_change_its_clock(stage: Stage) -> None:
    staged = await stage(a_table(**NO_DELAY), **STILL)
    await staged.page.wait_for_selector(".clock.running")
    for hidden in (True, False):
        await staged.page.evaluate(HIDE, hidden)
    await staged.page.wait_for_timeout(250)
    assert await off_by(staged) <= 250


async def test_a_computer_that_slept_is_right_within_a_second_of_waking(stage: Stage) -> None:
    staged = await stage(a_table(**NO_DELAY), **STILL)
    page = staged.page
    await page.wait_for_selector(".clock.running")
    await page.evaluate(HIDE, True)
    await page.evaluate(SLEEP, 60_000)
    staged.pass_time(60_000)
    staged.refusing = True  # the network is not awake yet
    await page.evaluate(HIDE, False)
    await page.wait_for_timeout(700)
    assert await off_by(staged) <= 1000
    staged.pass_time(-2_000)  # sleep was guessed too long: the next frame puts it right
    staged.refusing = False
    await page.evaluate("dispatchEvent(new Event('online'))")
    await until(lambda: staged.opened == 2)
    await page.wait_for_timeout(150)
    assert await off_by(staged) <= 250


async def off_by(staged: Staged) -> float:
    """How far my clock is from the server's, whose time goes on while the page is asked."""
    flag_at, asked = staged.table.match.shown_at + 240_000, staged.now()
    mine = await shown(staged.page)
    return max(0, mine - (flag_at - asked), flag_at - staged.now() - mine)


async def test_both_clocks_may_run_and_only_the_thinking_player_is_charged(deal: Stage) -> None:
    staged = await deal(a_table(**NO_DELAY), B, **STILL)
    await staged.other_plays("13/7 13/11")
    await expect(clock(staged, "them")).to_have_class(re.compile("still"))
    theirs, mine = await shown(staged.page, "them"), await shown(staged.page)
    await until(lambda: staged.now() > staged.table.match.shown_at + 1_500)
    await staged.page.wait_for_timeout(200)
    assert await shown(staged.page, "them") == theirs
    assert await shown(staged.page) < mine

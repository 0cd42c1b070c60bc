"""Who goes, who waits, who comes back: what both see of absences, flags, pauses, reloads and lines that break."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, WebSocket, WebSocketRoute, expect

from engine.match import AddTime, OrderPause, Resume, Tick
from engine.turn import Seat
from tests.browser.conftest import Stage
from tests.browser.hand import Hand
from tests.browser.screens import DESKTOP, EN, PHONE, RU, STILL, Screens, until
from tests.browser.staged import Staged
from tests.builders import A, B, Table, a_phase, rules
from tests.support.server import Display, LiveServer, Person, owes, running_server, seated

START = "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2"
SCREENS = [
    pytest.param({**DESKTOP, **RU, **STILL}, id="desktop, Russian"),
    pytest.param({**DESKTOP, **EN, **STILL}, id="desktop, English"),
    pytest.param({**PHONE, **RU, **STILL}, id="phone, Russian"),
    pytest.param({**PHONE, **EN, **STILL}, id="phone, English"),
]

HIDE = """hidden => {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event('visibilitychange'));
}"""

# Which of the texts of a band lie on each other.
OVERLAPS = """band => {
  const seen = [...band.querySelectorAll('.name, .state, .pips b, .pips span, .clock')]
    .filter((part) => part.checkVisibility({ visibilityProperty: true }) && part.textContent);
  const box = (part) => {
    const range = document.createRange();
    range.selectNodeContents(part);
    return part.matches('.clock') ? part.getBoundingClientRect() : range.getBoundingClientRect();
  };
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
  return seen.flatMap((one, i) => seen.slice(i + 1).filter((other) => meet(box(one), box(other)))
    .map((other) => `${one.textContent} / ${other.textContent}`));
}"""


def a_table(**more: Any) -> Table:
    """A match in its third round."""
    return a_phase("3W", "6-2", x=START, y=START, **more)


def russian(staged: dict[str, Any]) -> bool:
    return bool(staged["locale"] == RU["locale"])


async def prompt(page: Page, text: str | re.Pattern[str], patience_ms: float = 8_000) -> None:
    await expect(page.locator("#prompt")).to_have_text(text, timeout=patience_ms)


async def badge(page: Page, text: str) -> None:
    await expect(page.locator("#line-state")).to_have_text(text, timeout=10_000)


async def play_a_phase(a: Display, b: Display) -> None:
    """Both play; then a match is not aborted any more."""
    turn = a.view["turn"]
    for display in (a, b):
        if owes(display.view):
            await display.play_something()
    for display in (a, b):
        await display.until_view(lambda v: v["turn"] != turn)


# ---------------------------------------------------------------------------------------------------------- absence


@pytest.mark.parametrize("screen", SCREENS)
async def test_an_absence_and_how_long_it_is_waited_for_can_be_read(
    stage: Stage, screen: dict[str, Any]
) -> None:
    staged = await stage(a_table(), **screen)
    band = staged.page.locator(".band.them")
    staged.table.leave(B, after=staged.now() - staged.table.match.shown_at)
    await staged.show()
    words = r"нет связи, ждём (1:5\d|2:00)" if russian(screen) else r"reconnecting, (1:5\d|2:00) left"
    await expect(band.locator(".state")).to_have_text(re.compile(f"^{words}$"))
    assert await band.evaluate(OVERLAPS) == []


async def test_the_seconds_of_an_absence_run_to_nothing_and_no_further(stage: Stage) -> None:
    staged = await stage(a_table(ruleset=rules(absence_s=3)), **DESKTOP, **RU, **STILL)
    state = staged.page.locator(".band.them .state")
    staged.table.leave(B, after=staged.now() - staged.table.match.shown_at)
    await staged.show()
    for left in ("0:0[23]", "0:01", "0:00"):
        await expect(state).to_have_text(re.compile(f"^нет связи, ждём {left}$"))
    await staged.page.wait_for_timeout(1_100)
    await expect(state).to_have_text("нет связи, ждём 0:00")


@pytest.mark.parametrize("screen", SCREENS)
async def test_of_a_player_who_goes_after_his_play_both_are_told(deal: Stage, screen: dict[str, Any]) -> None:
    staged = await deal(a_table(), **screen)
    band = staged.page.locator(".band.them")
    await staged.other_plays("13/7 13/11")
    staged.table.leave(B, after=1000)
    await staged.show()
    words = "ход сделан, нет связи" if russian(screen) else "has played, offline"
    await expect(band.locator(".state")).to_have_text(words)
    assert await band.evaluate(OVERLAPS) == []


async def test_an_absence_is_said_if_it_lasts_and_so_is_the_return(screens: Screens) -> None:
    page = await screens.page(**STILL)
    await page.clock.install()
    staged = Staged(page, screens.url, a_table(), A)
    await staged.open()
    await prompt(page, "Ваши зары 6-2. Выберите шашку.")
    said = await everything_said(page)
    for after, gone_ms in ((1000, 1500), (3000, 3500)):  # a reload of his page is not worth a word
        staged.table.leave(B, after=after)
        await staged.show()
        await expect(page.locator(".band.them .state")).to_contain_text("нет связи")
        await page.clock.fast_forward(gone_ms)
        staged.table.back(B, after=after + 1)
        await staged.show()
        await expect(page.locator(".band.them .state")).to_contain_text("думает")
    words = [text for text in await said() if "Соперник" in text]
    assert len(words) == 2
    assert re.fullmatch(r"Соперник без связи\. Если не вернётся за 1:5\d, матч закончится\.", words[0])
    assert words[1] == "Соперник снова на связи."


async def everything_said(page: Page) -> Any:
    """From now on, each text of the line that says what is next."""
    await page.evaluate(
        """() => {
          const line = document.querySelector('#prompt');
          window.said = [];
          new MutationObserver(() => window.said.push(line.textContent)).observe(line, { childList: true });
        }"""
    )

    async def said() -> list[str]:
        return list(await page.evaluate("window.said"))

    return said


async def test_an_absent_opponent_is_waited_for_until_the_match_ends_without_him(
    live: LiveServer, screens: Screens
) -> None:
    async with seated(live, {"absence_s": 6}) as (match, anna, boris, a, b):
        await play_a_phase(a, b)
        page, theirs = await screens.page(somebody=anna, **STILL), await screens.page(somebody=boris, **STILL)
        await theirs.goto(f"/match/{match}")
        await page.goto(f"/match/{match}")
        state = page.locator(".band.them .state")
        await b.connection.close()
        await theirs.wait_for_selector(".stage .hit.source")
        await expect(state).to_contain_text("думает")

        await theirs.close()
        await expect(state).to_have_text(re.compile(r"^нет связи, ждём 0:0[456]$"), timeout=2_000)
        await expect(state).to_have_text(re.compile(r"^нет связи, ждём 0:0[34]$"))
        async with boris.display(match):
            await expect(state).to_contain_text("думает")
            await expect(page.locator(".doing")).not_to_contain_text("нет связи")
        await expect(state).to_have_text(
            re.compile(r"^нет связи, ждём 0:0\d$")
        )  # what is left of the patience

        await expect(page.locator(".result h1")).to_have_text("Вы выиграли матч", timeout=12_000)
        await expect(page.locator(".how")).to_contain_text("Соперник не вернулся.")
        assert a.view["result"]["outcome"] == "abandoned"
        theirs = await screens.page(somebody=boris, **PHONE, **EN)
        await theirs.goto(f"/match/{match}")
        await expect(theirs.locator(".result h1")).to_have_text("You have lost the match")
        await expect(theirs.locator(".how")).to_contain_text("You were away for too long.")


# ------------------------------------------------------------------------------------------- with nobody connected


# What the match was made with, whether a phase has been played, who goes; and what both find when they come back.
UNATTENDED: dict[str, tuple[dict[str, Any], bool, tuple[str, str], tuple[str, str]]] = {
    "abandoned": (
        {"absence_s": 1},
        True,
        ("Вы проиграли матч", "Вас слишком долго не было на связи."),
        ("You have won the match", "Your opponent did not come back."),
    ),
    "time": (
        {"grace_s": 0, "clock": {"bank_ms": 2_000, "delay_ms": 0}},
        True,
        ("Вы проиграли матч", "У вас вышло время."),
        ("You have won the match", "Your opponent has run out of time."),
    ),
    "aborted": (
        {"absence_s": 1},
        False,
        ("Матч прерван", "Вы не сделали первого хода: ни счёта, ни рейтинга."),
        ("Match aborted", "Your opponent did not make the first play: no score, no rating."),
    ),
}


async def test_matches_end_with_nobody_connected_and_both_come_back_to_their_results(
    live: LiveServer, screens: Screens
) -> None:
    pages = await screens.page(**DESKTOP, **RU, **STILL), await screens.page(**PHONE, **EN, **STILL)
    async with contextlib.AsyncExitStack() as open_matches:

        async def left_alone(outcome: str) -> tuple[str, tuple[Person, Person], Any]:
            ruleset, has_begun, *_ = UNATTENDED[outcome]
            match, anna, boris, a, b = await open_matches.enter_async_context(seated(live, ruleset))
            if has_begun:
                await play_a_phase(a, b)
            if outcome == "time":  # B owes nothing: it is A's time that runs
                await b.play_something()
            await a.connection.close()
            await b.until_view(lambda v: not v["seats"]["A"]["connected"])
            await b.connection.close()
            while (view := await live.services.matches.view(match, None)).stage != "over":
                await asyncio.sleep(0.05)
            return match, (anna, boris), view.result

        async with asyncio.timeout(15):
            ended = await asyncio.gather(*map(left_alone, UNATTENDED))
        for outcome, (match, people, result) in zip(UNATTENDED, ended, strict=True):
            assert (result.outcome, result.by) == (outcome, "A")
            for page, somebody, (title, how) in zip(pages, people, UNATTENDED[outcome][2:], strict=True):
                await screens.become(page, somebody)
                await page.goto(f"/match/{match}")
                await expect(page.locator(".result h1")).to_have_text(title)
                await expect(page.locator(".how")).to_contain_text(how)
                if outcome == "aborted":
                    assert result.rated is False
                    await expect(page.locator(".result .score")).to_have_text("0 : 0")


async def test_both_gone_and_both_back_in_time_go_on_as_if_nothing_had_been(
    live: LiveServer, screens: Screens
) -> None:
    async with seated(live, {"absence_s": 120}) as (match, anna, boris, a, b):
        await play_a_phase(a, b)
        roll = "-".join(map(str, a.view["roll"]))
        pages = [await screens.page(somebody=person, **STILL) for person in (anna, boris)]
        for display in (a, b):
            await display.connection.close()
        for page in pages:
            await page.goto(f"/match/{match}")
            await page.wait_for_selector(".stage .board")
        for page in pages:
            await expect(page.locator(".doing")).not_to_contain_text("нет связи")
            await expect(page.locator(".record .open td:nth-child(2)")).to_have_text(roll)
            await expect(page.locator(".result")).to_have_count(0)


# ------------------------------------------------------------------------------------------------------------ flags


async def test_the_flag_falls_before_an_open_browser_that_never_shows_less_than_nothing(
    live: LiveServer, screens: Screens
) -> None:
    async with seated(live, {"clock": {"bank_ms": 4_000, "delay_ms": 0}}) as (match, anna, _boris, a, b):
        page = await screens.page(somebody=anna, **STILL)
        await page.add_init_script(
            """window.seen = [];
            setInterval(() => document.querySelectorAll('.clock').forEach((clock) =>
              window.seen.push([Number(clock.dataset.ms ?? 0), clock.textContent])), 20);"""
        )
        await play_a_phase(a, b)
        await b.play_something()
        await page.goto(f"/match/{match}")
        await expect(page.locator(".result h1")).to_have_text("Вы проиграли матч", timeout=12_000)
        await expect(page.locator(".how")).to_contain_text("У вас вышло время.")
        seen = await page.evaluate("window.seen")
        assert all(ms >= 0 and not re.search("[-−]", text) for ms, text in seen)
        frames = [frame for frame in a.frames if frame["type"] == "view"]
        assert all(
            (v["seats"][s]["bank_ms"] or 0) >= 0 for v in (f["view"] for f in frames) if v for s in "AB"
        )
        assert a.view["result"]["outcome"] == "time"


# ----------------------------------------------------------------------------------------------------------- pauses


async def order_pause(live: LiveServer, match: str, reason: str) -> None:
    """What an arbiter's order does in the live server."""
    matches = live.services.matches
    async with matches._using(match) as room, room.lock:
        await matches._carry_out(room, lambda at: OrderPause("Судья", reason, at))


async def test_a_pause_is_seen_by_all_lets_nobody_move_and_ends_by_itself(
    live: LiveServer, screens: Screens
) -> None:
    async with seated(live, {"pause_max_s": 5}) as (match, anna, boris, a, b):
        pages = []
        for person, screen in (
            (anna, {**DESKTOP, **RU}),
            (boris, {**PHONE, **EN}),
            (None, {**DESKTOP, **RU}),
        ):
            pages.append(await screens.page(somebody=person, **screen, **STILL))
            await pages[-1].goto(f"/match/{match}")
            await pages[-1].wait_for_selector(".stage .board")
        await order_pause(live, match, "свет погас")
        assert a.view["stage"] == "playing"  # from the phase's end
        for display in (a, b):
            await display.play_something()
            turn = display.view["turn"]
        await a.until_view(lambda v: v["stage"] == "paused")
        for page, title, left in (
            (pages[0], "Матч на паузе", "ещё не дольше"),
            (pages[1], "The match is paused", "at most"),
        ):
            box = page.locator(".announce.pause")
            await expect(box).to_be_visible()
            await expect(box).to_contain_text(title)
            await expect(box).to_contain_text("свет погас")
            await expect(box).to_contain_text(re.compile(rf"{left} 0:0[0-5]"))
            await expect(page.locator(".clock.running")).to_have_count(0)
        await expect(pages[0].locator(".stage .hit.source")).to_have_count(0)
        await prompt(pages[0], "Матч на паузе: свет погас. Часы стоят; матч продолжится сам.")
        refused = await a.play([], turn)
        assert refused["problem"]["code"] == "match-paused", refused
        for page in pages:
            await expect(page.locator(".announce.pause").first).to_be_hidden(timeout=10_000)
        await expect(pages[0].locator(".band.me .seat")).to_have_text("Вы — чёрные")
        await expect(pages[0].locator(".stage .hit.source").first).to_be_attached()


@pytest.mark.parametrize(
    ("seat", "screen"),
    [
        pytest.param(A, SCREENS[0].values[0], id="player"),
        pytest.param(None, SCREENS[3].values[0], id="spectator"),
    ],
)
async def test_a_second_pause_is_seen_as_the_first_was_and_its_time_counts_down(
    stage: Stage, seat: Seat | None, screen: dict[str, Any]
) -> None:
    staged = await stage(a_table(ruleset=rules(pause_max_s=40)), seat, **screen)
    page, table = staged.page, staged.table
    box = page.locator(".announce.pause").first
    for _ in range(2):
        turn = table.turn
        table.do(OrderPause("Судья", "Fire alarm.", staged.now()))
        table.play_phase(after=staged.now() - table.match.shown_at)
        table.do(Tick(staged.now()))
        await staged.show()
        await expect(box).to_be_visible()
        await expect(box).to_contain_text("Fire alarm.")
        await expect(box).to_contain_text(re.compile(r" 0:(40|3\d)"))
        await expect(box).to_contain_text(re.compile(r" 0:3[0-8]"))
        await expect(page.locator(".record .open")).to_have_count(0)  # no phase is open
        table.do(Resume("Судья", "It was a drill.", staged.now()))
        table.do(Tick(staged.now()))
        assert table.turn != turn
        await staged.show()
        await expect(box).to_be_hidden()
        await expect(page.locator(".record .open")).to_have_count(1)


# ---------------------------------------------------------------------------------------------------------- reloads


async def test_twenty_reloads_in_the_middle_of_a_play_change_nothing(
    live: LiveServer, screens: Screens
) -> None:
    async with seated(live) as (match, anna, boris, a, b):
        page = await screens.page(somebody=anna, **STILL)
        opponent = await screens.page(somebody=boris, **STILL)
        await opponent.goto(f"/match/{match}")
        await opponent.wait_for_selector(".stage .hit.source")
        said = await everything_said(opponent)
        lines: list[list[Any]] = []
        page.on("websocket", lambda socket: lines.append(frames_of(socket)))
        await page.goto(f"/match/{match}")
        await page.wait_for_selector(".stage .hit.source")
        await a.connection.close()
        source = a.view["mine"]["steps"][0][0][0]
        await Hand(page).click(source)
        await until(lambda: lines[0][-1]["type"] == "view" and lines[0][-1]["view"]["mine"]["draft"])
        kept = lines[0][-1]["view"]
        for number in range(1, 21):
            await page.reload(wait_until="commit")
            await page.wait_for_selector(".stage .draft .to")
            assert len(lines) == number + 1
            [first] = [frame for frame in lines[-1] if frame["type"] == "view"]
            assert first["info"]["seat"] == "A"
            assert first["view"]["mine"]["draft"] == kept["mine"]["draft"]
            assert first["view"] == kept
        view = await b.until_view(lambda v: v["seats"]["A"]["connected"])
        assert view["seats"]["A"]["away_until"] is None
        await expect(opponent.locator(".band.them .state")).to_contain_text("думает")
        assert [text for text in await said() if "связи" in text] == []
        room = live.services.matches._rooms[match]
        await until(lambda: len(room.displays) == 3)  # Anna's page, Boris's page, and his other tab
        assert view["record"] == []


def frames_of(socket: WebSocket) -> list[Any]:
    """All that comes over it, as it comes."""
    frames: list[Any] = []
    socket.on("framereceived", lambda text: frames.append(json.loads(text)))
    return frames


# ----------------------------------------------------------------------------------------------- lines that break

# A browser in which no connection comes to stand; when each was tried is noted.
NO_LINE = """
window.tried = [];
window.WebSocket = class {
  static CONNECTING = 0; static OPEN = 1; static CLOSING = 2; static CLOSED = 3;
  constructor() {
    this.readyState = 0;
    window.tried.push(performance.now());
    setTimeout(() => { this.readyState = 3; this.onclose?.({ code: 1006 }); });
  }
  close() { this.readyState = 3; }
};
"""


async def test_waiting_for_the_line_grows_is_bounded_and_is_not_the_same_for_all(screens: Screens) -> None:
    gaps = []
    page = await screens.page()
    await page.clock.install()
    await page.add_init_script(NO_LINE)
    for _ in range(3):
        await page.goto("/rules")
        await page.evaluate(
            """async () => {
              const { Connection } = await import('/static/js/socket.js');
              window.line = new Connection('m-0001');
              window.line.open();
            }"""
        )
        await page.clock.run_for(90_000)
        tried = await page.evaluate("window.tried")
        gaps.append([after - before for before, after in itertools.pairwise(tried)])
    for waits in gaps:
        assert len(waits) > 12
        for number, wait in enumerate(waits):
            longest = min(8_000, 400 * 2**number)
            assert longest / 2 - 5 <= wait <= longest + 50, (number, wait)
    third = {round(waits[5] / 20) for waits in gaps}
    assert len(third) > 1, "each waits as chance will have it"

    async def tries(what: str, argument: Any = None) -> int:
        before = len(await page.evaluate("window.tried"))
        await page.evaluate(what, argument)
        return len(await page.evaluate("window.tried")) - before

    await page.clock.pause_at(await page.evaluate("Date.now() + 60_000"))
    await page.clock.run_for(1)
    assert await tries("dispatchEvent(new Event('online'))") == 1
    await page.clock.run_for(1)
    assert await tries(HIDE, True) == 0
    assert await tries(HIDE, False) == 1
    await page.clock.run_for(401)
    assert len(await page.evaluate("window.tried.filter((at) => at > performance.now() - 402)")) >= 2


async def test_a_browser_that_was_offline_is_back_at_once_though_its_socket_never_closed(
    stage: Stage,
) -> None:
    staged = await stage(a_table(), **STILL)
    page = staged.page
    await badge(page, "на связи")
    await page.context.set_offline(True)
    await badge(page, "нет связи")
    await page.context.set_offline(False)
    await expect(page.locator("#line-state")).to_have_text("на связи", timeout=2_000)
    await page.evaluate("dispatchEvent(new Event('offline'))")  # of a network that the match does not need
    await badge(page, "нет связи")
    await staged.hand.drag(13, 5)
    await staged.hand.press("done")
    await prompt(page, "Нет связи. Ход ещё не отправлен: отправим, как только подключимся.")
    opened = staged.opened
    await staged.say(f'{{"type":"ping","now":{staged.now()},"ping":901}}')  # it carries
    await badge(page, "на связи")
    await prompt(page, "Ваш ход сделан. Ждём соперника.")
    assert staged.opened == opened
    assert len(staged.plays()) == 1


async def test_after_a_line_that_was_dead_without_a_word_the_first_frame_tells_everything(
    live: LiveServer, screens: Screens
) -> None:
    async with seated(live) as (match, anna, _boris, a, b):
        page = await screens.page(somebody=anna, **STILL)
        await page.clock.install()
        dead = False
        lines: list[list[str]] = []

        def connected(socket: WebSocketRoute) -> None:
            server = socket.connect_to_server()
            received: list[str] = []
            number = len(lines)
            lines.append(received)

            def to_page(text: str | bytes) -> None:
                if not (dead and number == 0):
                    received.append(str(text))
                    socket.send(text)

            socket.on_message(lambda text: None if dead and number == 0 else server.send(text))
            server.on_message(to_page)

        await page.route_web_socket("**/ws/matches/*", connected)
        await page.goto(f"/match/{match}")
        await page.wait_for_selector(".stage .hit.source")
        await expect(page.locator(".band.them .state")).to_contain_text("думает")
        dead = True
        await b.play_something()
        await page.clock.fast_forward(15_000)  # it is silent for no longer than a server may be
        await expect(page.locator(".band.them .state")).to_contain_text("думает")
        await page.clock.fast_forward(7_000)
        await expect(page.locator(".band.them .state")).to_contain_text("ход сделан")
        await badge(page, "на связи")
        first = json.loads(lines[1][0])
        assert first["type"] == "view"
        assert first["view"] == await anna.get(f"/api/matches/{match}/view")
        assert first["view"]["seats"]["B"]["state"] == "played"
        await a.play_something()
        await expect(page.locator(".band.me .seat")).to_have_text("Вы — чёрные")


@pytest.mark.parametrize("screen", SCREENS)
async def test_controls_do_not_move_when_my_own_line_breaks_and_comes_back(
    deal: Stage, screen: dict[str, Any]
) -> None:
    staged = await deal(a_table(), **screen)
    page, line = staged.page, staged.page.locator("#line-state")
    await staged.hand.drag(13, 5)
    before = await places(page)
    assert len(before) > 8
    await staged.cut(for_good=True, reason="restart")
    await prompt(
        page,
        "Сервер перезапускается. Подключимся сами; время не идёт."
        if russian(screen)
        else "The server is restarting. We reconnect by ourselves; no time is charged.",
    )
    await expect(line).to_have_text("нет связи" if russian(screen) else "connection lost")
    assert await line.locator("span").evaluate("words => getComputedStyle(words).clipPath") == "none"
    assert await places(page) == before
    assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    staged.refusing = False
    await page.evaluate("dispatchEvent(new Event('online'))")
    await expect(line).to_have_text("на связи" if russian(screen) else "connected")
    await expect(page.locator("#prompt")).to_contain_text("13/7 7/5")
    assert await places(page) == before


async def places(page: Page) -> dict[str, Any]:
    """Where everything is that can be pressed, the header's buttons too."""
    return dict(
        await page.evaluate(
            """() => Object.fromEntries(
              [...document.querySelectorAll(':is(header.top, .match) :is(button, summary), .stage .board')]
              .map((part, i) => [part, i]).filter(([part]) => part.checkVisibility({ visibilityProperty: true }))
              .map(([part, i]) => [`${i} ${part.textContent.slice(0, 20)}`, part.getBoundingClientRect()])
              .map(([name, b]) => [name, [b.x, b.y, b.width, b.height].map(Math.round).join(' ')]))"""
        )
    )


async def test_a_server_that_restarts_says_so_its_time_stands_and_all_is_there_again(
    tmp_path: Path, screens: Screens
) -> None:
    database = f"sqlite:///{tmp_path / 'nardy.sqlite3'}"
    async with running_server(database, tmp_path / "data") as server:
        screens.url = server.url
        async with seated(server, {"clock": {"delay_ms": 0}}) as (match, anna, _boris, a, _b):
            page = await screens.page(somebody=anna, **STILL)
            await page.goto(f"/match/{match}")
            await page.wait_for_selector(".stage .hit.source")
            await Hand(page).click(a.view["mine"]["steps"][0][0][0])
            await expect(page.locator(".stage .draft .to")).to_have_count(1)
            roll = "-".join(map(str, a.view["roll"]))
            await server.services.matches.say_goodbye()  # as its process does before it ends
    await prompt(page, "Сервер перезапускается. Подключимся сами; время не идёт.")
    await badge(page, "нет связи")
    clock = page.locator(".band.me .clock")
    before = await clock.get_attribute("data-ms")
    await page.wait_for_timeout(500)
    assert await clock.get_attribute("data-ms") == before
    port = int(server.url.rsplit(":", 1)[1])
    async with running_server(database, tmp_path / "data", port=port):
        await badge(page, "на связи")
        await expect(page.locator("#prompt")).not_to_contain_text("перезапускается")
        await expect(page.locator(".record .open td:nth-child(2)")).to_have_text(roll)
        await expect(page.locator(".stage .draft .to")).to_have_count(1)
        assert abs(int(await clock.get_attribute("data-ms") or 0) - int(before or 0)) < 10_000
        await page.close()


# ---------------------------------------------------------------------------------------------------- a hidden tab


async def test_a_hidden_tab_is_right_when_it_comes_back_and_says_once_that_time_is_low(
    screens: Screens,
) -> None:
    page = await screens.page(**STILL)
    await page.clock.install()
    ruleset = rules(clock={"delay_ms": 0})
    staged = Staged(page, screens.url, a_table(banks=(75_000, 240_000), ruleset=ruleset), A)
    await staged.open()
    await page.wait_for_selector(".clock.running")
    said = await everything_said(page)
    await page.evaluate(HIDE, True)
    await page.clock.fast_forward(60_000)
    staged.pass_time(60_000)
    await page.clock.fast_forward(5_000)  # long enough for what is only said in passing
    staged.pass_time(5_000)
    await page.evaluate(HIDE, False)
    await prompt(page, "Осталось меньше 20 секунд.")
    await until_right(staged, 75_000)
    await page.keyboard.press("Escape")
    await prompt(page, "Ваши зары 6-2. Выберите шашку.")
    clock = page.locator(".band.me .clock")
    staged.table.do(AddTime("Судья", A, 12_000, "A lamp was changed.", staged.now()))
    await staged.show()
    await expect(clock.locator(".figures")).to_have_text(re.compile(r"^0:2[01]$"))
    staged.pass_time(4_000)  # and soon it is low again
    await staged.say(f'{{"type":"ping","now":{staged.now()},"ping":903}}')
    await expect(clock.locator(".figures")).to_have_text(re.compile(r"^0:1[5-7]$"))
    await page.wait_for_timeout(150)
    assert [text for text in await said() if "20 секунд" in text] == ["Осталось меньше 20 секунд."]


async def until_right(staged: Staged, bank_ms: int) -> None:
    """Within a second my clock shows what the server has."""
    async with asyncio.timeout(1):
        while True:
            shown = int(await staged.page.locator(".band.me .clock").get_attribute("data-ms") or 0)
            if abs(staged.table.match.shown_at + bank_ms - staged.now() - shown) <= 1_000:
                return
            await asyncio.sleep(0.05)

"""A line that breaks: the page says so, comes back by itself, and loses no play."""

from __future__ import annotations

import json

import pytest
from playwright.async_api import Page, WebSocketRoute, expect

from tests.browser.conftest import Stage
from tests.browser.hand import Hand
from tests.browser.screens import EN, PHONE, STILL, Screens, Wire, until
from tests.browser.staged import Staged
from tests.builders import A, Table, a_phase
from tests.support.server import LiveServer, first_way, owes, seated

START = "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2"


def a_table() -> Table:
    return a_phase("3W", "6-2", x=START, y=START)


async def badge(page: Page, text: str) -> None:
    await expect(page.locator("#line-state")).to_have_text(text, timeout=10_000)


async def back(staged: Staged) -> None:
    """The server may be reached again."""
    staged.refusing = False
    await badge(staged.page, "на связи")


async def test_a_lost_line_is_said_in_words_and_comes_back_by_itself_with_a_whole_view(stage: Stage) -> None:
    staged = await stage(a_table(), **STILL)
    page = staged.page
    await badge(page, "на связи")
    await staged.hand.click(13)
    await staged.cut(for_good=True)
    await badge(page, "нет связи")
    await expect(page.locator("#prompt")).to_have_text("Нет связи. Подключаемся сами; ход не потеряется.")
    await staged.other_plays("13/7 13/11")
    assert staged.table.match.plays.B
    await back(staged)
    await expect(page.locator(".band.them .state")).to_contain_text("ход сделан")
    await expect(page.locator("#prompt")).to_have_text("Осталась 2. Выберите шашку.")
    await staged.hand.sees(p13=4, p7=1)
    assert staged.opened == 2


async def test_the_swap_that_happened_meanwhile_is_there_after_coming_back(stage: Stage) -> None:
    staged = await stage(a_table(), **STILL)
    await staged.hand.drag(13, 5)
    await staged.hand.press("done")
    await expect(staged.page.locator("#prompt")).to_have_text("Ваш ход сделан. Ждём соперника.")
    await staged.cut(for_good=True)
    await badge(staged.page, "нет связи")
    await staged.other_plays("13/7 13/11")
    await back(staged)
    await expect(staged.page.locator(".band.me .seat")).to_have_text("Вы — чёрные")
    await expect(staged.page.locator(".stage .hit.source").first).to_be_attached()


async def test_a_page_that_comes_back_without_its_seat_says_so_and_sends_nothing(stage: Stage) -> None:
    staged = await stage(a_table(), **STILL, **PHONE)
    page = staged.page
    await staged.cut(for_good=True)
    await badge(page, "нет связи")
    await staged.hand.drag(13, 5)
    await staged.hand.press("done")
    await expect(page.locator("#prompt")).to_contain_text("Ход ещё не отправлен")
    staged.seat, staged.refusing = None, False
    await expect(page.locator("h1")).to_have_text("Доска здесь больше не открыта", timeout=10_000)
    await expect(page.locator("main")).to_contain_text("Последний ход мог не дойти")
    await expect(page.locator("main")).to_contain_text("откройте свою новую ссылку")
    await expect(page.locator(".board")).to_have_count(0)
    await expect(page.locator("#line-state")).to_be_hidden()
    assert staged.plays() == []
    opened = staged.opened
    await page.evaluate("dispatchEvent(new Event('online'))")
    assert staged.opened == opened, "it does not ask again"
    staged.seat = A
    await page.reload()
    await expect(page.locator("#prompt")).to_have_text("Ваш ход сделан. Ждём соперника.")
    assert len(staged.plays()) == 1, "whoever comes in again finds what he has played"


@pytest.mark.parametrize(
    "reload", [pytest.param(False, id="page stays open"), pytest.param(True, id="page reloaded")]
)
async def test_a_play_made_offline_is_shown_as_unsent_and_is_sent_once_afterwards(
    stage: Stage, reload: bool
) -> None:
    staged = await stage(a_table(), **STILL)
    page = staged.page
    await staged.cut(for_good=True)
    await badge(page, "нет связи")
    await staged.hand.drag(13, 5)
    await staged.hand.press("done")
    await expect(page.locator("#prompt")).to_have_text(
        "Нет связи. Ход ещё не отправлен: отправим, как только подключимся."
    )
    await staged.hand.sees(p13=4, p5=1)
    assert staged.plays() == []
    if reload:
        staged.refusing = False
        await page.reload()
    await back(staged)
    await expect(page.locator("#prompt")).to_have_text("Ваш ход сделан. Ждём соперника.")
    await staged.hand.sees(p13=4, p5=1)
    assert len(staged.plays()) == 1
    await staged.cut()
    await until(lambda: staged.opened >= 3 - reload)
    await badge(page, "на связи")
    assert len(staged.plays()) == 1


async def test_a_play_whose_answer_was_lost_goes_out_again_under_the_same_id(stage: Stage) -> None:
    staged = await stage(a_table(), **STILL, answers=False)
    await staged.hand.drag(13, 5)
    await staged.hand.press("done")
    await expect(staged.page.locator("#prompt")).to_have_text("Отправляем ход…")
    await until(staged.plays)
    await staged.hand.keys("Backspace")  # what is on its way cannot be taken back
    await staged.hand.sees(p13=4, p5=1)
    await staged.cut()
    staged.answers = True
    await expect(staged.page.locator("#prompt")).to_have_text(
        "Ваш ход сделан. Ждём соперника.", timeout=10_000
    )
    first, second = staged.plays()
    assert first == second


async def test_a_play_sent_again_is_played_once(live: LiveServer, screens: Screens) -> None:
    async with seated(live) as (match, anna, _boris, a, b):
        page = await screens.page(somebody=anna, **STILL)
        sent: list[str] = []
        deaf = False
        routes: list[WebSocketRoute] = []

        def connected(socket: WebSocketRoute) -> None:
            server = socket.connect_to_server()
            routes.append(socket)

            def to_server(text: str | bytes) -> None:
                sent.append(str(text))
                server.send(text)

            socket.on_message(to_server)
            server.on_message(lambda text: None if deaf else socket.send(text))

        await page.route_web_socket("**/ws/matches/*", connected)
        await page.goto(f"/match/{match}")
        await page.wait_for_selector(".stage .hit.source")
        await Hand(page).write(
            " ".join(f"{start}/{end}" for start, end in first_way(a.view["mine"]["steps"]))
        )
        deaf = True
        await page.locator('[data-act="done"]').click()
        await a.until_view(lambda v: v["mine"]["played"])  # it has arrived; its answer has not
        deaf = False
        await routes[-1].close(code=1001)
        await expect(page.locator("#prompt")).to_have_text("Ваш ход сделан. Ждём соперника.", timeout=10_000)
        plays = [message for message in map(json.loads, sent) if message["type"] == "play"]
        assert len(plays) == 2
        assert plays[0] == plays[1]
        await b.play_something()
        view = await a.until_view(lambda v: len(v["record"]) == 1)
        assert view["turn"] == "1K"


async def test_a_half_made_play_is_there_after_a_reload_and_the_dice_are_the_same(stage: Stage) -> None:
    staged = await stage(a_table(), **STILL)
    await staged.hand.click(13)
    await until(lambda: [message for message in staged.sent if message["type"] == "draft"])
    await staged.page.reload()
    await staged.page.wait_for_selector(".stage .board")
    await staged.hand.sees(p13=4, p7=1)
    await expect(staged.page.locator(".stage .die.used")).to_have_attribute("href", "#d6")
    await expect(staged.page.locator(".stage .die:not(.used)")).to_have_attribute("href", "#d2")


async def test_two_tabs_are_one_player(live: LiveServer, screens: Screens) -> None:
    async with seated(live) as (match, anna, _boris, a, _b):
        first = await screens.page(somebody=anna, **STILL)
        second = await first.context.new_page()
        for page in (first, second):
            await page.goto(f"/match/{match}")
            await page.wait_for_selector(".stage .hit.source")
        source = a.view["mine"]["steps"][0][0][0]
        await Hand(first).click(source)
        await expect(second.locator(".stage .draft .to")).to_have_count(1)
        await Hand(second).keys("Backspace")
        await expect(first.locator(".stage .draft .to")).to_have_count(0)
        await a.play_something()
        for page in (first, second):
            await expect(page.locator("#prompt")).to_have_text("Ваш ход сделан. Ждём соперника.")
        assert not owes(a.view)


# In the last moment of 1W something is still to be sent; in 1K a move is made at once, and the opponent plays before
# the server has heard of it: the view that tells of his play holds no draft. Later another tab takes the move back.
_HURRY = """async () => {
  const { Drafts } = await import('/static/js/drafts.js');
  const made = (...moves) => ({ moves, path: moves, adopt(draft) { this.moves = this.path = draft; return true; } });
  const sent = [];
  const turns = { '1W': made([8, 5]) };
  const send = (message) => sent.push([message.turn, message.moves]);
  const drafts = new Drafts({ send }, (turn) => turns[turn] ?? null);
  drafts.changed('1W');
  delete turns['1W'];
  const now = turns['1K'] = made([6, 3]);
  drafts.begin([]);
  drafts.changed('1K');
  const heard = (draft) => { drafts.heard(draft, now, { turn: '1K', fresh: false, busy: false }); return now.moves; };
  const stood = [heard([])];
  await new Promise((resolve) => { setTimeout(resolve, 400); });
  stood.push(heard([]), heard([[6, 3]]), heard([]));
  return { sent, stood };
}"""


async def test_a_move_made_at_once_is_sent_and_not_taken_back_by_a_view_that_knows_nothing_of_it(
    screens: Screens,
) -> None:
    page = await screens.page()
    await page.goto("/rules")
    told = await page.evaluate(_HURRY)
    assert told["sent"] == [["1K", [[6, 3]]]]
    assert told["stood"] == [[[6, 3]], [[6, 3]], [[6, 3]], []]


async def test_a_restart_of_the_server_is_said_in_words(stage: Stage) -> None:
    staged = await stage(a_table(), **STILL, **EN)
    await staged.cut(for_good=True, reason="restart")
    await expect(staged.page.locator("#prompt")).to_have_text(
        "The server is restarting. We reconnect by ourselves; no time is charged."
    )
    staged.refusing = False
    await badge(staged.page, "connected")


async def test_pings_are_answered_at_once(stage: Stage) -> None:
    staged = await stage(a_table(), A, **STILL)
    await until(lambda: staged.pongs)
    await staged.say(f'{{"type":"ping","now":{staged.now()},"ping":777}}')
    await until(lambda: 777 in staged.pongs, patience=1)


async def test_a_seat_is_taken_to_another_device_by_its_link(live: LiveServer, screens: Screens) -> None:
    async with seated(live) as (match, anna, _boris, _a, _b):
        secret = (await anna.get(f"/api/matches/{match}/seat-link"))["secret"]
        page = await screens.page(**STILL)
        wire = Wire(page)
        await page.goto(f"/match/{match}#seat={secret}")
        await page.wait_for_selector(".stage .hit.source")
        assert secret not in page.url
        await wire.until(lambda v: v["seat"] == "A")
        await expect(page.locator(".band.me .seat")).to_have_text("Вы — белые")

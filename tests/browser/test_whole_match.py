"""A whole match in two browsers, from its making to its result, its replay and the check of its dice."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest
from playwright.async_api import Page, expect

from app.web.messages import write_json
from engine.position import OFF
from engine.turn import Seat
from engine.view import view_for
from tests.browser.conftest import Stage
from tests.browser.player import Player
from tests.browser.screens import DESKTOP, EN, PHONE, RU, STILL, Screens, Wire
from tests.builders import a_phase
from tests.support.server import QUICK, LiveServer, owes, person, seated


def signed(number: int) -> str:
    """A number as the page writes it."""
    return f"+{number}" if number > 0 else f"−{-number}" if number < 0 else "0"


def number(text: str) -> int:
    """The number that a page wrote."""
    return int(re.sub(r"[^\d-]", "", text.replace("−", "-")) or "0")


def clock_text(ms: int) -> str:
    return f"{ms // 60_000}:{ms // 1000 % 60:02}"


async def card_tells(page: Page, view: Any, me: str) -> None:
    """Every number of the result card is the server's, and its bill adds up."""
    result = view["result"]
    them = "B" if me == "A" else "A"
    points = result["points"]
    await expect(page.locator(".result .score")).to_have_text(
        f"{signed(points[me])} : {signed(points[them])}"
    )
    rows = await page.locator(".bill tr").evaluate_all(
        "rows => rows.map(r => [r.className, r.cells[1].textContent])"
    )
    total = [name for name, _ in rows].index("total")
    lines = [text for _, text in rows[:total]]
    assert number(rows[total][1]) == points[me]
    assert sum(map(number, lines)) == points[me]
    cards = page.locator(".result .game")
    for index, game in enumerate("XY"):
        card, of = cards.nth(index), result["games"][game]
        white = "A" if game == "X" else "B"
        if of["outcome"] in "WK" and of["class"]:
            loser = "black" if of["outcome"] == "W" else "white"
            await expect(card.locator(".tag")).to_have_text(
                {"oin": "ойн", "mars": "марс", "koks": "кокс"}[of["class"]]
            )
            groups = await card.locator(".groups li").all_inner_texts()
            left = [re.findall(r"\d+", text) for text in groups]
            assert sum(int(found[0]) for found in left) == 15 - of[loser][OFF]
            assert sum(int(found[-1]) for found in left) == of[f"{loser}_pips"]
            assert f"Всего {of[f'{loser}_pips']} " in await card.inner_text()
            won = of["winner"] == me
            await expect(card).to_contain_text("Выиграна" if won else "Проиграна")
            sign = 1 if me == "A" else -1
            assert number(await card.locator("b.points").inner_text()) == sign * of["points_for_A"]
        if of["outcome"] == "-":
            mine = of["white_pips"] if white == me else of["black_pips"]
            theirs = of["black_pips"] if white == me else of["white_pips"]
            text = await card.locator("table").inner_text()
            assert str(mine) in text
            assert str(theirs) in text
    times = await page.locator(".times b").all_inner_texts()
    assert times == [clock_text(result["time_ms"][me]), clock_text(result["time_ms"][them])]
    rolls = len(view["record"])
    assert re.search(rf"\b{rolls} общ", await page.locator(".result .two").inner_text())


async def test_a_whole_match_on_a_desktop_against_a_phone(live: LiveServer, screens: Screens) -> None:
    async with person(live, "Anna") as anna, person(live, "Boris") as boris:
        made = await anna.post("/api/matches", {"preset": "objective", "ruleset": QUICK})
        match = (await boris.post(f"/api/invites/{made['code']}/join"))["id"]
        desktop = await screens.page(somebody=anna, **DESKTOP, **RU)
        phone = await screens.page(somebody=boris, **PHONE, **EN, **STILL)
        watcher = await screens.page(**STILL)
        a = Player(live, match, Seat.A, desktop, touch=False)
        b = Player(live, match, Seat.B, phone, touch=True)
        x = Wire(watcher)
        for page in (desktop, phone, watcher):
            await page.goto(f"/match/{match}")
        async with anna.display(match) as a.tab, boris.display(match) as b.tab:
            await asyncio.gather(a.play_to_the_end(), b.play_to_the_end())
        await x.until(lambda v: v["stage"] == "over")
        assert a.made > 5  # how many there are depends on the dice
        assert b.made > 5

        view = a.wire.view
        assert view["result"] == b.wire.view["result"] == x.view["result"]
        assert view["result"]["outcome"] == "finished"
        for page in (desktop, phone, watcher):
            await expect(page.locator(".result h1")).to_be_visible()
        await expect(desktop.locator("#prompt")).to_have_text("Матч окончен. Итог на странице.")
        await card_tells(desktop, view, "A")
        points = view["result"]["points"]
        await expect(phone.locator(".result .score")).to_have_text(
            f"{signed(points['B'])} : {signed(points['A'])}"
        )
        await expect(watcher.locator(".result .score")).to_have_text(
            f"{signed(points['A'])} : {signed(points['B'])}"
        )
        assert not any('"theirs":{' in text and '"stage":"playing"' in text for text in x.received)

        info = await anna.get(f"/api/matches/{match}")
        await expect(desktop.locator(".hero .side .num").first).to_have_text(
            re.compile("{before} → {after}".format(**info["ratings"]["A"]["points"]).replace("-", "[-−]"))
        )

        await dice_are_right(await screens.page(**STILL), match, len(view["record"]))
        await replay_shows(await screens.page(**STILL), match, view)
        await rematch(desktop, phone, match)


async def dice_are_right(page: Page, match: str, rolls: int) -> None:
    """The page that computes the dice itself finds every one as it was played."""
    await page.goto(f"/match/{match}")
    await page.get_by_role("link", name="Проверить зары").click()
    await expect(page.locator(".verdict-card h2")).to_have_text("Зары честные")
    await expect(page.locator(".rolls tbody tr")).to_have_count(rolls)
    await expect(page.locator(".rolls tbody tr.bad")).to_have_count(0)
    record = await (await page.request.get(f"/api/matches/{match}.json")).json()
    roll = record["phases"][1]["roll"]
    record["phases"][1]["roll"] = [roll[0] % 6 + 1, roll[1]]
    await page.get_by_role("button", name="другую запись").click()
    await page.locator("textarea").fill(json.dumps(record))
    await page.get_by_role("button", name="Проверить", exact=True).click()
    await expect(page.locator(".verdict-card h2")).to_have_text("Зары не сходятся")
    await expect(page.locator(".rolls tbody tr.bad")).to_have_count(1)


async def replay_shows(page: Page, match: str, view: Any) -> None:
    """Both games side by side, phase by phase."""
    await page.goto(f"/match/{match}")
    await page.get_by_role("link", name="Просмотр").click()
    rows = page.locator(".replay-record tbody tr")
    await expect(rows).to_have_count(len(view["record"]) + 1)
    await expect(page.locator(".replay-board .board")).to_have_count(2)
    at = page.locator(".replay-record tbody tr[aria-current]")
    await page.get_by_role("button", name="Шаг вперёд").click()
    await expect(at.locator("td").nth(1)).to_have_text("-".join(map(str, view["record"][0][1])))
    await page.get_by_role("button", name="В конец").click()
    pips = page.locator(".replay-cap [data-pips]")
    games = view["result"]["games"]
    ends = [str(games[game][f"{color}_pips"]) for game in "XY" for color in ("white", "black")]
    await expect(pips).to_have_text(ends)
    await page.keyboard.press("Home")
    await expect(pips).to_have_text(["167"] * 4)
    if view["parted"] is not None:
        await page.get_by_role("button", name=re.compile("К расхождению")).click()
        await expect(at).to_have_class(re.compile("parting"))


async def rematch(desktop: Page, phone: Page, match: str) -> None:
    """One asks, the other agrees, and both are at the new match, with seats exchanged."""
    await desktop.get_by_role("button", name="Реванш").click()
    await expect(desktop.locator(".ends-status")).to_have_text("Реванш предложен. Ждём ответа соперника.")
    await phone.locator(".ends .button.primary").click()
    for page in (desktop, phone):
        await page.wait_for_url(lambda url: "/match/" in url and not url.endswith(match))
        await page.wait_for_selector(".stage .hit")
    assert desktop.url == phone.url
    await expect(desktop.locator(".band.me .aside").first).to_have_text("доска Y")
    await expect(phone.locator(".band.me .aside").first).to_have_text("board X")


async def test_two_people_meet_through_the_pages(live: LiveServer, screens: Screens) -> None:
    host, guest = await screens.page(**STILL), await screens.page(**PHONE, **EN, **STILL)
    await host.goto("/")
    await host.get_by_role("button", name="Создать матч").click()
    await expect(host.get_by_role("alert")).to_have_text("Напишите имя, под которым вас увидит соперник.")
    await host.get_by_label("Ваше имя").fill("Вера <img src=x>")
    await host.get_by_role("button", name="Создать матч").click()
    await expect(host.get_by_role("heading", level=1)).to_have_text("Ждём соперника")
    await expect(host.locator(".qr")).to_be_visible()
    assert await host.locator(".qr").evaluate("picture => picture.naturalWidth") > 0
    link = await host.get_by_label("Ссылка-приглашение").input_value()

    await guest.goto(link)
    await expect(guest.get_by_role("heading", level=1)).to_contain_text("Вера <img src=x>")
    await expect(host.get_by_role("heading", level=1)).to_have_text("Ждём соперника"), "looking takes no seat"
    await guest.get_by_label("Your name").fill("Глеб")
    await guest.locator("form .button.primary").click()
    for page in (host, guest):
        await page.wait_for_selector(".stage .die")
        await page.wait_for_selector(".stage .hit.source")
    await expect(host.locator(".band.them .name")).to_contain_text("Глеб")
    await expect(guest.locator(".band.them .name")).to_contain_text("Вера <img src=x>")
    await expect(host.locator(".band.me .seat")).to_have_text("Вы — белые")
    await expect(guest.locator(".band.me .seat")).to_have_text("You are White")
    await expect(host.locator(".band.me .aside").first).to_have_text("доска X")
    await expect(guest.locator(".band.me .aside").first).to_have_text("board Y")
    dice = "dice => dice.map(d => d.getAttribute('href'))"
    rolls = [await page.locator(".stage .die").evaluate_all(dice) for page in (host, guest)]
    assert rolls[0] == rolls[1], "one roll for both"

    stranger = await screens.page(**STILL)
    await stranger.goto(link)
    await expect(stranger.get_by_role("heading", level=1)).to_have_text("Место уже занято")
    await stranger.goto(host.url)
    await expect(stranger.locator(".watching .board")).to_have_count(2)


async def test_a_match_with_the_computer_begins_at_once_and_it_answers(
    live: LiveServer, screens: Screens
) -> None:
    page = await screens.page(**STILL)
    await page.goto("/")
    await page.get_by_label("Ваше имя").fill("Вера")
    await page.locator(".choice label", has_text="компьютер").click()
    await page.get_by_role("button", name="Начать матч").click()
    await page.wait_for_selector(".stage .hit.source", timeout=10_000)
    await expect(page.locator(".band.them .name")).to_contain_text(re.compile(r"\S"))
    player = Player(live, page.url.rsplit("/", 1)[1], Seat.A, page, touch=False)
    await page.reload()
    await player.wire.until(owes)
    await player.play()
    await player.wire.until(lambda v: v["turn"] == "1K")
    await expect(page.locator("#prompt")).to_contain_text("Доски поменялись: теперь вы чёрные.")


async def test_a_level_of_the_computer_is_chosen_in_two_clicks_and_named_everywhere(
    live: LiveServer, screens: Screens
) -> None:
    offered = [computer.level for computer in live.services.lobby.computers()]
    page = await screens.page(**STILL)
    await page.goto("/")
    await page.get_by_label("Ваше имя").fill("Вера")
    levels = page.get_by_role("group", name="Сила компьютера")
    await expect(levels).to_be_hidden()
    await page.locator(".choice label", has_text="компьютер").click()
    if len(offered) == 1:
        await expect(levels).to_be_hidden()
        return
    await expect(levels.get_by_role("radio")).to_have_count(len(offered))
    await expect(levels.get_by_label("новичок")).to_be_checked()
    await levels.locator("label", has_text="мастер").click()
    await page.get_by_role("button", name="Начать матч").click()
    await page.wait_for_selector(".stage .hit.source", timeout=10_000)
    await expect(page.locator(".band.them .name")).to_contain_text("Компьютер · мастер")
    stranger = await screens.page(**STILL)
    await stranger.goto(page.url)
    await expect(stranger.locator(".watching")).to_contain_text("Компьютер · мастер")


async def test_a_hint_is_laid_out_and_sent_by_the_player_alone(screens: Screens) -> None:
    page = await screens.page(**STILL)
    await page.goto("/?preset=training")
    await page.get_by_label("Ваше имя").fill("Вера")
    await page.locator(".choice label", has_text="компьютер").click()
    await page.get_by_role("button", name="Начать матч").click()
    await page.wait_for_selector(".stage .hit.source", timeout=10_000)
    done = page.locator("[data-act=done]")
    await expect(done).to_have_attribute("aria-disabled", "true")
    await page.get_by_role("button", name="Подсказка").click()
    await expect(page.locator("#prompt")).to_contain_text("Так сыграл бы", timeout=10_000)
    await expect(done).to_have_attribute("aria-disabled", "false")
    await page.get_by_role("button", name="Сначала").click()
    await expect(done).to_have_attribute("aria-disabled", "true")
    await page.get_by_role("button", name="Подсказка").click()
    await expect(done).to_have_attribute("aria-disabled", "false")
    await done.click()
    await expect(page.locator("#prompt")).to_contain_text("Доски поменялись", timeout=10_000)


async def test_who_waits_is_in_the_list_and_may_be_played_with(live: LiveServer, screens: Screens) -> None:
    host, guest = await screens.page(**STILL), await screens.page(**STILL)
    await host.goto("/")
    await host.get_by_label("Ваше имя").fill("Зоя")
    await host.locator(".choice label", has_text="любой").click()
    await host.get_by_role("button", name="Создать матч").click()
    await expect(host.get_by_role("heading", level=1)).to_have_text("Ждём соперника")
    await guest.goto("/")
    await guest.get_by_role("button", name="Играть с Зоя").click()
    await guest.locator(".ask-row input").fill("Ян")
    await guest.locator(".ask-row .button").click()
    for page in (host, guest):
        await page.wait_for_selector(".stage .board")


# --------------------------------------------------------------------------------------------- cards of other endings


ENDINGS = [
    pytest.param("1:2 2:2 | 1:1", "1:2 2:2 | 1:1", "Ничья", id="the last move of both games: a draw"),
    pytest.param(
        "1:2 2:2 | 1:1", "6:5 5:5 | 4:5 3:5", "Вы проиграли матч", id="one game, the other unfinished"
    ),
    pytest.param("6:5 5:5 | 4:5 3:5", "24:15 | 1:1", "Вы выиграли матч", id="mars"),
    pytest.param("6:5 5:5 | 4:5 3:5", "bar:1 24:14 | 1:1", "Вы выиграли матч", id="koks"),
]


@pytest.mark.parametrize(("x", "y", "title"), ENDINGS)
async def test_the_card_of_an_ending(stage: Stage, x: str, y: str, title: str) -> None:
    staged = await stage(a_phase("9K", "6-5", x=x, y=y), **STILL)
    await staged.other_plays()
    if not staged.table.match.score:
        while await staged.page.locator('[data-act="done"]').get_attribute("aria-disabled") == "true":
            await staged.hand.click(
                int(await staged.page.locator(".hit.source").first.get_attribute("data-place") or 0)
            )
        await staged.hand.press("done")
    await expect(staged.page.locator(".result h1")).to_have_text(title)
    view = json.loads(write_json(view_for(staged.table.match, Seat.A)))
    await card_tells(staged.page, view, "A")


async def test_a_finished_match_opens_at_its_card_for_everybody(live: LiveServer, screens: Screens) -> None:
    async with seated(live) as (match, anna, boris, a, b):
        await a.play_something()
        await b.play_something()
        await a.until_view(lambda v: v["turn"] == "1K")
        price = a.view["mine"]["resign"]["points"]
        await a.ask(type="resign", turn="1K", points=price)
        await b.until_view(lambda v: v["stage"] == "over")
        for who, title in (
            (anna, "Вы проиграли матч"),
            (boris, "Вы выиграли матч"),
            (None, re.compile(r"^Boris.*: победа в матче")),
        ):
            page = await screens.page(somebody=who, **STILL)
            await page.goto(f"/match/{match}")
            await expect(page.locator(".result h1")).to_have_text(title)

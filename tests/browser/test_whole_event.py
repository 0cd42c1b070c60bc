"""A whole small event: four phones from entry to the last place, an organiser at a laptop, somebody who looks on."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import httpx2
from playwright.async_api import Locator, Page, expect

from engine.turn import Seat
from tests.browser.player import Player
from tests.browser.screens import DESKTOP, EN, PHONE, RU, STILL, Screens
from tests.browser.test_pages import to_play
from tests.support.organising import API, BY_HAND
from tests.support.server import LiveServer, Person, person

WORDS = {
    "ru": {
        "enter": "Участвовать",
        "name": "Ваше имя",
        "needed": "Напишите имя, под которым вас увидят.",
        "in": "Вы участвуете",
        "done": "Ваш матч тура сыгран",
        "out": "Ваши матчи сыграны",
        "all done": "Сыграны все матчи тура. Дальше слово за организатором.",
        "waiting": "Ждём соперника. Матч начнётся, как только он сядет за доску.",
        "lost line": "Нет связи. Подключаемся сами; ход не потеряется.",
        "resign": "Сдаться…",
        "yes": "Сдаться",
        "lost": "Вы проиграли матч",
        "event": "К турниру",
        "place": "Ваше место: {}.",
    },
    "en": {
        "enter": "Enter",
        "name": "Your name",
        "needed": "Write the name others will see.",
        "in": "You are in",
        "done": "Your match of the round is played",
        "out": "Your matches are played",
        "all done": "All matches of the round are played. The organiser goes on from here.",
        "waiting": "Waiting for your opponent. The match begins as soon as they are at the board.",
        "lost line": "Connection lost. Reconnecting; your play is safe.",
        "resign": "Resign…",
        "yes": "Resign",
        "lost": "You have lost the match",
        "event": "To the event",
        "place": "Your place: {}.",
    },
}
# A tab behind another one, as its page is told of it.
HIDE = """(hidden) => {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event('visibilitychange'));
}"""


@dataclass(eq=False)
class Phone:
    """An entrant and what he holds in his hand."""

    name: str
    language: str
    page: Page
    person: Person

    def word(self, key: str) -> str:
        return WORDS[self.language][key]

    @property
    def title(self) -> Locator:
        """What is next, in large letters."""
        return self.page.locator("#next-title")

    async def press(self, key: str, where: Page | Locator | None = None) -> None:
        await (where or self.page).get_by_role("button", name=self.word(key), exact=True).tap()

    async def fits(self) -> None:
        """Nothing is wider than the screen."""
        assert await self.page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0

    async def called(self) -> Locator:
        """The way to the board that waits, wherever he is."""
        button = self.page.locator("#next-go, .call-bar a")
        await expect(button).to_be_visible()
        return button

    async def sit_down(self, live: LiveServer) -> Player:
        """To the board by a tap."""
        button = await self.called()
        match = str(await button.get_attribute("href")).rpartition("/")[2]
        seat = (await self.person.get(f"/api/matches/{match}"))["seat"]
        player = Player(live, match, Seat(seat), self.page, touch=True)
        await button.tap()
        await self.page.wait_for_url(f"**/match/{match}")
        await player.wire.until(lambda view: view)
        return player

    async def resign(self) -> None:
        await self.press("resign")
        await self.press("yes", self.page.get_by_role("alertdialog"))
        await expect(self.page.locator(".result h1")).to_have_text(self.word("lost"))

    async def back(self) -> None:
        """From the result to the event."""
        await self.page.locator(".result").get_by_role("link", name=self.word("event")).tap()
        await expect(self.title).to_have_text(re.compile(f"^({self.word('done')}|{self.word('out')})$"))


async def new_phone(
    live: LiveServer,
    screens: Screens,
    stack: AsyncExitStack,
    event: str,
    name: str,
    link: str = "",
    **screen: Any,
) -> Phone:
    """Somebody new to the site who finds the event in the list and enters it, or comes by a link of his own."""
    page = await screens.page(**{**PHONE, **STILL, "timezone_id": "UTC", **screen})
    http = await stack.enter_async_context(httpx2.AsyncClient(base_url=live.url))
    phone = Phone(name, "ru" if screen["locale"] == "ru-RU" else "en", page, Person(http))
    if link:
        await page.goto(link)
        await page.get_by_role("button", name=name).tap()
    else:
        await page.goto("/events")
        await page.locator(f'a[href="/events/{event}"]').tap()
        await phone.press("enter")
        await expect(page.get_by_role("alert")).to_have_text(phone.word("needed"))
        await page.get_by_label(phone.word("name")).fill(name)
        await phone.press("enter")
    await expect(phone.title).to_have_text(phone.word("in"))
    await phone.fits()
    for cookie in await page.context.cookies():
        http.cookies.set(cookie["name"], cookie["value"])
    return phone


class Organiser:
    """At his page, on a laptop."""

    def __init__(self, page: Page) -> None:
        self.page = page

    async def press(self, *names: str) -> None:
        for name in names:
            await self.page.get_by_role("button", name=name, exact=True).click()

    async def begin_round(self, title: str) -> None:
        await self.press("Составить тур")
        await expect(self.page.locator("#step-title")).to_have_text(f"Черновик: {title}")
        await self.press("Объявить", "Начать тур")
        await expect(self.page.locator(".next-words")).to_contain_text("Ещё играют: 2.")

    async def close_round(self) -> None:
        await expect(self.page.locator(".next-words")).to_contain_text("Все сыграли.")
        await self.press("Закрыть тур")


async def play_on(first: Player, second: Player, hands: int) -> None:
    """So many phases by tap."""

    async def phases(player: Player) -> None:
        for _ in range(hands):
            turn = (await player.wire.until(to_play))["turn"]
            await player.play()
            await player.wire.until(lambda view, turn=turn: view["turn"] != turn)

    await asyncio.gather(phases(first), phases(second))


async def settle(winner: Phone, loser: Phone, match: str) -> None:
    """A match that is resigned after its first phase, played in other tabs; then both are back at the event."""
    async with winner.person.display(match) as one, loser.person.display(match) as two:
        for tab in (one, two):
            await tab.until_view(to_play)
        for tab in (one, two):
            await tab.play_something()
        await two.until_view(lambda view: view["turn"] != "1W")
        await loser.resign()
    await asyncio.gather(winner.back(), loser.back())


async def play_out(live: LiveServer, phones: Sequence[Phone]) -> list[tuple[Phone, Phone]]:
    """A round in which whoever is later in the list resigns: winner and loser of each match."""
    players = await asyncio.gather(*(phone.sit_down(live) for phone in phones))
    at: dict[str, list[Phone]] = {}
    for phone, player in zip(phones, players, strict=True):
        at.setdefault(player.match, []).append(phone)
    await asyncio.gather(*(settle(winner, loser, match) for match, (winner, loser) in at.items()))
    return [(winner, loser) for winner, loser in at.values()]


async def test_four_phones_a_laptop_and_an_onlooker_go_through_an_event(
    live: LiveServer, screens: Screens
) -> None:
    async with AsyncExitStack() as stack:
        judge = await stack.enter_async_context(person(live, "Судья"))
        stages = [{"kind": "swiss", "rounds": 1}, {"kind": "single_elimination", "take": 4}]
        made = await judge.post(
            f"{API}/events",
            {
                "title": {"en": "Evening cup", "ru": "Вечерний кубок"},
                "visibility": "public",
                "settings": {**BY_HAND, "stages": stages},
            },
        )
        event = str(made["id"])
        laptop = Organiser(await screens.page(somebody=judge, **DESKTOP, **RU))
        await laptop.page.goto(f"/events/{event}/manage")
        await laptop.press("Открыть запись")

        # ---- four come in: three find it in the list, one has a link of his own ----
        await laptop.page.get_by_role("link", name="Участники").click()
        await laptop.page.get_by_label("Или текст списка").fill("имя\nGleb\n")
        await laptop.press("Записать список")
        told = await laptop.page.locator("code", has_text="/enter#").inner_text()
        by_link = {"link": told.strip(), "color_scheme": "dark"}
        new = lambda name, **screen: new_phone(live, screens, stack, event, name, **screen)  # noqa: E731
        gleb = await new("Gleb", **by_link, **EN)
        anna, oscar, ivan = await asyncio.gather(
            new("Анна", **RU), new("Maximilian Featherstone", **EN), new("Константин Заречный", **RU)
        )
        phones = [anna, oscar, ivan, gleb]
        onlooker = await screens.page(**EN)
        await onlooker.goto(f"/events/{event}")

        # ---- the first round finds them at the event, on another page, and with the tab behind another ----
        await ivan.page.goto("/rules")
        await gleb.page.goto("/rules")
        await gleb.page.wait_for_selector(".prose")
        await gleb.page.evaluate(HIDE, True)
        await laptop.page.get_by_role("link", name="Ход").click()
        await expect(laptop.page.locator(".next-words")).to_contain_text("Участвует 4")
        await laptop.press("Начать турнир")
        await laptop.begin_round("Швейцарская система, тур 1")
        await expect(anna.page.get_by_role("timer")).to_have_text(re.compile(r"^4:\d\d|^5:00"))
        await expect(anna.page).to_have_title(re.compile("^Ваш матч: "))
        await ivan.page.reload()
        await gleb.page.evaluate(HIDE, False)
        await expect(gleb.page).to_have_title(re.compile("^Your match is waiting — "))
        for phone in phones:
            await phone.called()
            await phone.fits()
        players = {anna: await anna.sit_down(live)}
        await expect(anna.page.locator("#prompt")).to_contain_text(anna.word("waiting"))
        others = (oscar, ivan, gleb)
        players.update(
            zip(others, await asyncio.gather(*(phone.sit_down(live) for phone in others)), strict=True)
        )
        other = next(phone for phone in others if players[phone].match == players[anna].match)
        rest = [phone for phone in phones if phone not in (anna, other)]
        await asyncio.gather(
            play_on(players[anna], players[other], 2), play_on(players[rest[0]], players[rest[1]], 1)
        )

        # ---- one loads the page anew, one loses the line, and somebody looks on ----
        card = onlooker.locator(".pair-card", has_text="Анна")
        await expect(card).to_contain_text("Round 2")
        await card.click()
        await expect(onlooker.locator(".stage .board")).to_have_count(2)
        await expect(onlooker.locator(".now").get_by_role("link", name="To the event")).to_be_visible()
        await anna.page.reload()
        await other.page.context.set_offline(True)
        await expect(other.page.locator("#prompt")).to_have_text(other.word("lost line"))
        await other.page.context.set_offline(False)
        await expect(other.page.locator("#prompt")).not_to_contain_text(other.word("lost line")[:8])
        await play_on(players[anna], players[other], 1)
        for winner, loser in ((anna, other), rest):
            await loser.resign()
            await loser.fits()
            await expect(loser.page.locator(".result .ratings td")).to_have_count(4)  # names and strength
            await expect(loser.page.locator(".result")).to_contain_text(re.compile(r"\d\d:\d\d UTC"))
            await asyncio.gather(winner.back(), loser.back())
        await expect(anna.page.locator(".next-words p")).to_have_text(anna.word("all done"))

        # ---- standings and everybody against everybody, whole on a phone ----
        await anna.page.locator("#tab-standings").tap()
        await expect(anna.page.locator(".standing-table .me .place")).to_have_text(re.compile("^[12]$"))
        cross = anna.page.locator(".cross-table")
        await expect(cross.locator(".win b")).to_have_text(["2", "2"])
        box = anna.page.locator(".scroll-box:has(.cross-table)")
        assert await box.evaluate("box => box.scrollWidth - box.clientWidth") == 0
        await laptop.close_round()

        # ---- semi-finals, then the final and the match for the third place ----
        await laptop.begin_round("Полуфиналы")
        await expect(gleb.page.locator(".stages [aria-current]")).to_have_text("Semi-finals")
        semis = await play_out(live, phones)
        await laptop.close_round()
        await laptop.begin_round("Финал")
        await play_out(live, phones)
        await expect(gleb.title).to_have_text(gleb.word("out"))
        finals = gleb.page.locator(".bracket-column").last
        assert await finals.evaluate("column => column.getBoundingClientRect().right <= innerWidth")
        await laptop.close_round()
        await laptop.press("Завершить турнир")

        # ---- places ----
        upper, lower = ([phone for phone in phones if phone in half] for half in zip(*semis, strict=True))
        for place, phone in enumerate((*upper, *lower), 1):
            await expect(phone.page.locator(".next-words")).to_contain_text(phone.word("place").format(place))
            await phone.fits()
        await anna.page.locator("#tab-overview").tap()
        ties = anna.page.locator(".bracket .tie")
        await expect(ties).to_have_count(4)
        await expect(ties.locator(".tie-side.won")).to_have_count(4)
        await anna.page.locator("#tab-standings").tap()
        await anna.page.get_by_role("button", name="Итоговые места").tap()
        names = await anna.page.locator("table.list tbody .who").all_inner_texts()
        assert [name.splitlines()[0] for name in names] == [phone.name for phone in (*upper, *lower)]
        await onlooker.goto(f"/events/{event}")
        await expect(onlooker.locator(".event-facts")).to_contain_text("Анна")

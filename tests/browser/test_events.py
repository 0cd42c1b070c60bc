"""Competitions on their pages: in words, readable on a phone, and an entrant is called to his board."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, WebSocketRoute, expect

from tests.browser.screens import DESKTOP, EN, PHONE, RU, STILL, Screens
from tests.browser.test_pages import words
from tests.support.competing import Hand
from tests.support.server import LiveServer, Person, person

QUALIFYING = {"kind": "qualifying", "matches": 1, "computer": "beginner"}


async def an_event(live: LiveServer, title: str, *people: Person, more: int = 0, **settings: Any) -> Hand:
    """A competition with open entry that these people have entered, and some more."""
    service = live.services.competitions
    hand = Hand(service._store, service)
    hand.now = time.time_ns() // 1_000_000
    await hand.announce(0, **settings)
    await service.describe(
        hand.id,
        title={"en": title, "ru": f"Кубок {title}"},
        about={"en": "For all.", "ru": "Для всех."},
        visibility="public",
        actor=hand.boss,
    )
    for somebody in people:
        await somebody.post(
            f"/api/competitions/{hand.id}/enter", {"code": settings.get("entry", {}).get("code")}
        )
    for number in range(more):
        other = await hand.store.accounts.create_guest(f"P{number + 1}", hand.now)
        await service.register(hand.id, other.id, actor=hand.boss)
    return hand


@dataclass
class World:
    """Competitions in different states; Anna is in most of them."""

    anna: Person
    boss: Person
    groups: Hand
    bracket: Hand
    coming: Hand
    draft: str


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def world(live: LiveServer) -> AsyncIterator[World]:
    """A qualifying played and groups in their second round; a bracket half played; one that can be entered."""
    async with person(live, "Anna") as anna, person(live, "Boss") as boss:
        groups = await an_event(
            live, "Groups", anna, more=7, stages=[QUALIFYING, {"kind": "groups", "size": 4}]
        )
        await groups.service.start(groups.id, actor=groups.boss)
        await groups.play_round()
        await groups.play_round()
        await groups.open_round()
        bracket = await an_event(live, "Bracket", more=6, stages=[{"kind": "single_elimination"}])
        await bracket.service.start(bracket.id, actor=bracket.boss)
        await bracket.play_round()
        await bracket.open_round()
        coming = await an_event(
            live,
            "Blitz",
            more=2,
            preset="blitz",
            starts_at=time.time_ns() // 1_000_000 + 7_200_000,
            entry={"mode": "code", "code": "winter", "capacity": 16},
        )
        yield World(anna, boss, groups, bracket, coming, await a_draft(boss))


async def a_draft(boss: Person) -> str:
    """A Swiss of this organiser whose first round is drafted, all by the organisers' API."""
    made = await boss.post(
        "/api/admin/v1/events",
        {"title": {"en": "Swiss", "ru": "Кубок"}, "settings": {"entry": {"mode": "approved"}}},
    )
    event = f"/api/admin/v1/events/{made['id']}"
    await boss.post(f"{event}/open-entry", {})
    listed = "name,seed\nWilliam,1\nXenia,2\nYves,3\n"
    answer = await boss.http.post(
        f"{event}/entrants/import?new=true", content=listed, headers={"Content-Type": "text/csv"}
    )
    assert answer.json()["entered"] == 3
    await boss.post(f"{event}/start", {})
    await boss.post(f"{event}/rounds", {})
    return str(made["id"])


async def open_all(page: Page) -> None:
    """Every summary."""
    for summary in await page.locator("main summary").all():
        await summary.click()


async def open_row(page: Page) -> None:
    """What the second place is made of, every value opened."""
    await page.locator(".open-row").nth(1).click()
    for summary in await page.locator(".why:not([hidden]) summary").all():
        await summary.click()


@dataclass
class Place:
    """A page of a competition in one state."""

    path: Callable[[World], str]
    selector: str
    who: Callable[[World], Person | None] = lambda world: None
    then: Callable[[Page], Awaitable[None]] | None = None


PLACES = {
    "list": Place(lambda w: "/events", ".event-list", lambda w: w.anna),
    "event, my match waits": Place(lambda w: f"/events/{w.groups.id}", "#next-go", lambda w: w.anna),
    "standings, a row opened": Place(
        lambda w: f"/events/{w.groups.id}#standings", ".open-row", lambda w: w.anna, open_row
    ),
    "rounds": Place(lambda w: f"/events/{w.groups.id}#rounds", ".meeting", lambda w: w.anna),
    "entrants": Place(lambda w: f"/events/{w.groups.id}#entrants", ".entrants"),
    "dice": Place(lambda w: f"/events/{w.groups.id}#dice", ".check-facts"),
    "bracket": Place(lambda w: f"/events/{w.bracket.id}#standings", ".bracket .tie"),
    "event to be entered": Place(lambda w: f"/events/{w.coming.id}", "#enter-code"),
    "new event": Place(lambda w: "/events/new", "#make"),
    "managed: a draft": Place(
        lambda w: f"/events/{w.draft}/manage", ".edit-pairs", lambda w: w.boss, open_all
    ),
    "managed: entrants": Place(
        lambda w: f"/events/{w.draft}/manage#entrants", ".manage-entrants", lambda w: w.boss
    ),
    "managed: settings": Place(
        lambda w: f"/events/{w.draft}/manage#settings", "#preset, .plain-list", lambda w: w.boss
    ),
    "managed: log": Place(lambda w: f"/events/{w.draft}/manage#log", ".log", lambda w: w.boss),
    "managed by another": Place(lambda w: f"/events/{w.draft}/manage", "main h1", lambda w: w.anna),
    "no such event": Place(lambda w: "/events/no-such-cup", "main h1"),
}
DESK = ("ru", {**DESKTOP, **RU, **STILL, "color_scheme": "dark"})
HAND = ("en", {**PHONE, **EN, **STILL, "color_scheme": "light"})
# Everything on a phone; on a desktop what is laid out in another way there.
LOOKED_AT = [
    pytest.param(place, *HAND, id=f"{name}, phone, English, light") for name, place in PLACES.items()
] + [
    pytest.param(PLACES[name], *DESK, id=f"{name}, desktop, Russian, dark")
    for name in (
        "list",
        "event, my match waits",
        "standings, a row opened",
        "bracket",
        "event to be entered",
        "new event",
        "managed: a draft",
    )
]
Kept = Callable[..., Awaitable[Page]]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def kept(browser: Browser, live: LiveServer) -> AsyncIterator[Kept]:
    """A page for each person and screen, which stays from test to test."""
    screens = Screens(browser, live.url)
    pages: dict[str, Page] = {}

    async def page(somebody: Person | None, **screen: Any) -> Page:
        key = f"{id(somebody)} {screen['color_scheme']}"
        if key not in pages:
            pages[key] = await screens.page(somebody=somebody, **screen)
        await pages[key].goto("about:blank")  # another section of the same page is a new page here
        return pages[key]

    yield page
    await screens.close()
    assert screens.errors == []


@pytest.mark.parametrize(("place", "language", "screen"), LOOKED_AT)
async def test_a_page_is_in_words_axe_finds_nothing_and_nothing_scrolls_sideways(
    kept: Kept, world: World, place: Place, language: str, screen: dict[str, Any]
) -> None:
    page = await kept(place.who(world), **screen)
    await page.goto(place.path(world))
    await page.wait_for_selector(place.selector)
    if place.then:
        await place.then(page)
    await words(page, language)
    found = (await Axe().run(page)).response["violations"]
    assert [(v["id"], [node["target"] for node in v["nodes"]]) for v in found] == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= screen["viewport"]["width"]


async def test_entering_is_two_taps_and_outlives_the_page(live: LiveServer, screens: Screens) -> None:
    hand = await an_event(live, "Spring", more=1)
    async with person(live, "Ирина") as irina:
        page = await screens.page(somebody=irina, **PHONE, **RU)
        await page.goto("/events")
        await page.locator(f'a[href="/events/{hand.id}"]').tap()
        await page.get_by_role("button", name="Участвовать").tap()
        await expect(page.locator("#next-title")).to_have_text("Вы участвуете")
        await page.close()
        elsewhere = await screens.page(somebody=irina, **EN)
        await elsewhere.goto(f"/events/{hand.id}#entrants")
        await expect(elsewhere.locator("#next-title")).to_have_text("You are in")
        await expect(elsewhere.locator(".entrants .me")).to_contain_text("Ирина")
        await elsewhere.locator(".withdraw summary").click()
        await elsewhere.get_by_role("button", name="Yes, withdraw").click()
        await expect(elsewhere.locator("#next-title")).to_have_text("You have withdrawn")
        await elsewhere.get_by_role("button", name="Come back").click()
        await expect(elsewhere.locator("#next-title")).to_have_text("You are in")


async def listed(boss: Person, event: str, *names: str) -> list[str]:
    """The personal links of players who are entered by a list."""
    answer = await boss.http.post(
        f"/api/admin/v1/events/{event}/entrants/import?new=true",
        content="name\n" + "\n".join(names),
        headers={"Content-Type": "text/csv"},
    )
    return [line["link"] for line in answer.json()["lines"]]


async def no_secret_in(page: Page, secret: str) -> None:
    """Neither the address, nor the place that going back or forward leads to, has the secret."""
    assert secret not in page.url
    told = await page.context.new_cdp_session(page)
    history = (await told.send("Page.getNavigationHistory"))["entries"]
    assert [entry["url"] for entry in history if secret in entry["url"]] == []


async def looked_at(page: Page, language: str) -> None:
    """In words, accessible, and not wider than the screen."""
    await words(page, language)
    assert (await Axe().run(page)).response["violations"] == []
    assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0


async def test_an_entrant_comes_in_by_his_personal_link(live: LiveServer, screens: Screens) -> None:
    async with person(live, "Boss") as boss, person(live, "Вера") as vera:
        made = await boss.post(
            "/api/admin/v1/events",
            {
                "title": {"en": "Spring cup", "ru": "Кубок весны"},
                "settings": {"stages": [{"kind": "single_elimination"}], "pace": {"mode": "auto"}},
            },
        )
        event = f"/api/admin/v1/events/{made['id']}"
        await boss.post(f"{event}/open-entry", {})
        glebs, ivans = await listed(boss, made["id"], "Gleb", "Ivan")
        secret = glebs.partition("#")[2]

        page = await screens.page(**PHONE, **RU)
        await page.goto(glebs)
        await expect(page.locator(".enter-who")).to_contain_text("Gleb")
        await expect(page.locator(".enter-event")).to_contain_text("Кубок весны")
        await no_secret_in(page, secret)
        await looked_at(page, "ru")
        assert (await page.evaluate("fetch('/api/session').then((said) => said.json())"))["player"] is None
        await page.get_by_role("button", name="EN").tap()  # the page is loaded anew, and still knows the link
        await expect(page.get_by_role("button", name="Come in as Gleb")).to_be_visible()
        await page.get_by_role("button", name="Come in as Gleb").tap()
        await page.wait_for_url(f"**/events/{made['id']}")
        await expect(page.locator("#next-title")).to_have_text("You are in")
        await no_secret_in(page, secret)
        assert await page.evaluate("sessionStorage.getItem('entrant-link')") is None
        await page.goto("/enter")
        await expect(page.locator("h1")).to_have_text("A personal link is needed")
        await looked_at(page, "en")
        await page.goto(f"/enter#{secret[:-1]}")
        await expect(page.locator("h1")).to_have_text("This link does not work")
        await looked_at(page, "en")

        # To a link of somebody else's: it asks first, and in the same tab, too.
        hers = await screens.page(somebody=vera, **RU)
        await hers.goto("/enter")
        await hers.evaluate("(link) => { location.href = link; }", ivans)
        await expect(hers.locator(".notice")).to_contain_text("сейчас другой игрок: Вера")
        await no_secret_in(hers, ivans.partition("#")[2])
        await looked_at(hers, "ru")
        await hers.get_by_role("link", name="Остаться: Вера").click()
        await expect(hers.locator("[data-player]").last).to_have_text(re.compile("^Вера"))
        await boss.post(f"{event}/start", {})
        await hers.goto(ivans)
        await expect(hers.locator(".notice").first).to_contain_text("Матч уже ждёт")
        await hers.get_by_role("button", name="Войти: Ivan").click()
        await hers.wait_for_url(f"**/match/{made['id']}-S1R1T1M1")
        await expect(hers.locator("[data-player]").last).to_have_text("Ivan")


async def test_somebody_without_a_name_says_it_and_the_code_and_is_in(
    live: LiveServer, screens: Screens, world: World
) -> None:
    page = await screens.page(**PHONE, **EN)
    await page.goto(f"/events/{world.coming.id}")
    await page.get_by_role("button", name="Enter").tap()
    await expect(page.get_by_role("alert")).to_have_text("Write the name others will see.")
    await page.get_by_label("Your name").fill("Oscar")
    await page.get_by_label("Code").fill("summer")
    await page.get_by_role("button", name="Enter").tap()
    await expect(page.get_by_role("alert")).to_have_text("The code is not the right one.")
    await page.get_by_label("Code").fill("winter")
    await page.get_by_role("button", name="Enter").tap()
    await expect(page.locator("#next-title")).to_have_text("You are in")
    await expect(page.get_by_role("timer")).to_have_text(re.compile(r"^1:5\d:\d\duntil the start$"))


async def test_a_round_begins_and_its_players_are_called_wherever_they_are(
    live: LiveServer, screens: Screens
) -> None:
    async with person(live, "Анна") as anna, person(live, "Boris") as boris:
        hand = await an_event(live, "Duel", anna, boris, stages=[{"kind": "single_elimination"}])
        event = await screens.page(somebody=anna, **PHONE, **RU)
        await event.goto(f"/events/{hand.id}")
        await event.get_by_label("Переходить к доске без нажатия").check()
        rules = await screens.page(somebody=boris, **PHONE, **EN)
        await rules.goto("/rules")
        await rules.wait_for_selector(".prose")
        await expect(rules.locator(".call-bar")).to_have_count(0)
        await hand.service.start(hand.id, actor=hand.boss)
        await hand.open_round()
        await event.wait_for_url(f"**/match/{hand.id}-S1R1T1M1")  # by itself, as she wished
        await event.wait_for_selector(".stage .board")
        await expect(event.locator(".call-bar")).to_have_count(0)
        await expect(event.locator(".band.them .state")).to_have_text(
            re.compile(r"^не за доской, ждём (4:\d\d|5:00)$")
        )
        await expect(event.locator(".prompt")).to_contain_text("Не придёт вовремя — ему запишут неявку.")
        await rules.goto(f"/events/{hand.id}")
        card = rules.locator(".pair-card")
        await expect(card).to_contain_text("Waiting for the players")
        await expect(card).to_contain_text("not at the board yet")
        await rules.goto("/rules")
        bar = rules.locator(".call-bar")
        await expect(bar).to_contain_text("Your match is waiting")
        await expect(bar.locator("[role=timer]")).to_have_text(re.compile(r"^4:\d\d left$|^5:00 left$"))
        await bar.get_by_role("link", name="To the board").tap()
        await rules.wait_for_url(f"**/match/{hand.id}-S1R1T1M1")
        await expect(event.locator(".band.them .state")).not_to_contain_text("ждём")


async def test_who_has_been_given_another_link_is_told_so_on_every_page(
    live: LiveServer, screens: Screens
) -> None:
    async with person(live, "Boss") as boss, person(live, None) as gleb:
        made = await boss.post(
            "/api/admin/v1/events",
            {"title": {"en": "Cup", "ru": "Кубок"}, "settings": {"stages": [QUALIFYING]}},
        )
        event = f"/api/admin/v1/events/{made['id']}"
        await boss.post(f"{event}/open-entry", {})
        links = await listed(boss, made["id"], "Gleb", "Ivan")
        for call in ("start", "rounds", "round/publish", "round/start"):
            await boss.post(f"{event}/{call}", {})
        await gleb.post("/api/session/link", {"link": links[0]})
        board = await screens.page(somebody=gleb, **PHONE, **STILL)
        lines: list[WebSocketRoute] = []
        is_lost = False

        async def connected(socket: WebSocketRoute) -> None:
            if is_lost:
                await socket.close(code=1011)
                return
            lines.append(socket)
            socket.connect_to_server()

        await board.route_web_socket("**/ws/matches/*", connected)
        await board.goto(f"/events/{made['id']}")
        await board.locator("#next-go").tap(timeout=20_000)
        await board.wait_for_selector(".match .board")
        page, rules = await board.context.new_page(), await board.context.new_page()
        await page.clock.install()
        await rules.clock.install()
        await page.goto(f"/events/{made['id']}")
        await expect(page.locator("#next-go")).to_be_visible()
        await rules.goto("/rules")
        await expect(rules.locator(".call-bar")).to_contain_text("Ваш матч ждёт")

        is_lost = True
        await lines[-1].close(code=1011)
        await expect(board.locator("#line-state")).to_have_text("нет связи")
        renewed = await boss.post(f"{event}/entrants/1/link", {})
        is_lost = False
        await expect(board.locator("h1")).to_have_text("Личная ссылка заменена", timeout=10_000)
        await expect(board.locator(".board")).to_have_count(0)
        await expect(board.locator("#line-state")).to_be_hidden()
        await looked_at(board, "ru")
        for other in (page, rules):
            await other.bring_to_front()
            await other.clock.fast_forward(46_000)
            await expect(other.locator("#link-void")).to_contain_text("Откройте новую ссылку от организатора")
            await expect(other.locator(".call-bar")).to_have_count(0)
            await expect(other.locator("[data-player]").first).to_be_hidden()
        await expect(page.locator("#next-go")).to_have_count(0)
        await looked_at(page, "ru")
        await board.reload()
        await expect(board.locator("#link-void")).to_be_visible()
        await board.goto(renewed["link"])
        await expect(board.locator("#enter-go")).to_be_visible()
        await expect(board.locator("#link-void")).to_have_count(0)
        await board.locator("#enter-go").tap()
        await board.wait_for_selector(".match .board")

        await boss.post(f"{event}/entrants/1/link", {})
        await expect(board.locator("h1")).to_have_text("Личная ссылка заменена")
        opened = len(lines)
        await board.evaluate("dispatchEvent(new Event('online'))")
        assert len(lines) == opened, "it does not ask again"


async def test_an_organiser_makes_an_event_and_runs_it_from_its_page(
    live: LiveServer, screens: Screens
) -> None:
    async with person(live, "Судья") as judge:
        page = await screens.page(somebody=judge, **RU)
        press = lambda name: page.get_by_role("button", name=name, exact=True).click()  # noqa: E731
        title = page.locator("#step-title")
        await page.goto("/events/new")
        await page.get_by_label("Название по-русски").fill("Кубок двора")
        await page.get_by_text("Швейцарская система").click()
        await page.get_by_label("Туров").fill("1")
        await page.get_by_text("начинаю я").click()
        await press("Создать турнир")
        await page.wait_for_url("**/manage")
        await press("Открыть запись")
        await expect(title).to_have_text("Идёт запись")
        await page.get_by_role("link", name="Участники").click()
        await page.get_by_label("Или текст списка").fill("имя;посев\nФедот;1\nУстин;2\nГеля;0\n")
        await press("Записать список")
        await expect(page.get_by_role("status")).to_contain_text("Записано 2, уже были 0, с ошибкой 1.")
        await page.get_by_role("link", name="Ход").click()
        await press("Начать турнир")
        await press("Составить тур")
        await expect(title).to_have_text("Черновик: Швейцарская система, тур 1")
        await press("Объявить")
        await press("Начать тур")
        await expect(page.locator(".next-words")).to_contain_text("Ещё играют: 1.")
        await page.get_by_label(re.compile("^Решить: ")).click()
        await page.get_by_label(re.compile("^Очки: ")).fill("12")
        await page.get_by_label("Победитель").select_option(index=1)
        await page.get_by_role("dialog").get_by_label("Причина").fill("сыграно за доской")
        await press("Выполнить")
        await expect(page.locator(".manage-meetings")).to_contain_text("+12 : −12")
        await press("Закрыть тур")
        await press("Завершить турнир")
        await expect(title).to_have_text("Турнир завершён")
        await page.get_by_role("link", name="Журнал").click()
        await expect(page.locator(".log")).to_contain_text("сыграно за доской")
        await page.get_by_role("link", name="Страница турнира").click()
        await expect(page.locator(".event-facts")).to_contain_text(re.compile("Победитель(Федот|Устин)"))

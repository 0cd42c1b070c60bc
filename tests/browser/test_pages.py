"""Every page in both languages and both schemes, on a desktop and on a phone: words, axe, no sideways scroll."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page, expect

from app.web.pages import STATIC
from engine.dice import Roll
from engine.plays import after, legal_plays
from engine.variant import SHORT
from tests.browser.hand import Hand
from tests.browser.screens import DESKTOP, EN, PHONE, RU, STILL, Screens
from tests.support.server import QUICK, Display, LiveServer, Person, first_way, person

# Everything a person reads or hears: texts, and the labels of what has no text.
_WORDS = """() => {
  const found = [];
  const other = 'script, style, noscript, code, kbd, .hash, .code-text, [lang]:not(html)';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement, data } = walker.currentNode;
    if (data.trim() && !parentElement.closest(other)) found.push(data.trim());
  }
  for (const element of document.querySelectorAll('body :not([lang])')) {
    for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'aria-valuetext']) {
      if (element.getAttribute(name)) found.push(element.getAttribute(name));
    }
  }
  found.push(document.title);
  return found;
}"""
_STRANGERS = """async () => {
  const { live, waiting } = await (await fetch('/api/lobby')).json();
  const infos = [...live.map((one) => one.info), ...waiting];
  return infos.flatMap(({ players }) => [players.A, players.B]).filter(Boolean).map(({ name }) => name);
}"""
KEY = re.compile(r"^[a-z]+(\.[A-Za-z0-9_]+)+$")
UNFILLED = re.compile(r"\{\w*\}|undefined|NaN|\[object|null")


@dataclass
class World:
    """Matches in every state, and those who play them; the host has a bot, and a match that waits."""

    host: Person
    anna: Person
    invite: str
    waiting: str
    open: str
    played: str
    over: str


@asynccontextmanager
async def another(anna: Person, boris: Person) -> AsyncIterator[tuple[str, Display, Display]]:
    """One more match of these two, its first roll on the table."""
    hours = {"clock": {"bank_ms": 7_200_000}}  # nobody's flag falls while pages are looked at
    made = await anna.post("/api/matches", {"preset": "objective", "ruleset": {**QUICK, **hours}})
    await boris.post(f"/api/invites/{made['code']}/join")
    async with anna.display(made["id"]) as a, boris.display(made["id"]) as b:
        await asyncio.gather(a.until(lambda: a.view), b.until(lambda: b.view))
        await asyncio.gather(a.commit_seed(), b.commit_seed())
        await asyncio.gather(a.reveal_seed(), b.reveal_seed())
        await asyncio.gather(a.until_view(to_play), b.until_view(to_play))
        yield made["id"], a, b


async def play_another(display: Display) -> None:
    """A legal play that is not the first on the list, so that the games part."""
    turn = display.view["turn"]
    await display.play(first_way(display.view["mine"]["steps"], lambda edges: edges[-1]))
    await display.until_view(lambda view: view["turn"] != turn or view["mine"]["played"])


def to_play(view: Any) -> bool:
    """The phase is open, and I owe a play."""
    return bool(view["mine"] and view["mine"]["steps"])


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def world(live: LiveServer) -> AsyncIterator[World]:
    """One match that waits, one in which I am to play, one in which I have played, one that is over."""
    async with (
        person(live, "Vera") as host,
        person(live, "Anna") as anna,
        person(live, "Boris") as boris,
        another(anna, boris) as (open_, a, b),
        another(anna, boris) as (played, c, _),
        another(anna, boris) as (over, d, e),
    ):
        await host.post("/api/bots", {"name": "Zarik"})
        waiting = await host.post("/api/matches", {"preset": "objective"})
        await host.post("/api/matches", {"preset": "objective", "opponent": "anyone"})
        for first, second, phases in ((a, b, 2), (d, e, 3)):
            for _ in range(phases):
                await asyncio.gather(first.play_something(), play_another(second))
                await asyncio.gather(first.until_view(to_play), second.until_view(to_play))
        await c.play_something()
        await d.ask(type="resign", turn=d.view["turn"], points=d.view["mine"]["resign"]["points"])
        await e.until_view(lambda view: view["stage"] == "over")
        yield World(host, anna, waiting["code"], waiting["id"], open_, played, over)


Ready = Callable[[Page], Awaitable[None]]


@dataclass
class Place:
    """A page of the site in one state: how it is reached, and by whom."""

    path: Callable[[World], str]
    selector: str
    who: Callable[[World], Person | None] = lambda world: None
    then: Ready | None = None


async def open_more(page: Page) -> None:
    """Every panel of the match page."""
    await page.locator('[aria-controls="more"]').click()
    for summary in await page.locator("#more summary").all():
        await summary.click()


async def look(page: Page) -> None:
    """At the opponent's board."""
    await Hand(page).press("look")
    await expect(page.locator(".banner")).to_be_visible()


async def ask_to_resign(page: Page) -> None:
    """The question stands."""
    await page.locator(".feet-row .button").last.click()
    await expect(page.get_by_role("alertdialog")).to_be_visible()


async def change_rules(page: Page) -> None:
    """The keys of a new match are open."""
    await page.locator('[aria-controls="keys"]').click()


async def open_all(page: Page) -> None:
    """Every summary."""
    for summary in await page.locator("main summary").all():
        await summary.click()


async def make_token(page: Page) -> None:
    """It stands there to be copied."""
    await page.locator(".bot-list .button").first.click()
    await page.locator("dialog .button").last.click()
    await expect(page.locator(".token-box input")).to_be_visible()


PLACES = {
    "home": Place(lambda w: "/", "#create-button"),
    "home of a player, rules being changed": Place(
        lambda w: "/", "#create-button", lambda w: w.anna, change_rules
    ),
    "join": Place(lambda w: f"/join/{w.invite}", "form .button"),
    "join, no such invite": Place(lambda w: "/join/aaaa-aaaa", "main .button"),
    "waiting room": Place(lambda w: f"/match/{w.waiting}", ".qr", lambda w: w.host),
    # Points, and not sources: the dice may leave one play only, which is then laid out already.
    "match": Place(lambda w: f"/match/{w.open}", ".stage .hit", lambda w: w.anna),
    "match, all panels open": Place(lambda w: f"/match/{w.open}", ".stage .hit", lambda w: w.anna, open_more),
    "match, resigning": Place(lambda w: f"/match/{w.open}", ".stage .hit", lambda w: w.anna, ask_to_resign),
    "match, looking": Place(lambda w: f"/match/{w.played}", '[data-act="look"]', lambda w: w.anna, look),
    "match, watched": Place(lambda w: f"/match/{w.open}", ".watching .board"),
    "no such match": Place(lambda w: "/match/aaaaaaaa", "main h1"),
    "result": Place(lambda w: f"/match/{w.over}", ".parted figure", lambda w: w.anna),
    "result for others": Place(lambda w: f"/match/{w.over}", ".parted figure"),
    "rules": Place(lambda w: "/rules", ".prose section"),
    "rules of a match": Place(lambda w: f"/rules?match={w.open}", ".prose section"),
    "fairness": Place(lambda w: "/fairness", ".prose section"),
    "replay": Place(lambda w: f"/replay/{w.over}", ".replay-board .board"),
    "records": Place(lambda w: "/records", ".record-text textarea"),
    "bots": Place(lambda w: "/bots", "form .button", lambda w: w.host),
    "bots, a new token": Place(lambda w: "/bots", "form .button", lambda w: w.host, make_token),
    "bots of nobody yet": Place(lambda w: "/bots", "form .button"),
    "dice": Place(lambda w: "/dice", "textarea", then=open_all),
    "dice checked": Place(lambda w: f"/dice?match={w.over}", ".verdict-card", then=open_all),
}
NAMED = [pytest.param(place, id=name) for name, place in PLACES.items()]


async def show(page: Page, place: Place, world: World) -> None:
    """Go there and wait until all of it stands."""
    await page.goto(place.path(world))
    await page.wait_for_selector(place.selector)
    if place.then:
        await place.then(page)


async def words(page: Page, language: str) -> None:
    """No key, no place left open, and in English no Russian; in Russian at least something Russian."""
    await expect(page.locator("html")).to_have_attribute("lang", language)
    strangers = await page.evaluate(_STRANGERS)
    texts = await page.evaluate(_WORDS)
    assert [text for text in texts if KEY.match(text)] == []
    assert [text for text in texts if UNFILLED.search(text)] == []
    # Players of other tests keep their names; longer ones first, for one may begin as another.
    names = sorted((name for name in strangers if re.search("[А-Яа-яЁё]", name)), key=len, reverse=True)
    unnamed = [re.sub("|".join(map(re.escape, names)) or "$^", "", text) for text in texts]
    russian = [text for text in unnamed if re.search("[А-Яа-яЁё]", text)]
    if language == "en":
        assert russian == []
    else:
        assert len(russian) > 5


Kept = Callable[..., Awaitable[Page]]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def kept(browser: Browser, live: LiveServer) -> AsyncIterator[Kept]:
    """A page for each person and screen, which stays from test to test."""
    screens = Screens(browser, live.url)
    pages: dict[str, Page] = {}

    async def page(somebody: Person | None, **screen: Any) -> Page:
        key = f"{id(somebody)} {sorted(screen)} {screen['color_scheme']}"
        if key not in pages:
            pages[key] = await screens.page(somebody=somebody, **screen)
        return pages[key]

    yield page
    await screens.close()
    assert screens.errors == []


SCREENS = [
    pytest.param("ru", {**DESKTOP, **RU, **STILL, "color_scheme": "light"}, id="desktop, Russian, light"),
    pytest.param("en", {**PHONE, **EN, **STILL, "color_scheme": "dark"}, id="phone, English, dark"),
]


@pytest.mark.parametrize(("language", "screen"), SCREENS)
@pytest.mark.parametrize("place", NAMED)
async def test_a_page_is_in_words_axe_finds_nothing_and_nothing_scrolls_sideways(
    kept: Kept, world: World, place: Place, language: str, screen: dict[str, Any]
) -> None:
    page = await kept(place.who(world), **screen)
    await show(page, place, world)
    await words(page, language)
    found = (await Axe().run(page)).response["violations"]
    assert [(v["id"], [node["target"] for node in v["nodes"]]) for v in found] == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= screen["viewport"]["width"]


SWITCHED = [
    pytest.param(["home", "join", "rules", "fairness", "replay", "dice", "match, watched"], id="guest"),
    pytest.param(["match", "result"], id="player"),
    pytest.param(["waiting room"], id="who waits"),
]


@pytest.mark.parametrize("names", SWITCHED)
async def test_the_language_is_switched_on_every_page_and_kept_on_the_next(
    screens: Screens, world: World, names: list[str]
) -> None:
    page = await screens.page(somebody=PLACES[names[0]].who(world), **STILL)
    language, other, button = "ru", "en", "English"
    for name in names:
        place = PLACES[name]
        await show(page, place, world)
        await expect(page.locator("html")).to_have_attribute("lang", language)
        await page.get_by_role("button", name=button).click()
        await expect(page.locator("html")).to_have_attribute("lang", other)
        await page.wait_for_selector(place.selector)
        await words(page, other)
        language, other = other, language
        button = {"ru": "English", "en": "Русский"}[language]
    await page.goto("/rules")
    await page.wait_for_selector(".prose")
    await words(page, language)


LANGUAGES = [
    pytest.param("ru-RU", "ru", id="Russian"),
    pytest.param("kk-KZ", "ru", id="Kazakh: Russian"),
    pytest.param("en-US", "en", id="English"),
    pytest.param("de-DE", "en", id="German: English"),
]


@pytest.mark.parametrize(("locale", "language"), LANGUAGES)
async def test_the_first_language_is_the_browsers(screens: Screens, locale: str, language: str) -> None:
    page = await screens.page(locale=locale)
    await page.goto("/dice")
    await page.wait_for_selector("textarea")
    await expect(page.locator("html")).to_have_attribute("lang", language)


async def test_a_page_loads_nothing_from_elsewhere_and_no_sound(screens: Screens, world: World) -> None:
    page = await screens.page(somebody=world.anna, **STILL)
    asked: list[tuple[str, str]] = []
    page.on("request", lambda request: asked.append((request.resource_type, request.url)))
    await show(page, PLACES["match"], world)
    assert [url for _, url in asked if not url.startswith(screens.url)] == []
    assert {kind for kind, _ in asked} <= {
        "document",
        "stylesheet",
        "script",
        "fetch",
        "other",
        "image",
        "manifest",
    }


async def test_what_is_claimed_of_fairness_stands_two_steps_from_home_with_its_figures(
    screens: Screens,
) -> None:
    """§13: exactly fair, luck not gone, what the objective result does, own figures, no stakes, prior art."""
    page = await screens.page(**EN, **STILL)
    await page.goto("/")
    await page.get_by_role("link", name="How fair it is").click()
    await page.wait_for_selector(".prose section")
    said = await page.locator("main").inner_text()
    for claim in (
        "exactly fair",
        "Luck is not gone",
        "no stakes",
        "M. Maini",
        "2006",
        "1973",
        "GNU Backgammon",
    ):
        assert claim in said
    pairs = json.loads((STATIC / "objectivity.json").read_text(encoding="utf-8"))["pairs"]
    figures = page.locator("figure").first.locator("li b")
    needed = pairs["often"]["needed"]
    assert [float(text.replace(",", "")) for text in await figures.all_inner_texts()][1:] == [
        needed[way][0] for way in ("half", "checkers_half", "classic", "objective")
    ]
    await page.get_by_role("link", name="The rules in plain words").click()
    await page.get_by_role("link", name="How fair it is").first.click()
    await expect(page).to_have_url(re.compile("/fairness$"))


async def test_the_scheme_is_chosen_and_kept(screens: Screens, world: World) -> None:
    page = await screens.page(color_scheme="light", **STILL)
    await show(page, PLACES["rules"], world)
    background = "() => getComputedStyle(document.documentElement).backgroundColor"
    light = await page.evaluate(background)
    await page.get_by_role("button", name="Светлая или тёмная тема").click()
    dark = await page.evaluate(background)
    assert dark != light
    await page.goto("/")
    assert await page.evaluate(background) == dark


@pytest.mark.parametrize("screen", [pytest.param(PHONE, id="phone"), pytest.param(DESKTOP, id="desktop")])
async def test_a_player_sees_his_name_on_every_page_and_can_change_it(
    live: LiveServer, screens: Screens, screen: dict[str, Any]
) -> None:
    async with person(live, "Ирина") as irina:
        page = await screens.page(somebody=irina, **screen)
    await page.goto("/rules")
    small = screen is PHONE

    async def name() -> Any:
        if small:
            await page.locator(".menu summary").click()
        return page.locator(".menu [data-player]" if small else ".top-end > [data-player]")

    await expect(await name()).to_have_text(re.compile(r"^Ирина( #\w+)?$"))
    await page.locator("[data-player]:visible").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Ваше имя").fill("...")
    await dialog.get_by_role("button", name="Сохранить").click()
    await expect(dialog.get_by_role("alert")).not_to_be_empty()
    await dialog.get_by_label("Ваше имя").fill("Ирина Львова")
    async with page.expect_navigation():
        await dialog.get_by_role("button", name="Сохранить").click()
    await expect(await name()).to_have_text(re.compile(r"^Ирина Львова( #\w+)?$"))


async def test_a_wrong_address_is_said_in_words_with_a_way_home(screens: Screens) -> None:
    page = await screens.page(**EN)
    answer = await page.goto("/no/such/page")
    assert answer is not None
    assert answer.status == 404
    await expect(page.get_by_role("heading", level=1)).to_have_text("There is no such page.")
    await page.locator(".card a.button").click()
    await expect(page).to_have_url(re.compile(r"/$"))


async def test_a_play_is_written_as_the_server_writes_it(live: LiveServer, screens: Screens) -> None:
    """Hits are starred where they were made, and no stop is invented."""
    chance, position = random.Random(4), SHORT.opening()
    plays = []
    for _ in range(60):
        roll = Roll(chance.randint(1, 6), chance.randint(1, 6))
        play = chance.choice(legal_plays(position, roll))
        plays.append(play)
        position = after(position, play.moves).turned()
    page = await screens.page()
    await page.goto("/rules")
    moves = [[[m.start, m.end, m.die, int(m.hit)] for m in play.moves] for play in plays]
    written = await page.evaluate(
        "async (plays) => { const { playText } = await import('/static/js/turn.js'); return plays.map(playText); }",
        moves,
    )
    assert written == [str(play) for play in plays]
    assert any("*" in text for text in written)
    assert any("(2)" in text for text in written)

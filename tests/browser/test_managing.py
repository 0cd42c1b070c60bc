"""An organiser's page: a dispute about a match, who takes part, rounds by hand and settings, each walked through."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Locator, Page, Route, expect

from tests.browser.screens import EN, PHONE, RU, STILL, Screens
from tests.browser.test_pages import words
from tests.support.organising import API, BY_HAND
from tests.support.server import Display, LiveServer, Person, person


class Organiser:
    """An organiser at his page; what he does elsewhere goes by the same session."""

    def __init__(self, somebody: Person, event: str, page: Page) -> None:
        self.somebody, self.event, self.page = somebody, event, page
        self.path = f"{API}/events/{event}"

    async def open(self, tab: str = "run") -> None:
        await self.page.goto("about:blank")  # another tab of the same page is a new page here
        await self.page.goto(f"/events/{self.event}/manage#{tab}")
        await expect(self.page.locator("main h1")).to_be_visible()

    async def press(self, name: str | re.Pattern[str]) -> None:
        await self.page.get_by_role("button", name=name, exact=True).click()

    @property
    def question(self) -> Locator:
        """The dialog that asks before something is done."""
        return self.page.locator("dialog.ask:has([name=reason])")

    async def confirm(self, why: str) -> None:
        """Gives the reason in the dialog, and carries it out."""
        await self.question.locator("[name=reason]").fill(why)
        await self.question.locator("button.primary").click()

    async def done(self, why: str) -> None:
        """The same; the dialog is gone then."""
        await self.confirm(why)
        await expect(self.question).to_have_count(0)

    async def event_now(self) -> Any:
        return await self.somebody.get(self.path)

    async def sound(self, language: str) -> None:
        """In words, nothing for axe, no sideways scroll."""
        await words(self.page, language)
        found = (await Axe().run(self.page)).response["violations"]
        assert [(v["id"], [node["target"] for node in v["nodes"]]) for v in found] == []
        width = await self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width[0] <= width[1]


def pairing(one: str, other: str) -> re.Pattern[str]:
    """The line of these two; a tag stands closer to its name there than in a list to choose from."""
    return re.compile(f"{one}.*{other}".replace(" #", r"\s*#"))


@asynccontextmanager
async def an_organiser(
    live: LiveServer, screens: Screens, names: str, screen: dict[str, Any], **settings: Any
) -> AsyncIterator[Organiser]:
    """Of an event that is open for entry, which these have entered by a list."""
    async with person(live, "Judge") as judge:
        body = {"title": {"en": "Cup", "ru": "Кубок"}, "settings": {**BY_HAND, **settings}}
        made = await judge.post(f"{API}/events", body)
        organiser = Organiser(judge, made["id"], await screens.page(somebody=judge, **screen))
        await judge.post(f"{organiser.path}/open-entry", {})
        if names:
            listed = "\n".join(["name", *names.split()])
            path = f"{organiser.path}/entrants/import?new=true"
            answer = await judge.http.post(path, content=listed, headers={"Content-Type": "text/csv"})
            assert answer.json()["entered"] == len(names.split()), answer.text
        yield organiser


@asynccontextmanager
async def at_the_board(live: LiveServer, match: str, *people: Person) -> AsyncIterator[list[Display]]:
    """Two who sit at a match that has begun; the first is in seat A."""
    async with AsyncExitStack() as stack:
        async with asyncio.timeout(10):
            while (await people[0].http.get(f"/api/matches/{match}")).status_code != 200:
                await asyncio.sleep(0.05)
        displays = [await stack.enter_async_context(one.display(match)) for one in people]
        for display in displays:
            await display.until(lambda d=display: d.view)
        await asyncio.gather(*(display.commit_seed() for display in displays))
        await asyncio.gather(*(display.reveal_seed() for display in displays))
        for display in displays:
            await display.until_view(lambda view: view["stage"] == "playing", 10)
        yield sorted(displays, key=lambda display: str(display.view["seat"]))


async def play_phases(displays: list[Display], phases: int) -> None:
    """Both play whatever is to be played, so many phases long."""
    for _ in range(phases):
        turn = displays[0].view["turn"]
        for display in displays:
            await display.until_view(lambda view, turn=turn: view["turn"] == turn)
            if display.view["mine"]["steps"] and display.view["mine"]["steps"][0]:
                await display.play_something()
        for display in displays:
            await display.until_view(lambda view, turn=turn: view["turn"] != turn, 10)


class Adviser:
    """Finds each half of a match worth something, whatever was played."""

    async def judged(self, level: str, match: Any, index: int) -> Any:
        halves = SimpleNamespace(A=SimpleNamespace(equity=0.75), B=SimpleNamespace(equity=-0.5))
        return SimpleNamespace(halves=halves)

    async def rest(self) -> None:
        """Nothing rests."""


async def test_an_arbiter_settles_a_dispute_on_a_phone(
    live: LiveServer, screens: Screens, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        person(live, "Варвара") as varvara,
        person(live, "Игнат") as ignat,
        an_organiser(live, screens, "", {**PHONE, **RU, **STILL}) as judge,
    ):
        for name in ("Варвара", "Игнат"):
            await judge.somebody.post(f"{judge.path}/entrants", {"player": name})
        for step in ("start", "rounds", "round/publish", "round/start"):
            await judge.somebody.post(f"{judge.path}/{step}", {})
        match = f"{judge.event}-S1R1T1M1"
        panel = judge.page.locator(".match-dialog")
        stands = panel.locator(".match-stands")
        async with at_the_board(live, match, varvara, ignat) as (a, b):
            entrants = (await judge.event_now())["entrants"]
            seats = (await judge.somebody.get(f"{judge.path}/matches/{match}"))["match"]["entrants"]
            first, second = (entrants[seats[seat] - 1]["entrant"]["name"] for seat in "AB")
            await play_phases([a, b], 2)
            await judge.open()
            await judge.page.get_by_role("button", name=re.compile("^Матч: ")).tap()
            await expect(stands).to_have_text("Идёт. Доиграно раундов: 1.")
            await judge.sound("ru")

            # A pause: the reason is needed, what will happen is said; a pause that stands is not ordered again.
            await judge.press("Пауза")
            await expect(judge.question).to_contain_text("сам продолжится не позже чем через 10 минут")
            await judge.question.locator("button.primary").click()
            assert await judge.question.locator("[name=reason]").evaluate("field => !field.validity.valid")
            await judge.somebody.post(f"{judge.path}/matches/{match}/pause", {"reason": "a word"})
            await judge.confirm("спор о ходе")
            await expect(judge.question.get_by_role("alert")).to_contain_text("Матч уже на паузе")
            assert await judge.question.locator("[name=reason]").input_value() == "спор о ходе"
            await judge.press("Не нужно")
            await expect(stands).to_contain_text("Пауза начнётся с концом фазы.")
            await judge.press("Продолжить")
            await judge.done("разобрались")
            await expect(stands).to_have_text("Идёт. Доиграно раундов: 1.")

            await judge.press("Добавить время")
            await judge.page.get_by_label("Кому").select_option("B")
            await judge.page.get_by_label("Минут").fill("1.5")
            await expect(judge.question).to_contain_text(f"{second} получит на часы ещё 90 секунд")
            bank = b.view["seats"]["B"]["bank_ms"]
            await judge.done("пропала связь")
            await expect(panel.get_by_role("status")).to_have_text("Время добавлено.")
            await b.until_view(lambda view: view["seats"]["B"]["bank_ms"] == bank + 90_000)

            # Of the phase that is open the panel knows nothing.
            before = await panel.inner_text()
            await a.play_something()
            await panel.get_by_label("Заметка").fill("Первый ход сделан.")
            await judge.press("Записать")
            await expect(panel.locator(".notes li")).to_contain_text("Первый ход сделан.")
            after = await panel.inner_text()
            said = lambda text: text[: text.index("ЗАМЕТКИ" if "ЗАМЕТКИ" in text else "Заметки")]  # noqa: E731
            assert said(after) == said(before)

            # Nobody here can estimate; then somebody can, and the match goes on while it is looked at.
            await judge.press("Присудить")
            await expect(judge.question.locator(".estimate")).to_contain_text("Оценки нет")
            await judge.press("Не нужно")
            arbiter = live.services.arbiter
            monkeypatch.setattr(arbiter, "_adviser", Adviser())
            monkeypatch.setattr(arbiter, "_judges", ("bgsage 2",))
            await judge.press("Присудить")
            estimate = judge.question.locator(".estimate")
            await expect(estimate).to_contain_text("На конец раунда 1")
            await expect(estimate).to_contain_text(f"{first} +1,25")
            await expect(estimate).to_contain_text("bgsage 2")
            await judge.sound("ru")
            await b.play_something()
            await a.until_view(lambda view: view["turn"] == "2K")
            await play_phases([a, b], 1)
            await judge.page.get_by_label("Кто победил").select_option("B")
            await judge.page.get_by_label("На сколько очков").fill("7")
            await expect(judge.question).to_contain_text(f"{first} −7, {second} +7")
            await judge.confirm("не успевают")
            formula = (await judge.somebody.get(f"{judge.path}/matches/{match}/estimate"))["formula_for_A"]
            await expect(judge.question.get_by_role("alert")).to_contain_text("Сначала посмотрите оценку")
            await expect(estimate).to_contain_text("На конец раунда 2")
            await expect(estimate).to_contain_text("ничья" if formula == 0 else str(abs(formula)))
            await judge.done("не успевают")
        await expect(stands).to_contain_text(f"Окончен. {first} −7, {second} +7")

        await judge.press(f"Штраф: {second}")
        await judge.page.get_by_label("Снять очков", exact=True).fill("3")
        await expect(judge.question).to_contain_text(f"{second}: очки −3")
        await judge.done("телефон за доской")
        await judge.press("Назначить итог")
        await expect(judge.question).to_contain_text(f"Сейчас: {first} −7")
        await judge.page.get_by_label("Кто победил").select_option("0")
        await expect(judge.question).to_contain_text("ничья, очков нет ни у кого")
        await judge.done("так решили оба")
        await expect(stands).to_contain_text("ничья")
        await judge.press("Переиграть на новых зарах")
        await judge.done("ошибка в правилах")
        await expect(stands).to_contain_text("Не засчитан")
        await panel.get_by_role("button", name="Закрыть").tap()
        again = judge.page.get_by_role("button", name=re.compile("^Матч 2: "))
        await again.tap()
        await expect(stands).to_contain_text("Ещё не начат")
        await panel.get_by_role("button", name="Закрыть").tap()
        now = await judge.event_now()
        assert [(one["points"], one["reason"]) for one in now["penalties"]] == [(3, "телефон за доской")]
        made = [one["ending"] for one in now["view"]["stages"][0]["rounds"][0]["meetings"][0]["matches"]]
        assert made == ["void", None]


async def test_a_double_click_is_one_press(live: LiveServer, screens: Screens) -> None:
    """What is next stands where the button before it stood."""
    async with an_organiser(live, screens, "Anna Boris", {**EN, **STILL}) as boss:
        await boss.open()
        start = boss.page.get_by_role("button", name="Start the event", exact=True)
        box = await start.bounding_box()
        assert box
        at = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        sent: list[str] = []
        boss.page.on("request", lambda call: sent.append(call.url) if call.method == "POST" else None)
        await boss.page.mouse.click(*at)
        draft = boss.page.get_by_role("button", name="Draft the round", exact=True)
        under = await draft.bounding_box()
        assert under
        assert under["x"] < at[0] < under["x"] + under["width"]
        assert under["y"] < at[1] < under["y"] + under["height"]
        await boss.page.mouse.down(click_count=2)
        await boss.page.mouse.up(click_count=2)
        await draft.click()
        await expect(boss.page.get_by_role("button", name="Publish", exact=True)).to_be_visible()
        assert [url.rpartition(boss.event)[2] for url in sent] == ["/start", "/rounds"]


async def test_an_organiser_decides_who_takes_part(live: LiveServer, screens: Screens) -> None:
    entry = {"late_rounds": 2, "check_in_ms": 7_200_000}
    starts_at = time.time_ns() // 1_000_000 + 3_600_000
    names = "Hugo Iris Jules Kate"
    async with (
        person(live, "Leonard"),
        person(live, "Monica"),
        person(live, None) as kate,
        an_organiser(live, screens, names, {**EN, **STILL}, entry=entry, starts_at=starts_at) as judge,
    ):
        page = judge.page
        await judge.open("entrants")
        numbers = {
            one["entrant"]["name"]: one["entrant"]["number"] for one in (await judge.event_now())["entrants"]
        }
        line = lambda name: page.locator(".manage-entrants > li", has_text=name)  # noqa: E731
        let_go = asyncio.Event()

        async def slowly(call: Route) -> None:
            await let_go.wait()
            await call.continue_()

        await page.route("**/seed", slowly)
        await page.get_by_label("Seed of Kate").fill("1")
        await page.get_by_label("Seed of Kate").blur()
        await page.locator("#pair-first").select_option(label="Kate")
        await page.locator("#pair-second").select_option(label="Hugo")
        await judge.press("Forbid the pair")
        await expect(judge.question).to_contain_text("Kate – Hugo: not paired from the next draft on.")
        await judge.confirm("one club")  # what is on its way still comes first, and neither is refused
        let_go.set()
        await expect(judge.question).to_have_count(0)
        await expect(page.locator(".act-list")).to_contain_text("Hugo – Kate")
        await judge.press("More: Iris")
        await line("Iris").get_by_role("button", name="Substitute").click()
        await page.get_by_label("Who takes the place").fill("Nobody Here")
        await judge.confirm("ill")
        await expect(judge.question.get_by_role("alert")).to_have_text("There is no such player.")
        await page.get_by_label("Who takes the place").fill("Leonard")
        await expect(judge.question).to_contain_text("Leonard takes the place of Iris")
        await judge.sound("en")
        await judge.done("ill")
        await expect(line("Leonard")).to_be_visible()
        await expect(line("Iris")).to_have_count(0)
        await line("Jules").get_by_role("button", name="Withdraw").click()
        await judge.done("")
        await line("Jules").get_by_role("button", name="Bring back").click()
        await expect(line("Jules")).to_contain_text("taking part")
        await judge.press("More: Kate")
        await line("Kate").get_by_role("button", name="New link").click()
        await expect(judge.question).to_contain_text(
            "The old one, and all that it opened, stops working at once"
        )
        await judge.sound("en")
        await judge.done("lost on the way")
        told = page.locator("main > [role=status]")
        await expect(told).to_contain_text("New link: Kate")
        await expect(told.get_by_role("button", name="Copy")).to_be_visible()
        await kate.post("/api/session/link", {"link": await told.locator("code").inner_text()})
        assert (await kate.get("/api/session"))["player"]["name"] == "Kate"
        await judge.press("More: Leonard")
        await expect(line("Leonard").get_by_role("button", name="Substitute")).to_be_visible()
        await expect(line("Leonard").get_by_role("button", name="New link")).to_have_count(0)
        await line("Kate").get_by_role("button", name="Is here").click()
        await expect(line("Kate")).to_contain_text("checked in")
        for number in set(numbers.values()) - {numbers["Kate"]}:
            await judge.somebody.post(f"{judge.path}/entrants/{number}/check-in", {})
        now = await judge.event_now()
        assert now["forbidden"] == [sorted((numbers["Kate"], numbers["Hugo"]))]
        assert {one["entrant"]["name"]: one["entrant"]["seed"] for one in now["entrants"]}["Kate"] == 1

        await judge.somebody.post(f"{judge.path}/start", {})
        await judge.open("entrants")
        await expect(page.locator("main")).to_contain_text("Entry ends when round 2 is drafted.")
        await page.get_by_label("Name (with its tag").fill("Monica")
        await judge.press("Enter")
        await expect(line("Monica")).to_contain_text("taking part")
        await judge.press("More: Jules")
        await line("Jules").get_by_role("button", name="Penalty").click()
        await expect(judge.question).to_contain_text("Say what is taken.")
        await judge.confirm("late")
        await expect(judge.question.get_by_role("alert")).to_be_visible()
        await page.get_by_label("Match points to take").fill("1")
        await judge.done("late")
        await expect(page.locator(".act-list").last).to_contain_text("Jules stage 1: match points −1")
        await judge.press("More: Jules")
        await line("Jules").get_by_role("button", name="Exclude").click()
        await expect(judge.question).to_contain_text("there is no way back")
        await judge.done("rude")
        await expect(line("Jules")).to_contain_text("excluded")
        await page.get_by_role("button", name="Allow again: ").click()
        await judge.done("they do not mind")
        await expect(page.get_by_role("button", name="Allow again: ")).to_have_count(0)
        for step in ("rounds", "round/publish", "round/start"):
            await judge.somebody.post(f"{judge.path}/{step}", {})
        await judge.open("settings")
        await page.get_by_label("Late players, until round").fill("1")
        await page.get_by_role("button", name="Save").nth(1).click()
        await expect(page.locator("main > [role=status]")).to_have_text("Saved.")
        await judge.open("entrants")
        await expect(page.locator("main")).to_contain_text("Nobody enters any more: the event runs.")
        await judge.sound("en")

        (here,) = (await judge.somebody.get(f"{judge.path}/matches?entrant={numbers['Kate']}"))["matches"]
        board = await screens.page(somebody=kate, **EN, **STILL)
        await board.goto(f"/match/{here['match']['id']}")
        await expect(board.locator("svg.board").first).to_be_visible()
        await judge.somebody.post(f"{judge.path}/entrants/{numbers['Kate']}/link", {})
        await expect(board.locator("main h1")).to_have_text("The personal link was replaced")
        await expect(board.locator("svg.board, [data-player]:visible")).to_have_count(0)
        await expect(board.locator("#line-state")).to_be_hidden()
        await judge.open("log")
        await expect(page.locator(".log")).to_contain_text(re.compile(r"link replaced\s*Kate"))


async def test_an_organiser_changes_settings_and_makes_a_round_by_hand(
    live: LiveServer, screens: Screens
) -> None:
    async with an_organiser(live, screens, "Антип Богдан Влас Глеб Демид", {**RU, **STILL}) as judge:
        page, title = judge.page, judge.page.locator("#step-title")
        await judge.open("settings")
        save, saved = page.get_by_role("button", name="Сохранить"), page.locator("main > [role=status]")
        await page.get_by_label("Название по-русски").fill("Кубок осени")
        await save.nth(0).click()
        await expect(page.locator("main h1")).to_have_text("Управление: Кубок осени")
        await page.get_by_label("Отметка перед началом").select_option("30")
        await save.nth(1).click()
        await expect(page.locator("main [role=alert]")).to_contain_text("«Отметка перед началом»")
        await page.get_by_label("Отметка перед началом").select_option("")
        await page.get_by_label("Неявка через").fill("7.5")
        await page.get_by_label("Туров").fill("2")
        # What another has changed meanwhile stays as he wants it.
        await judge.somebody.http.patch(
            f"{judge.path}/settings", json={"settings": {"entry": {"capacity": 8}}}
        )
        await save.nth(1).click()
        await expect(page.locator("main [role=alert]")).to_contain_text("тем временем изменился")
        await save.nth(1).click()
        await expect(saved).to_have_text("Сохранено.")
        async with page.expect_response(lambda answer: answer.request.method == "PATCH"):
            await save.nth(2).click()
        await expect(saved).to_have_text("Сохранено.")
        await judge.sound("ru")
        now = await judge.event_now()
        assert (now["settings"]["no_show_s"], now["settings"]["stages"][0]["rounds"]) == (450, 2)
        assert now["settings"]["entry"]["capacity"] == 8
        assert now["settings"]["ruleset"]["reveal_ms"] == 0, "what was not touched stays"

        await judge.open()
        await judge.press("Начать турнир")
        await page.get_by_text("Расставить вручную").click()
        places = page.locator(".seed-list select")
        names = await places.evaluate_all("all => all.map(one => one.selectedOptions[0].text)")
        await places.nth(4).select_option(label=names[0])
        await judge.press("Сохранить порядок")
        await judge.done("по рейтингу клуба")
        await expect(places.first).to_have_value(
            str((await judge.event_now())["view"]["stages"][0]["seeds"][0])
        )
        assert await places.evaluate_all("all => all.map(one => one.selectedOptions[0].text)") == [
            names[4],
            *names[1:4],
            names[0],
        ]

        await judge.press("Составить тур")
        await expect(title).to_contain_text("Черновик")
        await page.get_by_text("Изменить пары").click()
        seats = page.locator(".pair-row select")
        drafted = await seats.evaluate_all("all => all.map(one => one.selectedOptions[0].text)")
        assert drafted[5] == "без игры"
        await seats.nth(0).select_option(label=drafted[2])
        await expect(page.get_by_text("Изменено 2 места, ещё не сохранено.")).to_be_visible()
        await judge.press("Сохранить пары")
        await expect(page.locator(".manage-meetings > li").first).to_contain_text(
            pairing(drafted[2], drafted[1])
        )
        await expect(page.locator(".manage-meetings > li").nth(1)).to_contain_text(
            pairing(drafted[0], drafted[3])
        )
        # Meanwhile the event changes elsewhere: what was meant for another state is not done, and that is said.
        await judge.somebody.http.patch(f"{judge.path}/settings", json={"settings": {"no_show_s": 600}})
        await judge.press("Объявить")
        await expect(page.locator("main [role=alert]")).to_contain_text("тем временем изменился")
        await judge.press("Объявить")
        await expect(title).to_contain_text("Объявлен")
        await page.get_by_label("Начало тура").fill("2100-01-01T12:00")
        await judge.press("Сохранить")
        await expect(page.locator(".next-words")).to_contain_text("2100")
        await judge.press("Отменить тур")
        await expect(judge.question).to_contain_text("Его можно составить снова.")
        await judge.done("ещё один игрок")
        await expect(title).to_have_text("Следующий тур")
        for name in ("Составить тур", "Объявить", "Начать тур"):
            await judge.press(name)
        await judge.press("Назначить срок")
        await judge.question.get_by_label("До").fill("2100-01-02T12:00")
        await expect(judge.question).to_contain_text("Тур идёт до")
        await judge.done("до утра")
        await expect(page.locator(".next-card")).to_contain_text("2100")
        await judge.press("Закрыть тур")
        await expect(page.locator("main [role=alert]")).to_contain_text("За этими столами ещё играют: 1, 2")
        for table in (1, 2):
            ruling = {"points_for_a": 3, "winner": None, "reason": "x"}
            await judge.somebody.post(f"{judge.path}/meetings/1-1-{table}/result", ruling)
        await judge.open()
        await judge.press("Закрыть тур")
        await judge.press("Составить тур")

        # Who has met already meets again only with a reason, which the log keeps.
        met = [
            (one["a"], one["b"])
            for one in (await judge.event_now())["view"]["stages"][0]["rounds"][0]["meetings"]
        ]
        await page.get_by_text("Изменить пары").click()
        for n, number in enumerate((*met[0], *met[1], met[2][0])):
            await seats.nth(n).select_option(str(number))
        await judge.press("Сохранить пары")
        await expect(judge.question).to_contain_text("уже встречались")
        await judge.sound("ru")
        await judge.done("так хотят оба")
        await expect(page.locator(".notice.warn")).to_contain_text("уже встречались")
        await page.locator("#round-pick").select_option("1-1")
        await expect(page.locator(".manage-meetings > li").first).to_contain_text("решение судьи")
        await page.get_by_role("link", name="Журнал").click()
        await expect(page.locator(".log")).to_contain_text("так хотят оба")

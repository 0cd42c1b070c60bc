"""The page of one's bots, and how everybody else sees a bot."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Page, expect
from sqlalchemy import update

from app.service.bots import BOTS_OF_ONE, TOKEN
from app.store.tables import matches
from tests.browser.conftest import Stage
from tests.browser.screens import DESKTOP, EN, PHONE, RU, STILL, Screens
from tests.builders import A, B, a_phase, rules
from tests.support.server import QUICK, LiveServer, a_bot, bot, person, play_to_the_end

START = "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2"
SCREENS = [
    pytest.param({**DESKTOP, **EN, **STILL}, id="desktop, English"),
    pytest.param({**PHONE, **RU, **STILL}, id="phone, Russian"),
]


def is_russian(screen: dict[str, Any]) -> bool:
    return bool(screen["locale"] == RU["locale"])


async def press(page: Page, name: str) -> None:
    await page.get_by_role("button", name=name, exact=True).click()


@pytest.mark.parametrize("screen", SCREENS)
async def test_a_bot_is_made_in_three_clicks_from_any_page_and_its_token_is_shown_once(
    live: LiveServer, screens: Screens, screen: dict[str, Any]
) -> None:
    russian = is_russian(screen)
    async with person(live, "Vera") as vera:
        page = await screens.page(somebody=vera, **screen)
        await page.goto("/rules")
        if "is_mobile" in screen:
            await page.locator(".menu summary").click()
        await page.locator("[data-player]:visible").click()
        await page.get_by_role("link", name="Мои боты" if russian else "My bots").click()
        await page.get_by_label("Имя бота" if russian else "Name of the bot").fill("Zarik")
        await press(page, "Создать бота" if russian else "Create bot")
        field = page.locator(".token-box input")
        await expect(field).to_be_focused()
        token = await field.input_value()
        assert TOKEN.fullmatch(token)
        async with bot(live, token) as program:
            assert (await program.get("/api/session"))["player"]["name"] == "Zarik"
        row = page.locator(".bot-list li")
        await expect(row.locator(".bot-who")).to_contain_text("бот" if russian else "bot")
        await page.reload()
        await expect(row).to_have_count(1)
        await expect(page.locator(".token-box")).to_have_count(0)
        assert token not in await page.content()


async def test_a_token_is_replaced_taken_away_and_its_bot_deleted_after_a_question(
    live: LiveServer, screens: Screens
) -> None:
    async with person(live, "Vera") as vera:
        first = (await vera.post("/api/bots", {"name": "Kubik"}))["token"]
        page = await screens.page(somebody=vera, **EN, **STILL)
        await page.goto("/bots")
        row, dialog = page.locator(".bot-list li"), page.get_by_role("alertdialog")

        async def works(token: str) -> bool:
            async with bot(live, token) as program:
                return (await program.http.get("/api/session")).status_code == 200

        renew = row.get_by_role("button", name=re.compile("^New token for Kubik"))
        await renew.click()
        await expect(dialog).to_contain_text("The old one stops working")
        await dialog.get_by_role("button", name="Cancel").click()
        assert await works(first)
        await renew.click()
        await dialog.get_by_role("button", name="New token").click()
        second = await page.locator(".token-box input").input_value()
        assert second != first
        assert (await works(first), await works(second)) == (False, True)

        await row.get_by_role("button", name=re.compile("^Revoke the token of Kubik")).click()
        await dialog.get_by_role("button", name="Revoke").click()
        await expect(row).to_contain_text("No token: it cannot come in")
        await expect(page.locator(".token-box")).to_have_count(0)
        assert not await works(second)
        await renew.click()  # nothing is lost by that: no question
        third = await page.locator(".token-box input").input_value()
        assert await works(third)

        await row.get_by_role("button", name=re.compile("^Delete Kubik")).click()
        await dialog.get_by_role("button", name="Delete").click()
        await expect(row).to_have_count(0)
        assert not await works(third)


async def test_whoever_has_no_name_yet_says_it_on_the_same_form(live: LiveServer, screens: Screens) -> None:
    page = await screens.page(**EN, **STILL)
    await page.goto("/")
    await page.get_by_role("link", name="Programs may play here too: bots.").click()
    await press(page, "Create bot")
    await expect(page.get_by_role("alert")).to_have_text("A name needs at least one letter.")
    await page.get_by_label("Your name").fill("Olga")
    await page.get_by_label("Name of the bot").fill("Computer")
    await press(page, "Create bot")
    await expect(page.get_by_role("alert")).to_have_text("That is what the computer is called here.")
    await page.get_by_label("Name of the bot").fill("Olgas")
    await press(page, "Create bot")
    await expect(page.locator(".token-box input")).to_be_visible()
    await expect(page.locator(".top-end > [data-player]")).to_have_text(re.compile("^Olga"))


async def test_when_there_is_no_room_for_another_bot_the_page_says_so(
    live: LiveServer, screens: Screens
) -> None:
    async with person(live, "Vera") as vera:
        for number in range(BOTS_OF_ONE):
            await vera.post("/api/bots", {"name": f"Zarik {number}"})
        page = await screens.page(somebody=vera, **EN, **STILL)
        await page.goto("/bots")
        await expect(page.locator("form")).to_contain_text(f"You have {BOTS_OF_ONE} bots")
        await expect(page.get_by_role("button", name="Create bot")).to_have_count(0)


# ---------------------------------------------------------------------------------------------------- seen by others


async def test_a_bot_is_marked_in_the_list_at_the_table_and_afterwards(
    live: LiveServer, screens: Screens
) -> None:
    async with a_bot(live, "Marvin") as program, person(live, "Vera") as vera:
        page = await screens.page(somebody=vera, **EN, **STILL)
        watching = await screens.page(**RU, **STILL)
        made = await program.post("/api/matches", {"opponent": "anyone", "ruleset": QUICK})
        async with program.display(made["id"]) as a:
            await page.goto("/")
            row = page.locator(".wait-list li").filter(has_text="Marvin")
            await expect(row.locator(".bot-mark")).to_have_text("bot")
            await expect(row).to_contain_text("not rated")
            await row.get_by_role("button", name=re.compile("Play with Marvin.* · bot")).click()
            await expect(page).to_have_url(re.compile(f"/match/{made['id']}$"))
            await a.until(lambda: a.view)
            await a.commit_seed()
            await a.reveal_seed()
            await a.until_view(lambda v: v["stage"] == "playing")
            await expect(page.locator(".band.them .name")).to_have_text(re.compile(r"^Marvin.* · bot"))
            await watching.goto(f"/match/{made['id']}")
            await expect(watching.locator(".band .name").filter(has_text="Marvin").first).to_have_text(
                re.compile(r"^Marvin.* · бот")
            )
            async with vera.display(made["id"]) as b:
                await b.until(lambda: b.view)
                await asyncio.gather(play_to_the_end(a, b))
        await expect(page.locator(".hero .bot-mark")).to_have_text("bot")
        await expect(page.locator("main")).to_contain_text("A match against the computer changes no rating.")
        await page.goto(f"/replay/{made['id']}")
        await expect(page.locator(".replay-name").filter(has_text="Marvin").first).to_have_text(
            re.compile(r"^Marvin.* · bot")
        )
        await page.goto(f"/dice?match={made['id']}")
        await expect(page.locator(".verdict-card")).to_contain_text("Marvin · bot")


# ------------------------------------------------------------------------------------------- what else is left waiting


@pytest.mark.parametrize("screen", SCREENS)
async def test_a_computer_that_no_server_has_is_said_to_be_missing(
    stage: Stage, screen: dict[str, Any]
) -> None:
    """To whoever waits for it; what can be done about it is said too."""
    table = a_phase("3W", "6-2", x=START, y=START)
    table.play(A, "24/18 13/11")
    staged = await stage(table, **screen)
    prompt = staged.page.locator("#prompt")
    await expect(prompt).not_to_contain_text("сервере" if is_russian(screen) else "server")
    staged.table.leave(B, after=staged.now() - staged.table.match.shown_at)
    await staged.lack_computer(True)
    await expect(prompt).to_have_text(
        "Этого компьютера сейчас нет ни на одном сервере. Матч пойдёт дальше, как только он появится. "
        "Если не появится вовремя, матч закончится, как при уходе соперника."
        if is_russian(screen)
        else "No server has this computer just now. The match goes on as soon as one has. "
        "If none has in time, it ends as when an opponent leaves."
    )
    left = r"нет связи, ждём (1:5\d|2:00)" if is_russian(screen) else r"reconnecting, (1:5\d|2:00) left"
    await expect(staged.page.locator(".band.them .state")).to_have_text(re.compile(f"^{left}$"))
    assert await staged.page.evaluate("document.documentElement.scrollWidth") <= screen["viewport"]["width"]
    staged.table.back(B, after=staged.now() - staged.table.match.shown_at)
    await staged.lack_computer(False)
    await expect(prompt).not_to_contain_text("сервере" if is_russian(screen) else "server")


async def test_without_a_clock_a_missing_computer_is_waited_for_a_day(stage: Stage) -> None:
    untimed = rules(clock={"type": "none"}, time={"mode": "off"}, rated=False)
    table = a_phase("3W", "6-2", x=START, y=START, ruleset=untimed)
    table.play(A, "24/18 13/11")
    staged = await stage(table, **DESKTOP, **EN, **STILL)
    await staged.lack_computer(True)
    await expect(staged.page.locator("#prompt")).to_contain_text("After 24 hours without a play it is void.")


@pytest.mark.parametrize("screen", SCREENS)
async def test_a_match_that_has_waited_too_long_says_so(
    live: LiveServer, screens: Screens, screen: dict[str, Any]
) -> None:
    store = live.services.lobby._store
    async with person(live, "Vera") as vera:
        made = await vera.post("/api/matches", {"opponent": "link"})
        gone = (
            update(matches).where(matches.c.id == made["id"]).values(state="cancelled", cancelled="expired")
        )
        await store._database.write(lambda connection: connection.execute(gone))
        page = await screens.page(somebody=vera, **screen)
    await page.goto(f"/match/{made['id']}")
    await expect(page.get_by_role("heading", level=1)).to_have_text(
        "Матч ждал слишком долго" if is_russian(screen) else "The match has waited too long"
    )
    await page.goto(f"/join/{made['code']}")
    await expect(page.get_by_role("heading", level=1)).to_have_text(
        "Приглашение истекло" if is_russian(screen) else "The invitation has expired"
    )

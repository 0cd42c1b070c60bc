"""The page of records: every family as a visitor enters it, in both languages, by mouse and by keyboard."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, expect

from tests.browser.screens import DESKTOP, EN, PHONE, RU, STILL, Screens
from tests.browser.test_pages import words

DATA = Path(__file__).parents[1] / "data" / "records"
ENGLISH = {**PHONE, **EN, **STILL, "color_scheme": "dark"}
RUSSIAN = {**DESKTOP, **RU, **STILL, "color_scheme": "light"}


async def entered(screens: Screens, text: str, screen: dict[str, Any]) -> Page:
    """The page after a text was put in and checked."""
    page = await screens.page(**screen)
    await page.goto("/records")
    await page.locator(".sheet textarea").fill(text)
    await page.get_by_role("button", name="Check" if screen is ENGLISH else "Проверить").click()
    await expect(page.locator(".verdict-card, .notice.warn")).to_be_visible()
    return page


async def is_fit(page: Page, screen: dict[str, Any], language: str) -> None:
    """In words, nothing found by axe, nothing wider than the screen."""
    found = (await Axe().run(page)).response["violations"]
    assert [(v["id"], [node["target"] for node in v["nodes"]]) for v in found] == []
    assert await page.evaluate("document.documentElement.scrollWidth") <= screen["viewport"]["width"]
    if language == "en":
        await words(page, language)


async def test_a_match_is_shown_on_both_boards_and_stepped_through_by_keyboard(screens: Screens) -> None:
    text = (DATA / "objective_full_int.txt").read_text("utf-8")
    page = await entered(screens, text, ENGLISH)
    await expect(page.locator(".verdict-card h2")).to_have_text("All is right")
    await expect(page.locator(".outcome")).to_have_text("checked: plays, points, times; points 74:-74")
    await expect(page.locator(".replay-board svg")).to_have_count(2)
    await page.locator(".record-buttons .button").nth(2).click()
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowLeft")
    await expect(page.locator(".replay-now b")).to_have_text("Round 1, Black")
    await expect(page.locator(".replay-play").first).to_have_text("Boris: 13/9 9/6")
    await page.keyboard.press("End")
    await expect(page.locator(".replay-now .num")).to_have_text("58 of 58")
    await is_fit(page, ENGLISH, "en")


async def test_a_misprint_is_marked_in_its_place_and_the_game_is_found_and_written_in_chinese(
    screens: Screens,
) -> None:
    text = (DATA / "xiangqi_example.txt").read_text("utf-8")
    page = await entered(screens, text, RUSSIAN)
    await expect(page.locator(".verdict-card h2")).to_have_text("1 ошибка")
    await expect(page.locator(".marks mark.fault")).to_have_text("R2+1")
    await page.get_by_role("button", name="строка 4, знак 4").click()
    chosen = (
        "() => { const f = document.activeElement; return f.value.slice(f.selectionStart, f.selectionEnd) }"
    )
    assert await page.evaluate(chosen) == "R2+1"
    await page.get_by_role("button", name="Что могло быть написано").click()
    await expect(page.locator(".candidates > li")).to_have_count(2)
    await page.get_by_role("button", name="Взять 1-ю").click()
    await page.get_by_role("button", name="В конец").click()
    await expect(page.locator(".record-board > .muted")).to_contain_text("мат")
    await expect(page.locator(".xiangqi .pieces > g")).to_have_count(20)
    await page.get_by_label("Форма").select_option("cn_trad")
    written = (DATA / "xiangqi_example_cn_trad.txt").read_text("utf-8")
    await expect(page.get_by_label("Запись в другой форме")).to_have_value(written)
    async with page.expect_download() as waited:
        await page.get_by_role("link", name="Сохранить файл").click()
    assert (await waited.value).suggested_filename == "record-cn_trad.txt"
    await is_fit(page, RUSSIAN, "ru")


async def test_a_throw_is_drawn_from_its_cell_with_its_lengths_and_dice(screens: Screens) -> None:
    page = await entered(screens, "1) 122_46_ (12233) RR32  33_666_ (12334) LL34\n", ENGLISH)
    await expect(page.locator(".place.notes")).to_contain_text("The record is not whole")
    await page.get_by_role("button", name="Forward", exact=True).click()
    await expect(page.locator(".throw.now text")).to_have_text(["3", "2"])
    await expect(page.locator(".throw-data u")).to_have_text(["4 ", "6 "])
    await expect(page.get_by_label("The record in another form")).to_have_value("1) RR32 LL34\n")
    await is_fit(page, ENGLISH, "en")


async def test_a_file_in_an_old_encoding_is_read(screens: Screens) -> None:
    page = await screens.page(**RUSSIAN)
    await page.goto("/records")
    text = (DATA / "objective_short_ru.txt").read_text("utf-8")
    upload: Any = {"name": "матч.txt", "mimeType": "text/plain", "buffer": text.encode("windows-1251")}
    await page.locator("#file").set_input_files(upload)
    await expect(page.locator(".taken")).to_contain_text("Нарды объективные · Краткая · Русский")
    await expect(page.locator(".sheet textarea")).to_have_value(text)
    await expect(page.locator(".place.notes")).to_contain_text("Кодировка определена по тексту")
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("match.mat", (DATA / "mat_example.mat").read_bytes())
    upload = {"name": "match.zip", "mimeType": "application/zip", "buffer": made.getvalue()}
    await page.locator("#file").set_input_files(upload)
    await expect(page.locator(".taken")).to_contain_text("Нарды в .mat")
    await expect(page.locator(".place.notes")).to_contain_text("Прочитано из zip")
    forms = page.get_by_label("Форма")
    assert (
        len(set(await forms.locator("option").all_text_contents())) == await forms.locator("option").count()
    )


async def test_what_was_expected_is_said_in_the_language_of_the_page(screens: Screens) -> None:
    page = await entered(screens, "1) L51 M32\n", RUSSIAN)
    await expect(page.locator(".place.faults")).to_contain_text("ожидалось: LL, L, R или RR, затем длины")
    text = (DATA / "objective_full_int.txt").read_text("utf-8").replace("| 13/7 7/4 ", "| 13/7 7/5 ", 1)
    await page.locator(".sheet textarea").fill(text)
    await page.get_by_role("button", name="Проверить").click()
    too_much = (
        "() => { const data = new DataTransfer(); data.setData('text', 'a'.repeat(1000001)); return data }"
    )
    paste = """(data) => document.querySelector('.sheet textarea').dispatchEvent(
        new ClipboardEvent('paste', { clipboardData: data, cancelable: true }))"""
    several = "ожидалось: один из 14 возможных ходов при 6-3, например 24/18 24/21"
    await expect(page.locator(".place.faults").first).to_contain_text(several)
    assert await page.evaluate(paste, await page.evaluate_handle(too_much)) is False, "it is kept out"
    await expect(page.locator(".notice.warn")).to_have_text("Это больше 1 МБ: столько здесь не читается.")
    await expect(page.locator(".sheet textarea")).to_have_value(text)
    await page.locator(".sheet textarea").fill(
        ('"' * 1_000 + "\n") * 600
    )  # as JSON this is more than a megabyte
    await page.get_by_role("button", name="Проверить").click()
    await expect(page.locator(".notice.warn")).to_contain_text(
        "Это не запись ни одной из известных здесь игр"
    )
    assert await page.locator(".gutter").evaluate("(gutter) => gutter.childNodes.length") == 1, "of 601 lines"


@pytest.mark.parametrize("screen", [pytest.param(RUSSIAN, id="desktop"), pytest.param(ENGLISH, id="phone")])
async def test_both_games_of_a_mat_stand_side_by_side_and_no_record_is_said_to_be_none(
    screens: Screens, screen: dict[str, Any]
) -> None:
    page = await entered(screens, "Dear Sir, ", screen)
    await expect(page.locator(".notice.warn")).to_be_visible()
    await page.locator(".examples button").nth(1).click()
    await expect(page.locator(".replay-board svg")).to_have_count(2)
    await page.locator(".record-buttons .button").nth(2).click()
    await expect(page.locator(".replay-play").first).to_have_text("Anna: 13/10 10/8")

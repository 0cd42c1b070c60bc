"""The browser of the other tests: it draws, and axe can judge what it drew."""

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page


async def test_axe_finds_nothing_in_a_plain_page_and_something_in_a_bad_one(page: Page) -> None:
    await page.set_content(
        "<!doctype html><html lang=ru><title>Нарды</title><main><h1>Нарды</h1></main></html>"
    )
    assert (await Axe().run(page)).violations_count == 0
    await page.set_content(
        "<!doctype html><html lang=ru><title>Нарды</title><main><h1>Нарды</h1><img src=x></main>"
    )
    assert [found["id"] for found in (await Axe().run(page)).response["violations"]] == ["image-alt"]

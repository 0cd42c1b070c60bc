"""A player's hand on the board on stage: a mouse, a finger or the keyboard, told places by their numbers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

from playwright.async_api import CDPSession, Page

from engine.position import BAR, OFF

Spot = tuple[float, float]

# Where every place is on the screen: its topmost checker, and a spot of its column that no checker covers.
_PLACES = """() => {
  const board = document.querySelector('.stage .board');
  const free = board.classList.contains('phone') ? 0.83 : 0.88;
  const found = {};
  for (const area of board.querySelectorAll('.hit')) {
    const n = Number(area.dataset.place);
    const box = area.getBoundingClientRect();
    const stack = [...board.querySelectorAll(`.checkers use[data-place="${n}"]`)];
    const use = stack.at(-1);  // where it stands, though it may still be on its way there
    const top = use && new DOMPoint(use.getAttribute('x'), use.getAttribute('y')).matrixTransform(board.getScreenCTM());
    const deep = n === 0 ? 0.5 : n === 25 ? 0.2 : n > 12 ? free : 1 - free;
    found[n] = {
      count: stack.length,
      top: top ? [top.x, top.y] : null,
      free: [box.x + box.width / 2, box.y + box.height * deep],
    };
  }
  return found;
}"""

# My checkers as they are drawn, of the colour of my band: what stands above the fifth is read off its number.
_MINE = """() => {
  const mine = document.querySelector('.stage .band.me').classList.contains('white') ? 'w' : 'k';
  const found = {};
  for (const part of document.querySelectorAll('.stage .board .checkers > *')) {
    if (!part.classList.contains(mine)) continue;
    if (part.localName === 'use') found[part.dataset.place] = (found[part.dataset.place] ?? 0) + 1;
  }
  for (const text of document.querySelectorAll(`.stage .board .checkers .count.${mine}`)) {
    const near = (use, name) => Math.abs(use.getAttribute(name) - text.getAttribute(name)) < 20;
    const all = [...document.querySelectorAll(`.stage .board .checkers use.${mine}`)];
    const under = all.filter((use) => near(use, 'x') && near(use, 'y'));
    found[under.at(-1).dataset.place] = Number(text.textContent);
  }
  found[0] = document.querySelectorAll(`.stage .board .off .slab.${mine}`).length;
  return found;
}"""


@dataclass
class Hand:
    """What a person does at the board of a match page."""

    page: Page
    _touches: CDPSession | None = None

    # ---- looking ----

    async def places(self) -> dict[int, Any]:
        """Each place's drawn checkers and spots."""
        return {int(n): place for n, place in (await self.page.evaluate(_PLACES)).items()}

    async def on(self, place: int) -> Spot:
        """The topmost checker of a place, or its column if there is none."""
        found = (await self.places())[place]
        x, y = found["top"] or found["free"]
        return x, y

    async def beside(self, place: int) -> Spot:
        """A spot of a place's column where no checker stands."""
        x, y = (await self.places())[place]["free"]
        return x, y

    async def dice(self) -> Spot:
        """The middle of the first die."""
        box = await self.page.locator(".stage .dice .die").first.bounding_box()
        assert box
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    # ---- the mouse ----

    async def click(self, place: int, button: Literal["left", "right"] = "left") -> None:
        """A click on the topmost checker."""
        await self.page.mouse.click(*await self.on(place), button=button)

    async def click_beside(self, place: int) -> None:
        """A click on the column, off its checkers."""
        await self.page.mouse.click(*await self.beside(place))

    async def double_click(self, place: int) -> None:
        """Two quick clicks on one spot."""
        await self.page.mouse.dblclick(*await self.on(place))

    async def drag(self, start: int, end: int) -> None:
        """From the topmost checker of one place to the column of another."""
        async with self.dragged(start, end):
            pass

    @asynccontextmanager
    async def dragged(self, start: int, end: int) -> AsyncIterator[None]:
        """The same, with the checker held over the other place meanwhile."""
        (x, y), (to_x, to_y) = await self.on(start), await self.beside(end)
        mouse = self.page.mouse
        await mouse.move(x, y)
        await mouse.down()
        await mouse.move((x + to_x) / 2, (y + to_y) / 2)
        await mouse.move(to_x, to_y)
        yield
        await mouse.up()

    # ---- a finger ----

    async def tap(self, place: int) -> None:
        """A tap on the topmost checker."""
        await self.page.touchscreen.tap(*await self.on(place))

    async def tap_beside(self, place: int) -> None:
        """A tap on the column, off its checkers."""
        await self.page.touchscreen.tap(*await self.beside(place))

    async def press_long(self, place: int, ms: int = 600) -> None:
        """A finger that stays on the topmost checker."""
        await self._touch("touchStart", await self.on(place))
        await asyncio.sleep(ms / 1000)
        await self._touch("touchEnd")

    async def swipe(self, start: Spot, end: Spot, steps: int = 8) -> None:
        """A finger that moves over the glass."""
        await self._touch("touchStart", start)
        for step in range(1, steps + 1):
            part = step / steps
            spot = (start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part)
            await self._touch("touchMove", spot)
            await asyncio.sleep(0.016)
        await self._touch("touchEnd")

    async def touch_drag(self, start: int, end: int) -> None:
        """A finger that takes the topmost checker of one place to the column of another."""
        await self.swipe(await self.on(start), await self.beside(end))

    async def _touch(self, type_: str, spot: Spot | None = None) -> None:
        if self._touches is None:
            self._touches = await self.page.context.new_cdp_session(self.page)
        points = [] if spot is None else [{"x": spot[0], "y": spot[1]}]
        await self._touches.send("Input.dispatchTouchEvent", {"type": type_, "touchPoints": points})

    # ---- the keyboard, the buttons ----

    async def keys(self, *names: str) -> None:
        """Keys, one after the other."""
        for name in names:
            await self.page.keyboard.press(name)

    async def press(self, act: Literal["undo", "reset", "done", "look"]) -> None:
        """A button under the board."""
        if act == "look":  # it takes no click that was meant for the button before it
            await asyncio.sleep(0.45)
        await self.page.locator(f'.actions [data-act="{act}"]').click()

    async def write(self, play: str) -> None:
        """A whole play as text."""
        await self.page.keyboard.press("Slash")
        await self.page.locator("#play-text").fill(play)
        await self.page.keyboard.press("Enter")

    # ---- what must now be seen ----

    async def sees(self, **mine: int) -> None:
        """My checkers stand so: `sees(p13=4, p7=1, bar=0, off=2)`; places that are not named are not looked at."""
        wanted = {_place(name): count for name, count in mine.items()}
        seen: dict[int, int] = {}
        for _ in range(300):
            seen = {int(n): count for n, count in (await self.page.evaluate(_MINE)).items()}
            if all(seen.get(place, 0) == count for place, count in wanted.items()):
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"wanted {wanted}, seen { ({place: seen.get(place, 0) for place in wanted}) }")


def _place(name: str) -> int:
    return {"bar": BAR, "off": OFF}[name] if name in ("bar", "off") else int(name[1:])

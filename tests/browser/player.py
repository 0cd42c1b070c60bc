"""Somebody who plays a whole match through a page, with mouse or finger."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from playwright.async_api import Page, expect

from engine.bot import Heuristic
from engine.position import OFF
from engine.turn import Seat
from tests.browser.hand import Hand
from tests.browser.screens import Wire
from tests.support.server import Display, LiveServer, owes


@dataclass
class Player:
    """Somebody who plays through a page, as well as the built-in computer would."""

    live: LiveServer
    match: str
    seat: Seat
    page: Page
    touch: bool
    tab: Display | None = None  # another tab of the same player, in which the middle of the match is played
    wire: Wire = field(init=False)
    hand: Hand = field(init=False)
    made: int = 0

    def __post_init__(self) -> None:
        self.wire = Wire(self.page)
        self.hand = Hand(self.page)

    async def play_to_the_end(self) -> None:
        """Play whenever a play is owed, until the match is over."""
        await self.wire.until(lambda v: v["stage"] != "seeding", 15)
        while self.wire.view["stage"] != "over":
            if owes(self.wire.view):
                await self.play()
            await self.wire.until(lambda v: v["stage"] == "over" or owes(v), 30)

    async def play(self) -> None:
        """Make the best play with the hands and press Done."""
        view = self.wire.view
        turn, steps = view["turn"], view["mine"]["steps"]
        choice = Heuristic().choose(await self.live.services.matches.view(self.match, self.seat))
        wanted = [[hop.start, hop.end] for hop in choice]
        if self.tab and is_middle(view):
            answer = await self.tab.play(wanted, turn)
            assert answer["type"] == "accepted", answer
            await self.wire.until(lambda v: v["turn"] != turn or v["stage"] == "over" or not owes(v))
            return
        await self.shows(view)
        node = 0
        path: list[list[int]] = [[]]
        while steps[node]:
            edge = await self.move(steps[node], wanted, view["roll"], path[-1])
            path, node = [*path, edge[:2]], edge[4]
        done = self.page.locator('[data-act="done"]')
        await expect(done, f"{self.seat} {turn} {view['roll']} {path}").to_have_attribute(
            "aria-disabled", "false"
        )
        await self.hand.press("done")
        self.made += 1
        await self.wire.until(lambda v: v["turn"] != turn or v["stage"] == "over" or not owes(v))

    async def shows(self, view: Any) -> None:
        """The page shows this turn and takes moves."""
        number, phase = int(view["turn"][:-1]), view["turn"][-1]
        await self.page.wait_for_function(
            """([round, phase]) => document.querySelector('.round h1')?.textContent.endsWith(` ${round}`)
              && document.querySelectorAll('.phases li')[phase === 'W' ? 0 : 1].ariaCurrent === 'step'""",
            arg=[number, phase],
        )
        if not self.touch:
            await self.hand.keys("Shift")  # any key ends the motion of the swap
        if sum(not edges for edges in view["mine"]["steps"]) == 1:
            await self.hand.press("reset")  # the only play has been laid out: it is made by hand all the same

    async def move(
        self, edges: list[list[int]], wanted: list[list[int]], roll: list[int], last: list[int]
    ) -> list[int]:
        """One move by tap or drag: the edge of the step graph that was taken. The left die is tried first."""
        by_dice = sorted(edges, key=lambda edge: roll.index(edge[2]))
        chosen = next((edge for edge in by_dice if edge[:2] in wanted), by_dice[0])
        start, end = chosen[:2]
        if chosen[:2] in wanted:
            wanted.remove(chosen[:2])
        first = next(edge for edge in by_dice if edge[0] == start)
        if start in last:  # a second quick click there has a meaning of its own: it is dragged
            await (self.hand.touch_drag(start, end) if self.touch else self.hand.drag(start, end))
        elif first[1] == end:  # the play that a click on the checker means
            await (self.hand.tap(start) if self.touch else self.hand.click(start))
        elif self.touch:
            await self.hand.tap(start)
            await self.hand.tap_beside(end)
        else:
            await self.hand.drag(start, end)
        return next(edge for edge in by_dice if edge[:2] == [start, end])


def is_middle(view: Any) -> bool:
    """Three rounds have been played, and nobody is about to finish yet."""
    off = [side[OFF] for board in view["boards"].values() for side in board.values()]
    return int(view["turn"][:-1]) > 3 and max(off) < 8

"""What the servers tell each other at once: a match has changed, a player is handling his checkers.

Notices are hints and may be lost; what counts is what is stored. On SQLite there is nobody to tell.

    m1:7            match m1 is at version 7
    m1:             something around match m1 has changed
    m1:A:3W:13/8    in match m1 A has half a play on the board, in turn 3W (25 is the bar, 0 is off)
    competition:c1:7    competition c1 is at version 7; without a number: its words have changed
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from app.store.database import Database
from engine.plays import Hop
from engine.turn import Seat, Turn

OnChange = Callable[[str, int | None], None]
OnDraft = Callable[[str, Seat, Turn, tuple[Hop, ...]], None]

_REST_S = 0.1  # between two drafts of one seat


class Notices:
    """To and from the other servers. The journal gives notice of its rows by itself."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # The seats whose last draft went out just now, each with the newest draft that waits meanwhile.
        self._resting: dict[tuple[str, Seat], str | None] = {}
        self.on_competition: Callable[[str, int | None], None] | None = None  # competition, version

    async def changed(self, match_id: str) -> None:
        """Something around a match has changed, and is stored: joined, cancelled, a rematch."""
        self._database.notify(f"{match_id}:")

    def draft(self, match_id: str, seat: Seat, turn: Turn, hops: tuple[Hop, ...]) -> None:
        """A player has half a play on the board. Ten a second go out, and always the last one; stored is none."""
        notice = f"{match_id}:{seat}:{turn}:{' '.join(f'{hop.start}/{hop.end}' for hop in hops)}"
        if (match_id, seat) in self._resting:
            self._resting[match_id, seat] = notice
        else:
            self._send((match_id, seat), notice)

    async def listen(
        self, node: str, on_change: OnChange, on_draft: OnDraft, on_gap: Callable[[], None]
    ) -> None:
        """From now on hands over what other servers say; `node` is what this one is called.

        on_change(match, version): the match is at that version; None: something around it has changed.
        on_draft(match, seat, turn, hops): as somebody drafts it; not checked here.
        on_gap(): notices may have been missed. Compare what is shown with what is stored.
        """

        def heard(notice: str) -> None:
            match notice.split(":"):
                case ["competition", competition, version]:
                    if self.on_competition is not None:
                        self.on_competition(competition, int(version) if version else None)
                case [match_id, version]:
                    on_change(match_id, int(version) if version else None)
                case [match_id, seat, turn, hops]:
                    when = Turn.parse(turn)
                    if when is not None:
                        on_draft(match_id, Seat(seat), when, tuple(map(_hop, hops.split())))
                case _:
                    pass  # from a newer version of this program

        await self._database.listen(node, heard, on_gap)

    async def stop(self) -> None:
        """Hands over nothing more; what waits is sent."""
        for notice in self._resting.values():
            if notice is not None:
                self._database.notify(notice)
        self._resting.clear()
        await self._database.stop_listening()

    def _send(self, whose: tuple[str, Seat], notice: str) -> None:
        self._database.notify(notice)
        self._resting[whose] = None
        asyncio.get_running_loop().call_later(_REST_S, self._rested, whose)

    def _rested(self, whose: tuple[str, Seat]) -> None:
        notice = self._resting.pop(whose, None)
        if notice is not None:
            self._send(whose, notice)


def _hop(text: str) -> Hop:
    start, _, end = text.partition("/")
    return Hop(int(start), int(end))

"""The card of a finished match, to be shared: drawn anew for each question, its PNG kept for a while."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from app.cards.drawing import LANGUAGES, Card, Ended, Language, Objective, Player, description, draw, title
from app.cards.raster import CannotDraw, png_of
from app.service.analysis import Analyses
from app.service.errors import NoPicture
from app.service.info import PlayerInfo
from app.service.matches import HistoryView, Matches
from app.service.runner import SERVER
from engine.scoring import Outcome
from engine.turn import Seat, Seats
from engine.view import Result

log = logging.getLogger(__name__)

KEPT = 100  # pictures, of some 60 kB
MOST_WAITING = 20  # that are to be drawn; one is drawn at a time

__all__ = ["LANGUAGES", "Cards", "Language", "Preview"]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a messenger shows beside a link to a finished match; plain text."""

    title: str
    description: str


class Cards:
    """The cards of this server's finished matches. Every method raises NoSuchMatch, NotStarted, MatchStillRuns.

    `address` is where the match is found, as people read it: `nardy.example/match/…`.
    """

    def __init__(self, matches: Matches, analyses: Analyses) -> None:
        self._matches = matches
        self._analyses = analyses
        self._kept: OrderedDict[str, asyncio.Task[bytes | None]] = OrderedDict()
        self._drawing = asyncio.Lock()
        self._waiting = 0

    async def svg(self, match_id: str, language: Language, address: str, *, to_raster: bool = False) -> str:
        """The card as an SVG document; `to_raster`: the one that `png` makes a picture of."""
        return draw(await self._card(match_id, address), language, to_raster=to_raster)

    async def preview(self, match_id: str, language: Language) -> Preview:
        """Its words."""
        card = await self._card(match_id, "")
        return Preview(title(card, language), description(card, language))

    async def png(self, svg: str) -> bytes:
        """An SVG document as PNG. Equal cards that are asked for at once are drawn once. Raises NoPicture."""
        key = hashlib.sha256(svg.encode()).hexdigest()
        drawn = self._kept.get(key)
        if drawn is None:
            if self._waiting >= MOST_WAITING:
                raise NoPicture
            self._waiting += 1
            self._kept[key] = drawn = asyncio.create_task(self._drawn(svg))
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        png = await asyncio.shield(drawn)  # whoever else waits for it still does when this one leaves
        if png is None:
            if self._kept.get(key) is drawn:
                del self._kept[key]
            raise NoPicture
        return png

    async def close(self) -> None:
        """Nothing more is drawn."""
        drawn = list(self._kept.values())
        for task in drawn:
            task.cancel()
        await asyncio.gather(*drawn, return_exceptions=True)
        self._kept.clear()

    async def _drawn(self, svg: str) -> bytes | None:
        try:
            async with self._drawing:
                return await png_of(svg)
        except CannotDraw as wrong:
            log.warning("a card was not drawn: %s", wrong)
            return None
        finally:
            self._waiting -= 1

    async def _card(self, match_id: str, address: str) -> Card:
        history = await self._matches.download(match_id)
        return _card_of(history, (await self._analyses.about(match_id)).analysis, address)


def _card_of(history: HistoryView, analysis: dict[str, Any] | None, address: str) -> Card:
    info, view = history.info, history.view
    result = view.result
    assert result is not None
    assert info.finished_at is not None
    return Card(
        players=Seats(_player(info.players.A), _player(info.players.B)),
        outcome=_outcome(result),
        winner=Seat(result.winner) if result.winner else None,
        points=result.points,
        games=(_ended(result.games.X), _ended(result.games.Y)),
        preset=info.preset,
        finished_at=info.finished_at,
        parted=view.parted,
        rounds=(len(history.phases) + 1) // 2,
        objective=_objective(analysis),
        address=address,
    )


def _outcome(result: Result) -> str:
    """No arbiter has decided what the server ends by the rules of an event: the card says why it did."""
    if result.outcome == Outcome.ADJUDICATED and result.arbiter == SERVER and result.reason:
        return result.reason
    return result.outcome


def _player(player: PlayerInfo | None) -> Player:
    if player is None:
        return Player("")
    return Player(player.name, player.tag, player.level, player.kind == "computer", player.kind == "bot")


def _ended(game: Any) -> Ended:
    return Ended(game["outcome"], game["class"])


def _objective(analysis: dict[str, Any] | None) -> Objective | None:
    if analysis is None or analysis["objective_for_A"] is None:
        return None
    return Objective(analysis["result_for_A"], analysis["luck_for_A"], analysis["objective_for_A"])

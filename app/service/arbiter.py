"""What an arbiter may do with a running match of a competition (§8.5): always with a reason, always in the match's log.

He sees of it what a spectator sees (§5.4), and has no rights in a competition that he plays in.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from app.engines.judge import NoJudge, judges_of
from app.engines.processes import NoAnswer
from app.service import competition_views as views
from app.service.analysis import OFF
from app.service.competitions import Competitions
from app.service.errors import NoSuchMatch, NotArbiter, NotConfirmed, RoundIsOpen
from app.service.matches import Matches, RoundEnd
from app.store import Store
from engine.analysis import Played, TurnJudged
from engine.competition.meeting import place_of
from engine.match import AddTime, Command, OrderPause, Resume, SetResult, VoidMatch
from engine.turn import Seat

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an adjudication may go by: both games as at the end of the last finished round, whose number it is.

    `formula_for_A`: both leads added, × 1/2, truncated, in the basis's unit (§8.5). `equity_for_A`: the strong
    computer's equity of both games together, 1, 2 or 3 a game, and who that is (`judges`); None where there is none. An
    adjudication gives `confirm` back, so that it goes by what was looked at.
    """

    match: str
    round: int
    formula_for_A: int
    equity_for_A: float | None
    judges: tuple[str, ...]
    confirm: str


@dataclass(frozen=True, slots=True)
class Ordered:
    """What was ordered of a match."""

    match: str
    order: str


class Adviser(Protocol):
    """Who judges a phase, in a process of his own."""

    async def judged(self, level: str, match: Played, index: int) -> TurnJudged:
        """Raises NoAnswer."""

    async def rest(self) -> None:
        """No process until somebody asks again."""


class Arbiter:
    """Decisions about matches. `actor` is the arbiter's account; an order with the same `key` is carried out once.

    All raise NoSuchMatch, NotArbiter, BadDecision, RoundIsOpen in a qualifying.
    """

    def __init__(
        self,
        store: Store,
        competitions: Competitions,
        matches: Matches,
        adviser: Adviser | None = None,
        level: str = OFF,
    ) -> None:
        """`adviser` judges at this level, if the judges of it are here."""
        self._store = store
        self._competitions = competitions
        self._matches = matches
        self._adviser = adviser
        self._level = level
        self._judges: tuple[str, ...] = ()
        if adviser is not None and level != OFF:
            with contextlib.suppress(NoJudge):
                self._judges = judges_of(level)
        self._asking = asyncio.Lock()  # one at a time

    async def pause(
        self, competition_id: str, match: str, reason: str, *, actor: str, key: str | None = None
    ) -> None:
        """A pause from the end of the phase, which ends by itself after `pause_max_s`."""
        await self._order(competition_id, match, lambda at: OrderPause(actor, reason, at), actor, key)

    async def resume(
        self, competition_id: str, match: str, reason: str, *, actor: str, key: str | None = None
    ) -> None:
        """The match goes on."""
        await self._order(competition_id, match, lambda at: Resume(actor, reason, at), actor, key)

    async def add_time(
        self,
        competition_id: str,
        match: str,
        seat: str,
        ms: int,
        reason: str,
        *,
        actor: str,
        key: str | None = None,
    ) -> None:
        """More time for the player in seat `A` or `B`."""
        await self._order(
            competition_id, match, lambda at: AddTime(actor, Seat(seat), ms, reason, at), actor, key
        )

    async def void(
        self, competition_id: str, match: str, reason: str, *, actor: str, key: str | None = None
    ) -> None:
        """The match counts for nothing; another is played for it, on new dice."""
        await self._order(competition_id, match, lambda at: VoidMatch(actor, reason, at), actor, key)

    async def set_result(
        self,
        competition_id: str,
        match: str,
        net_for_A: int,
        reason: str,
        *,
        actor: str,
        key: str | None = None,
    ) -> None:
        """The match ends with this result, points for seat A: set, or adjudicated after looking at `estimate`."""
        await self._order(
            competition_id, match, lambda at: SetResult(actor, net_for_A, reason, at), actor, key
        )

    async def estimate(self, competition_id: str, match: str) -> Estimate:
        """What the formula says of a running match. Raises NoSuchMatch, NotStarted, RoundIsOpen."""
        await self._check_match(competition_id, match)
        await self._not_shared(competition_id, match)
        end = await self._matches.at_round_end(match)
        equity = await self._equity_for_A(end.played)
        judges = () if equity is None else self._judges
        return Estimate(match, end.round, end.formula_for_A, equity, judges, _confirmation(match, end))

    async def _equity_for_A(self, finished: Played) -> float | None:
        """What both games are worth after the last finished round; the last to play there were both Blacks."""
        if self._adviser is None or not self._judges or not finished.phases:
            return None
        async with self._asking:
            try:
                judged = await self._adviser.judged(self._level, finished, len(finished.phases) - 1)
            except NoAnswer:
                log.warning("nobody could judge the match for an arbiter", exc_info=True)
                return None
            finally:
                await self._adviser.rest()
        return judged.halves.A.equity - judged.halves.B.equity

    async def adjudicate(
        self,
        competition_id: str,
        match: str,
        net_for_A: int,
        reason: str,
        confirm: str,
        *,
        actor: str,
        key: str | None = None,
    ) -> None:
        """The match ends with this result, if its last finished round is still the one that was looked at.

        Raises NotConfirmed, NotStarted.
        """
        await self._check_match(competition_id, match)
        await self._not_shared(competition_id, match)
        if _confirmation(match, await self._matches.at_round_end(match)) != confirm:
            raise NotConfirmed
        await self.set_result(competition_id, match, net_for_A, reason, actor=actor, key=key)

    async def decide(
        self,
        competition_id: str,
        match: str,
        net_for_A: int | None,
        reason: str,
        *,
        actor: str,
        key: str | None = None,
    ) -> None:
        """A result for a match that runs or is over; None: it counts for nothing, and another is played for it on new
        dice. Raises BadResult, NotNow.
        """
        await self._check_match(competition_id, match)
        competition, _ = await self._competitions.competition(competition_id)
        if competition.result(match) is not None:
            await self._not_shared(competition_id, match)
            await self._competitions.correct_result(
                competition_id, match, net_for_A, reason, actor=actor, key=key
            )
        elif net_for_A is None:
            await self.void(competition_id, match, reason, actor=actor, key=key)
        else:
            await self.set_result(competition_id, match, net_for_A, reason, actor=actor, key=key)

    async def _not_shared(self, competition_id: str, match: str) -> None:
        competition, _ = await self._competitions.competition(competition_id)
        if views.is_secret(competition, match):
            raise RoundIsOpen

    async def _check_match(self, competition_id: str, match: str) -> None:
        stored = await self._store.matches.load(match)
        if stored is None or stored.competition != competition_id or place_of(match) is None:
            raise NoSuchMatch

    async def _order(
        self,
        competition_id: str,
        match: str,
        wish: Callable[[int], Command],
        actor: str,
        key: str | None,
    ) -> None:
        await self._check_match(competition_id, match)
        await self._not_shared(competition_id, match)  # whether it still runs would be told by the answer
        if await self._competitions.plays_in(competition_id, actor):
            raise NotArbiter
        command_id = None if key is None else f"{actor}:{key}"
        await self._matches.order(match, wish, command_id=command_id)


def _confirmation(match: str, end: RoundEnd) -> str:
    return hashlib.sha256(f"{match} {end.round} {end.formula_for_A}".encode()).hexdigest()[:16]

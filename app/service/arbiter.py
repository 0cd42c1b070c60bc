"""What an arbiter may do with a running match of a competition (§8.5): always with a reason, always in the match's log.

He sees of it what a spectator sees (§5.4), and has no rights in a competition that he plays in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from app.engines.estimate import estimated
from app.service import competition_views as views
from app.service.competitions import Competitions
from app.service.errors import NoSuchMatch, NotArbiter, NotConfirmed, RoundIsOpen
from app.service.matches import Matches
from app.store import Store
from engine.competition.meeting import place_of
from engine.match import AddTime, Command, OrderPause, Resume, SetResult, VoidMatch
from engine.turn import Seat


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an adjudication may go by: both games as at the end of the last finished round, whose number it is.

    `formula_for_A`: both leads added, × 1/2, truncated, in the basis's unit (§8.5). `computer_for_A`: what both games
    are worth to A by the judge `computer`, 1/2/3 points each; null where there is no judge. An adjudication gives
    `confirm` back, so that it goes by what was looked at.
    """

    match: str
    round: int
    formula_for_A: int
    computer_for_A: float | None
    computer: str | None
    confirm: str


@dataclass(frozen=True, slots=True)
class Ordered:
    """What was ordered of a match."""

    match: str
    order: str


class Arbiter:
    """Decisions about matches. `actor` is the arbiter's account; an order with the same `key` is carried out once.

    All raise NoSuchMatch, NotArbiter, BadDecision, RoundIsOpen in a qualifying.
    """

    def __init__(self, store: Store, competitions: Competitions, matches: Matches) -> None:
        self._store = store
        self._competitions = competitions
        self._matches = matches

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
        last = await self._matches.last_round(match)
        confirm = _confirmation(match, last.number, last.leads_for_A)
        found = await estimated(last.variant, last.games)
        return Estimate(
            match,
            last.number,
            last.leads_for_A,
            None if found is None else round(found.for_A, 3),
            None if found is None else found.by,
            confirm,
        )

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
        last = await self._matches.last_round(match)
        if _confirmation(match, last.number, last.leads_for_A) != confirm:
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


def _confirmation(match: str, round_: int, formula: int) -> str:
    return hashlib.sha256(f"{match} {round_} {formula}".encode()).hexdigest()[:16]

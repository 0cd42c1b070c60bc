"""The analysis of finished matches, in the background: the next one is claimed, judged phase by phase, and kept.

A match is queued by the transaction that stores its end, and found here by looking once a second, so that no play waits
for any of this. The judges are in processes of their own. What a server has judged outlives it: another takes up the
match at the phase that comes next.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from app.engines.judge import NoJudge, judges_of
from app.engines.processes import NoAnswer
from app.logs import about
from app.service.errors import MatchStillRuns, NobodyJudges, NoSuchMatch, RoundIsOpen, TooManyAnalyses
from app.store import Store
from app.store.analyses import Claim, ClaimLost, StoredAnalysis
from app.store.matches import StoredMatch
from engine.analysis import Played, TurnJudged, analysed, is_analysable, played
from engine.errors import NotStarted
from engine.match import replay
from engine.scoring import Outcome

log = logging.getLogger(__name__)

OFF = "off"  # instead of a level: no match is analysed here
LOOK_EVERY_S = 1.0
KEEP_EVERY_S = (
    0.25  # what is judged is stored that often: a commit for each phase would only be in the way of plays
)
CLAIM_MS = 15_000
RENEW_EVERY_S = 5.0
REST_AFTER_S = 60.0  # without work a process is only memory
ASKS_AN_HOUR = 30  # of one caller, for matches that are not queued anyway
_CALLERS_KEPT = 1_000

State = Literal["waiting", "running", "done", "failed", "none"]
Reason = Literal["no-judge", "off", "not-analysable", "failed"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Phases judged, of so many in all; 0 of 0 before the work has begun."""

    done: int
    of: int


@dataclass(frozen=True, slots=True)
class MatchAnalysis:
    """How far the analysis of a finished match is, and what it found once it is done."""

    match: str
    state: State
    reason: Reason | None  # why there is none, and will be none
    progress: Progress
    analysis: dict[str, Any] | None  # nardy-analysis/1


class Judging(Protocol):
    """Who judges, off the event loop, one phase at a time."""

    async def judged(self, level: str, match: Played, index: int) -> TurnJudged:
        """The phase with this place in `match.phases`. Raises NoAnswer."""

    async def rest(self) -> None:
        """No memory is needed until somebody asks again."""


class Analyses:
    """The analyses of this server."""

    def __init__(self, store: Store, level: str, analysts: Sequence[Judging], now: Callable[[], int]) -> None:
        """`level` is one of `app.engines.judge.LEVELS`, or OFF. As many matches are judged at once as there are
        analysts.
        """
        self._store = store
        self._level = level
        self._analysts = analysts
        self._now = now
        self._reason: Reason | None = None
        self._judges: tuple[str, ...] = ()
        if level == OFF:
            self._reason = "off"
        else:
            try:
                self._judges = judges_of(level)
            except NoJudge:
                self._reason = "no-judge"
        self._asked: dict[str, deque[float]] = {}  # by caller: when, on the monotonic clock
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Work until it is closed; without judges there is nothing to do."""
        if self._reason is None:
            self._tasks = [asyncio.create_task(self._work(analyst)) for analyst in self._analysts]
        elif self._reason == "no-judge":
            log.info("finished matches are not analysed here: bgsage is not installed (make engines)")

    async def close(self) -> None:
        """Break off; what is judged is stored, and others may go on with it at once."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # ------------------------------------------------------------------------------------------------------ asked for

    async def about(self, match_id: str) -> MatchAnalysis:
        """How far the analysis of a match is. Raises NoSuchMatch, NotStarted, MatchStillRuns, RoundIsOpen."""
        match, outcome = await self._finished(match_id)
        return self._info(match, outcome, await self._store.analyses.load(match_id))

    async def ask(self, match_id: str, caller: str) -> MatchAnalysis:
        """The same, and it is queued if it is not yet. `caller` is whoever asks.

        Raises NoSuchMatch, NotStarted, MatchStillRuns, RoundIsOpen, TooManyAnalyses; NobodyJudges where there is none.
        """
        found = await self.about(match_id)
        if found.state in ("done", "running") or found.reason == "not-analysable":
            return found
        if self._reason is not None:
            raise NobodyJudges(self._reason)
        if found.state != "waiting":
            self._require_patience(caller)
        if await self._store.analyses.ask(match_id, self._now()):
            self._note(caller)
        self._wake.set()
        return await self.about(match_id)

    async def _finished(self, match_id: str) -> tuple[StoredMatch, Outcome]:
        match = await self._store.matches.load(match_id)
        if match is None:
            raise NoSuchMatch
        if match.secret:
            raise RoundIsOpen
        if match.state == "playing":
            raise MatchStillRuns
        outcome = await self._store.matches.outcome(match_id)
        if outcome is None:
            raise NotStarted
        return match, outcome

    def _info(self, match: StoredMatch, outcome: Outcome, stored: StoredAnalysis | None) -> MatchAnalysis:
        state, reason = self._state(match, outcome, stored)
        progress = (
            Progress(0, 0) if stored is None or state == "none" else Progress(stored.done, stored.phases)
        )
        return MatchAnalysis(match.id, state, reason, progress, stored.found if stored else None)

    def _state(
        self, match: StoredMatch, outcome: Outcome, stored: StoredAnalysis | None
    ) -> tuple[State, Reason | None]:
        if not is_analysable(match.ruleset, outcome):
            return "none", "not-analysable"
        if stored is not None:
            if stored.state == "done":
                return "done", None
            if stored.state == "failed":
                return "failed", "failed"
            if stored.is_worked_at(self._now()):
                return "running", None
        if self._reason is not None:  # it may wait for another server, or for none: nobody here can tell
            return "none", self._reason
        return ("none" if stored is None else "waiting"), None

    def _require_patience(self, caller: str) -> None:
        asked = self._asked.get(caller, deque())
        while asked and asked[0] <= time.monotonic() - 3600:
            asked.popleft()
        if len(asked) >= ASKS_AN_HOUR:
            raise TooManyAnalyses(ASKS_AN_HOUR)

    def _note(self, caller: str) -> None:
        asked = self._asked.pop(caller, deque())
        asked.append(time.monotonic())
        self._asked[caller] = asked  # whoever asked last is forgotten last
        while len(self._asked) > _CALLERS_KEPT:
            del self._asked[next(iter(self._asked))]

    # ------------------------------------------------------------------------------------------------------- the work

    async def _work(self, analyst: Judging) -> None:
        """One match after the other, with one analyst."""
        worked_at = time.monotonic()
        try:
            while True:
                claim = None
                try:
                    claim = await self._claim()
                    if claim is not None:
                        await self._analyse(claim, analyst)
                except Exception:
                    log.exception("the analysis of matches was disturbed; it goes on")
                    claim = None
                if claim is not None:
                    worked_at = time.monotonic()
                    continue
                if time.monotonic() - worked_at > REST_AFTER_S:
                    await analyst.rest()
                await self._look_later()
        finally:
            await analyst.rest()

    async def _look_later(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_EVERY_S):
                await self._wake.wait()
        self._wake.clear()

    async def _claim(self) -> Claim | None:
        now = self._now()
        return await self._store.analyses.claim(
            secrets.token_hex(8), self._level, ", ".join(self._judges), now, now + CLAIM_MS
        )

    async def _analyse(self, claim: Claim, analyst: Judging) -> None:
        """One match, to its end or to where something went wrong."""
        with about(match=claim.match_id):
            work = _Work(claim)
            began = time.monotonic()
            try:
                await self._go_on(work, analyst)
            except ClaimLost as lost:
                log.info("%s", lost)
            except asyncio.CancelledError:
                await self._break_off(work)
                raise
            except NoAnswer as wrong:
                log.warning("phase %s was not judged: %s", len(work.turns) + 1, wrong)
                await self._let_go(work, "no-answer")
            except Exception:
                log.exception("the match could not be analysed")
                await self._let_go(work, "error")
            else:
                log.info(
                    "analysed", extra={"facts": {"phases": work.of, "s": round(time.monotonic() - began, 1)}}
                )

    async def _go_on(self, work: _Work, analyst: Judging) -> None:
        match = await self._read(work.claim.match_id)
        work.turns = work.claim.judged()
        work.kept, work.of = len(work.turns), len(match.phases)
        kept_at = time.monotonic()
        for index in range(work.kept, work.of):
            work.turns.append(await self._judged(work.claim, analyst, match, index))
            if time.monotonic() - kept_at >= KEEP_EVERY_S:
                await self._keep(work)
                kept_at = time.monotonic()
        found = analysed(match, work.turns, self._judges)
        await self._store.analyses.finish(work.claim, found, self._now())

    async def _read(self, match_id: str) -> Played:
        """A finished match, played through again."""
        stored = await self._store.matches.load(match_id)
        assert stored is not None
        rows = await self._store.matches.events(match_id)
        return played(replay(stored.start(), (event for row in rows for event in row.events)))

    async def _judged(self, claim: Claim, analyst: Judging, match: Played, index: int) -> TurnJudged:
        """One phase; however long it takes, the match stays this server's."""
        judging = asyncio.ensure_future(analyst.judged(self._level, match, index))
        try:
            while not (await asyncio.wait({judging}, timeout=RENEW_EVERY_S))[0]:
                await self._store.analyses.renew(claim, self._now() + CLAIM_MS)
            return judging.result()
        finally:
            judging.cancel()
            await asyncio.gather(judging, return_exceptions=True)

    async def _keep(self, work: _Work) -> None:
        """Stores what is judged and not stored yet."""
        new = work.turns[work.kept :]
        if new:
            await self._store.analyses.keep(work.claim, work.kept, new, work.of, self._now() + CLAIM_MS)
            work.kept += len(new)

    async def _let_go(self, work: _Work, failure: str | None) -> None:
        with contextlib.suppress(ClaimLost):
            await self._keep(work)
            if await self._store.analyses.let_go(work.claim, failure, self._now()):
                log.error("the match is given up: %s", failure)

    async def _break_off(self, work: _Work) -> None:
        """The server stops: others may go on at once. If that cannot be stored, they will a little later."""
        try:
            await self._let_go(work, None)
        except Exception as wrong:
            log.warning("not left in order: %s", str(wrong) or type(wrong).__name__)


@dataclass(eq=False)
class _Work:
    """A match that is being judged."""

    claim: Claim
    turns: list[TurnJudged] = field(default_factory=list)
    kept: int = 0  # so many of them are stored
    of: int = 0

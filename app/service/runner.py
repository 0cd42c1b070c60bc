"""What a competition needs while it runs: its matches made and ended, their results taken in, its rounds kept in step.

Every server looks once a second, and at once when something has changed; of several one has the claim. Everything it
does is found in what is stored and may be done twice, so a server may die at any point and another goes on.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable, Collection, Coroutine
from dataclasses import replace
from typing import Any

from app.logs import apart
from app.service.boards import Boards
from app.service.competitions import Competitions
from app.service.computers import Computers
from app.service.matches import Matches, Progress
from app.store import Store
from app.store.competitions import StoredCompetition
from app.store.matches import NewMatch, Played
from engine.competition import commands
from engine.competition.competition import Competition, RoundState
from engine.competition.decisions import next_deadline
from engine.competition.meeting import COMPUTER, Ending, MatchResult, ServerEnds, qualifying_dice_id
from engine.competition.overview import MatchOrder, matches_due, overdue
from engine.competition.settings import Qualifying
from engine.errors import RuleError
from engine.match import SetResult, VoidMatch
from engine.scoring import Score
from engine.turn import Seat, Seats

log = logging.getLogger(__name__)

EVERY_S = 1.0
CLAIM_MS = 5_000  # a server that has not looked for so long has lost its competitions to another
ANALYSES_EVERY = 5  # looks
SERVER = "server"  # who ends a match that nobody wants any more, in the match's log


class Runner:
    """Looks after the competitions of which this server has the claim."""

    def __init__(
        self,
        store: Store,
        competitions: Competitions,
        matches: Matches,
        computers: Computers,
        node: str,
        now: Callable[[], int],
    ) -> None:
        self._store = store
        self._competitions = competitions
        self._matches = matches
        self._computers = computers
        self._node = node
        self._now = now
        self._boards = Boards(store, matches, now, self._spawn, self.wake)
        self._tasks: set[asyncio.Task[None]] = set()
        self._news = asyncio.Event()
        self._urgent: set[str] = set()
        self._mine: frozenset[str] = frozenset()
        self._foreign: set[str] = set()  # whose computer this server lacks
        self._looks = 0
        self._closed = False

    def start(self) -> None:
        """Begin to look."""
        self._competitions.on_change = self.wake
        self._matches.on_progress = self._progressed
        self._spawn(self._look_on())

    async def close(self) -> None:
        """Let what is being done finish; other servers take over at once."""
        self._closed = True
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._store.competitions.let_go(self._node)

    def wake(self, competition_id: str) -> None:
        """Something has changed there: look at once."""
        self._urgent.add(competition_id)
        self._news.set()

    def _progressed(self, progress: Progress) -> None:
        self._boards.progressed(progress)
        if progress.score is not None:
            self.wake(progress.competition)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work, context=apart())
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a background task failed", exc_info=task.exception())

    async def _look_on(self) -> None:
        """Once a second at everything that is this server's; in between at what has changed."""
        loop = asyncio.get_running_loop()
        next_at = loop.time()
        while True:
            try:
                if loop.time() >= next_at:
                    next_at = loop.time() + EVERY_S
                    self._looks += 1
                    until = self._now() + CLAIM_MS
                    store = self._store.competitions
                    self._mine = frozenset(await store.claim(self._node, self._now(), until, self._foreign))
                    self._boards.keep_only(self._mine)
                    look_at = sorted(self._mine | self._urgent)
                else:
                    look_at = sorted(self._urgent)
                self._urgent.clear()
                self._news.clear()
                for competition_id in look_at:
                    await self._unharmed(competition_id)
            except Exception:
                log.exception("competitions could not be looked after; this goes on")
                next_at = loop.time() + EVERY_S
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, next_at - loop.time())):
                    await self._news.wait()

    async def _unharmed(self, competition_id: str) -> None:
        """What is wrong with one is logged, and the others go on."""
        try:
            await self.look_after(competition_id)
        except Exception:
            log.exception("competition %s could not be looked after", competition_id)

    # ------------------------------------------------------------------------------------------------ one competition

    async def look_after(self, competition_id: str) -> None:
        """Does all that is to be done in it now, if it is this server's."""
        if competition_id not in self._mine:
            until = self._now() + CLAIM_MS
            mine = await self._store.competitions.claim(self._node, self._now(), until, self._foreign)
            self._mine = frozenset(mine)
            if competition_id not in self._mine:
                return
        competition, stored = await self._competitions.competition(competition_id)
        if not await self._has_computer(competition, stored):
            return
        deadline = next_deadline(competition)
        if deadline is not None and deadline <= self._now():
            await self._competitions.act(competition_id, commands.Tick, actor=None)
            competition, stored = await self._competitions.competition(competition_id)
        open_ones = await self._store.matches.of_competition(competition_id, unreported=True)
        await self._make(competition, stored, {match.id for match in open_ones})
        if competition.stages:
            open_ones = await self._store.matches.of_competition(competition_id, unreported=True)
            await self._settle(competition, open_ones)
            await self._keep_in_step(competition, open_ones)
            competition, stored = await self._competitions.competition(competition_id)
            await self._disclose(competition)
        if self._looks % ANALYSES_EVERY == 0:
            await self._take_analyses(competition)

    async def _has_computer(self, competition: Competition, stored: StoredCompetition) -> bool:
        """A server that lacks the computer of a competition leaves it to others (§12.1)."""
        stages = competition.settings.stages
        if not competition.stages or not isinstance(stages[0], Qualifying) or len(competition.stages) > 1:
            return True
        has = stages[0].computer in {one.level for one in self._computers.offered()}
        if has and stored.computer is not None:
            account = await self._store.accounts.load(stored.computer)
            has = account is not None and self._computers.has(account.name, account.version)
        if not has:
            log.warning("this server lacks the computer of competition %s, and leaves it", competition.id)
            self._foreign.add(competition.id)
        return has

    # -------------------------------------------------------------------------------------------------- matches made

    async def _make(self, competition: Competition, stored: StoredCompetition, there: set[str]) -> None:
        """The matches that are to be played and are not there yet, all in one transaction."""
        now = self._now()
        missing = [
            order for order in matches_due(competition) if order.due_at <= now and order.id not in there
        ]
        if not missing:
            return
        seed = secrets.token_bytes(32)
        computer: str | None = None
        if missing[0].is_board:
            dice_id = missing[0].dice_id
            seed = (await self._store.competitions.board(competition.id, dice_id, seed, now)).server_seed
            computer = await self._computer(competition)
        accounts = await self._store.accounts.load_many(one.player for one in competition.entrants)
        bots = {account.id for account in accounts.values() if account.kind == "bot"}
        made = await self._store.matches.create_all(
            [self._new(competition, stored, order, computer, seed, bots, now) for order in missing]
        )
        if made:
            log.info("%d matches of competition %s are made", len(made), competition.id)

    async def _computer(self, competition: Competition) -> str:
        rules = competition.settings.stages[0]
        assert isinstance(rules, Qualifying)
        level = self._computers.level(rules.computer)
        account = await self._store.accounts.ensure_computer(level.name, level.version)
        return await self._store.competitions.keep_computer(competition.id, account.id)

    def _new(
        self,
        competition: Competition,
        stored: StoredCompetition,
        order: MatchOrder,
        computer: str | None,
        board_seed: bytes,
        bots: Collection[str],
        now: int,
    ) -> NewMatch:
        """Bots play by the rules of all, and for the competition's points; their matches with people move nobody's
        strength.
        """
        shared = order.is_board
        seats = [
            computer if entrant == COMPUTER else competition.entrant(entrant).player
            for entrant in (order.entrants.A, order.entrants.B)
        ]
        ruleset = competition.settings.ruleset
        if sum(player in bots for player in seats) == 1:
            ruleset = ruleset.changed({"rated": False})
        by_computer = frozenset(seat for seat in Seat if order.entrants[seat] == COMPUTER)
        return NewMatch(
            id=order.id,
            preset=competition.settings.preset,
            ruleset=ruleset,
            rates_bots=True,
            public=stored.visibility == "public" and not shared,
            code=None,
            maker=stored.owner,
            players=Seats(*seats),
            created_at=now,
            server_seed=board_seed if shared else secrets.token_bytes(32),
            computers=by_computer,
            dice_id=order.dice_id,
            competition=competition.id,
            secret=shared,
        )

    # ----------------------------------------------------------------------------------------------- results, absences

    async def _settle(self, competition: Competition, open_ones: tuple[Played, ...]) -> None:
        """Takes in what is over, and ends what nobody waits for any more."""
        wanted = {order.id: order for order in matches_due(competition)}
        late = {order.id for order in overdue(competition, self._now())}
        paused = competition.round is not None and competition.round.paused_at is not None
        secret = [match for match in open_ones if match.secret]
        # Of a board nothing is told before all of it is over: a result that comes in would be news (§5.4).
        board_is_over = all(match.state == "over" for match in secret)
        for match in open_ones:
            if match.state == "over":
                if not match.secret or board_is_over:
                    await self._report(competition, match.id)
            elif match.id not in wanted:
                if not paused or self._is_decided(competition, match.id):
                    await self._end(match.id, ServerEnds.NOT_WANTED)
            elif match.id in late:
                await self._end_late(competition, wanted[match.id])
            elif match.dice_id == match.id and self._now() >= wanted[match.id].missed_from:
                await self._miss(competition, wanted[match.id])

    @staticmethod
    def _is_decided(competition: Competition, match: str) -> bool:
        round_ = competition.round
        assert round_ is not None
        return not any(
            meeting.verdict.is_open and match.startswith(f"{_beginning(competition, meeting.ref)}M")
            for meeting in round_.meetings
        )

    async def _report(self, competition: Competition, match_id: str) -> None:
        progress = await self._matches.progress(match_id)
        if progress.score is None:
            return
        rated = competition.settings.ruleset.rated
        result = result_of(match_id, progress.dice_id, progress.score, progress.came, rated=rated)
        try:
            await self._competitions.act(
                competition.id, lambda at: commands.ReportResult(result, at), actor=None
            )
        except RuleError as refused:  # decided otherwise meanwhile
            log.info("the result of %s is not taken: %s", match_id, refused.params.get("because"))
        await self._store.matches.set_reported([match_id])

    async def _end(self, match_id: str, why: ServerEnds) -> None:
        """The match counts for nothing."""
        with contextlib.suppress(RuleError):  # over by itself
            await self._matches.order(match_id, lambda at: VoidMatch(SERVER, why.value, at))
        self.wake((await self._matches.progress(match_id)).competition)

    async def _miss(self, competition: Competition, order: MatchOrder) -> None:
        """Whoever has never come is a no-show; the match is void, and moves no rating (§12.6)."""
        progress = await self._matches.progress(order.id)
        absent = tuple(order.entrants[seat] for seat in Seat if seat not in progress.came)
        if not absent:
            return
        await self._competitions.act(
            competition.id, lambda at: commands.ReportAbsence(order.ref, absent, at), actor=None
        )
        await self._end(order.id, ServerEnds.NO_SHOW)

    async def _end_late(self, competition: Competition, order: MatchOrder) -> None:
        """The time of the round is over: the match ends by what both leads come to at its last round's end (§8.5)."""
        progress = await self._matches.progress(order.id)
        if progress.turn is None and len(progress.came) < 2:
            absent = tuple(order.entrants[seat] for seat in Seat if seat not in progress.came)
            with contextlib.suppress(RuleError):  # they may still come
                await self._competitions.act(
                    competition.id, lambda at: commands.ReportAbsence(order.ref, absent, at), actor=None
                )
                await self._end(order.id, ServerEnds.NO_SHOW)
            return
        net = 0 if progress.turn is None else (await self._matches.at_round_end(order.id)).formula_for_A
        with contextlib.suppress(RuleError):
            await self._matches.order(
                order.id, lambda at: SetResult(SERVER, net, ServerEnds.ROUND_OVER.value, at)
            )

    async def _take_analyses(self, competition: Competition) -> None:
        """Objective results that have been found since (§6.4)."""
        waiting = [
            result.match
            for stage in competition.stages
            for round_ in stage.rounds
            if not (isinstance(stage.rules, Qualifying) and round_.state is not RoundState.CLOSED)
            for meeting in round_.meetings
            for result in meeting.results
            if result.ending is Ending.PLAYED and result.objective_for_A is None
        ]
        analyses = self._store.analyses
        if not waiting:
            return
        for match_id, objective in (await analyses.objective(waiting)).items():
            if objective is not None:
                judged = await analyses.load(match_id)
                judge = (judged.judges if judged else None) or "unknown"
                await self._competitions.act(
                    competition.id,
                    lambda at, m=match_id, o=objective, j=judge: commands.ReportObjective(m, o, j, at),  # type: ignore[misc]
                    actor=None,
                )

    # ------------------------------------------------------------------------------------------------- shared dice

    async def _keep_in_step(self, competition: Competition, open_ones: tuple[Played, ...]) -> None:
        stage, round_ = competition.stage, competition.round
        running = [match.id for match in open_ones if match.secret and match.state == "playing"]
        if stage is None or round_ is None or not isinstance(stage.rules, Qualifying):
            return
        dice_id = qualifying_dice_id(competition.id, round_.number)
        all_of_it = [match.id for match in open_ones if match.dice_id == dice_id]
        paused = round_.state is not RoundState.STARTED or round_.paused_at is not None
        if running:
            await self._boards.keep(competition.id, dice_id, all_of_it, paused=paused)
        else:
            self._boards.let_go(dice_id)

    async def _disclose(self, competition: Competition) -> None:
        """Rounds that are closed are secret no more (§9.3)."""
        if not competition.stages or not isinstance(competition.stages[0].rules, Qualifying):
            return
        closed = {
            qualifying_dice_id(competition.id, round_.number)
            for round_ in competition.stages[0].rounds
            if round_.state is RoundState.CLOSED
        }
        for board in await self._store.competitions.boards(competition.id):
            if board.dice_id in closed and board.disclosed_at is None:
                for match_id in await self._store.competitions.disclose(board.dice_id, self._now()):
                    await self._matches.disclose(match_id)


def result_of(
    match_id: str, dice_id: str, score: Score, came: Collection[Seat], *, rated: bool
) -> MatchResult:
    """What a match that is over comes to in its competition; `came` is who has ever had a display.

    A board that its entrant has never been at is conceded, and he has not played (§12.1, §12.6). `rated`: what is
    played counts for the points rating of the competition, also where it moves no other one (§10.2).
    """
    result = MatchResult.of(match_id, score)
    result = replace(result, rated=rated and result.ending is Ending.PLAYED)
    if dice_id != match_id and Seat.A not in came and result.ending is Ending.PLAYED:
        return replace(result, ending=Ending.NO_SHOW, by=Seat.A, rated=False)
    return result


def _beginning(competition: Competition, ref: Any) -> str:
    return f"{competition.id}-S{ref.stage}R{ref.round}T{ref.table}"

"""A competition as it stands: its entrants, stages, rounds and meetings; `apply` and `replay` (§12).

`decisions` says what may happen; here is what has happened. Everything that can be computed from it (standings, places,
what is next) is computed elsewhere, when it is asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache, reduce

from engine.competition import facts
from engine.competition.facts import Fact
from engine.competition.meeting import (
    MatchResult,
    Meeting,
    Pair,
    Ref,
    Ruling,
    Terms,
    judged,
    place_of,
)
from engine.competition.pairing import Couple, couple
from engine.competition.settings import Qualifying, Settings, StageRules, no_show_price
from engine.ruleset import Ruleset
from engine.scoring import concession
from engine.turn import Games, Seat
from engine.variant import VARIANTS


class State(StrEnum):
    """How far a competition is."""

    ANNOUNCED = "announced"
    ENTRY = "entry"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class Status(StrEnum):
    """How an entrant stands. ASKED waits for approval; only ENTERED is paired."""

    ASKED = "asked"
    DECLINED = "declined"
    ENTERED = "entered"
    WITHDRAWN = "withdrawn"
    BANNED = "banned"


class RoundState(StrEnum):
    """How far a round is. Only organisers see a DRAFTED one."""

    DRAFTED = "drafted"
    PUBLISHED = "published"
    STARTED = "started"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Entrant:
    """A place in the competition, and the player who has it now."""

    number: int
    player: str
    strength: float
    status: Status
    checked_in: bool = False
    seed: int | None = None  # by an organiser's hand
    has_left: bool = False  # has withdrawn from a competition that ran, though he may be back
    left_at: int | None = None

    @property
    def plays(self) -> bool:
        """He is to be paired."""
        return self.status is Status.ENTERED


@dataclass(frozen=True, slots=True)
class Round:
    """One round of a stage. Times are ms; `start_at` None: it starts by hand."""

    number: int
    meetings: tuple[Meeting, ...]
    state: RoundState = RoundState.DRAFTED
    faults: tuple[str, ...] = ()  # of pairings made by hand, that stand for a reason
    start_at: int | None = None
    started_at: int | None = None
    until: int | None = None
    paused_at: int | None = None
    closed_at: int | None = None

    @property
    def has_started(self) -> bool:
        """Matches may have been played in it."""
        return self.state in (RoundState.STARTED, RoundState.CLOSED)


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage with its entrants, the best seed first; late ones come last."""

    number: int
    rules: StageRules
    terms: Terms
    seeds: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...] = ()
    rounds: tuple[Round, ...] = ()

    @property
    def round(self) -> Round | None:
        """The newest round."""
        return self.rounds[-1] if self.rounds else None

    @property
    def has_started(self) -> bool:
        """A round of it has."""
        return any(round_.has_started for round_ in self.rounds)


@dataclass(frozen=True, slots=True)
class Penalty:
    """What an arbiter has taken from an entrant."""

    entrant: int
    stage: int
    match_points: int
    points: int
    reason: str


@dataclass(frozen=True, slots=True)
class Competition:
    """All that has happened in a competition so far."""

    id: str
    settings: Settings
    lot_seed: str  # from which lots are drawn
    state: State = State.ANNOUNCED
    entrants: tuple[Entrant, ...] = ()
    invited: frozenset[str] = frozenset()
    forbidden: frozenset[Couple] = frozenset()
    penalties: tuple[Penalty, ...] = ()
    stages: tuple[Stage, ...] = ()
    over_at: int | None = None
    over_because: str | None = None

    def entrant(self, number: int) -> Entrant:
        """The entrant of this number."""
        return self.entrants[number - 1]

    def entrant_of(self, player: str) -> Entrant | None:
        """The place that a player has, whatever became of it."""
        return next((entrant for entrant in self.entrants if entrant.player == player), None)

    @property
    def stage(self) -> Stage | None:
        """The stage that is played now, or was played last."""
        return self.stages[-1] if self.stages else None

    @property
    def round(self) -> Round | None:
        """The newest round of the newest stage."""
        return self.stage.round if self.stage else None

    def meeting(self, ref: Ref) -> Meeting | None:
        """The meeting at that place."""
        if not (
            1 <= ref.stage <= len(self.stages) and 1 <= ref.round <= len(self.stages[ref.stage - 1].rounds)
        ):
            return None
        meetings = self.stages[ref.stage - 1].rounds[ref.round - 1].meetings
        return meetings[ref.table - 1] if 1 <= ref.table <= len(meetings) else None

    def result(self, match: str) -> MatchResult | None:
        """The result of a match of this competition, if it has one."""
        place = place_of(match)
        meeting = self.meeting(place[0]) if place else None
        found = meeting.results if meeting else ()
        return next((result for result in found if result.match == match), None)

    def lot(self, entrant: int) -> str:
        """The lot of an entrant (§12.5): drawn once from a seed that nobody could choose; the smallest goes first."""
        text = f"nardy-lot/1|{self.id}|{self.lot_seed}|{entrant}"
        return hashlib.sha256(text.encode()).hexdigest()


def new_competition(competition_id: str, settings: Settings, lot_seed: str) -> Competition:
    """A competition that is announced; `lot_seed` is hex, drawn by the server.

    The id is made of A–Z a–z 0–9 and `-`, at most 32 of them, since match ids begin with it (§9.2).
    """
    allowed = competition_id.replace("-", "").isalnum() and competition_id.isascii()
    if not allowed or len(competition_id) > 32 or not lot_seed:
        raise ValueError("a competition's id is A-Z a-z 0-9 and -, at most 32; a seed is needed for lots")
    return Competition(competition_id, settings, lot_seed)


@lru_cache(maxsize=64)
def terms_of(rules: StageRules, ruleset: Ruleset) -> Terms:
    """What decides a meeting in a stage. In a qualifying a match never begun is a concession (§12.1)."""
    price = no_show_price(ruleset)
    if isinstance(rules, Qualifying):
        start = VARIANTS[ruleset.variant].opening()
        price = concession(ruleset, Games(start, start), Games(start, start), Seat.A).points
    return Terms(rules.series, rules.kind in ("single_elimination", "double_elimination"), price)


# ---------------------------------------------------------------------------------------------------------- apply


def replay(start: Competition, happened: Iterable[Fact]) -> Competition:
    """The competition after these facts."""
    return reduce(apply, happened, start)


def apply(competition: Competition, fact: Fact) -> Competition:
    """The competition after a fact. Refuses nothing; reads no clock, draws no lot, pairs nobody."""
    match fact:
        case facts.SettingsChanged(settings):
            return replace(competition, settings=settings)
        case facts.EntryOpened():
            return replace(competition, state=State.ENTRY)
        case facts.Finished(at):
            return replace(competition, state=State.FINISHED, over_at=at)
        case facts.Cancelled(_, reason, at):
            return replace(competition, state=State.CANCELLED, over_at=at, over_because=reason)
        case facts.PlayerInvited(player):
            return replace(competition, invited=competition.invited | {player})
        case facts.EntrantsRated(strengths):
            rated = dict(strengths)
            entrants = tuple(
                replace(e, strength=rated.get(e.number, e.strength)) for e in competition.entrants
            )
            return replace(competition, entrants=entrants)
        case facts.PairForbidden(first, second, forbidden):
            both = frozenset({couple(first, second)})
            now = competition.forbidden | both if forbidden else competition.forbidden - both
            return replace(competition, forbidden=now)
        case facts.PenaltyGiven(entrant, number, match_points, points, _, reason):
            penalty = Penalty(entrant, number, match_points, points, reason)
            return replace(competition, penalties=(*competition.penalties, penalty))
        case facts.StageOpened(number, seeds, groups):
            rules = competition.settings.stages[number - 1]
            terms = terms_of(rules, competition.settings.ruleset)
            opened = Stage(number, rules, terms, seeds, groups)
            return replace(competition, state=State.RUNNING, stages=(*competition.stages, opened))
        case facts.StageUndone():
            return replace(competition, stages=competition.stages[:-1])
        case facts.StageSeeded(number, seeds, groups):
            return _with_stage(
                competition, replace(competition.stages[number - 1], seeds=seeds, groups=groups)
            )
        case facts.StageJoined(number, entrant):
            joined = competition.stages[number - 1]
            return _with_stage(competition, replace(joined, seeds=(*joined.seeds, entrant)))
        case facts.ResultReported(result, at):
            return _with_result(competition, result, at)
        case facts.ResultCorrected(result, _, _, at):
            return _with_result(competition, result, at)
        case facts.ObjectiveFound(match, objective):
            known = competition.result(match)
            return competition if known is None else _analysed(competition, known, objective)
        case facts.MeetingForfeited(ref, absent):
            meeting = _meeting(competition, ref)
            return _with_meeting(competition, replace(meeting, absent=absent))
        case facts.MeetingRuled(ref, points_for_a, winner, by, reason):
            meeting = _meeting(competition, ref)
            ruling = Ruling(points_for_a, winner, by, reason)
            return _with_meeting(competition, replace(meeting, ruling=ruling))
        case _ if isinstance(fact, facts.RoundFact):
            return _round_after(competition, fact)
        case _:
            return _entrants_after(competition, fact)


def _entrants_after(competition: Competition, fact: facts.EntrantFact) -> Competition:
    match fact:
        case facts.EntrantRegistered(number, player, strength, approved):
            entrant = Entrant(number, player, strength, Status.ENTERED if approved else Status.ASKED)
            return replace(competition, entrants=(*competition.entrants, entrant))
        case facts.EntrantApproved(number):
            changed = replace(competition.entrant(number), status=Status.ENTERED)
        case facts.EntrantDeclined(number):
            changed = replace(competition.entrant(number), status=Status.DECLINED)
        case facts.EntrantCheckedIn(number):
            changed = replace(competition.entrant(number), checked_in=True)
        case facts.EntrantWithdrew(number, _, _, at):
            before = competition.entrant(number)
            has_left = before.has_left or competition.state is State.RUNNING
            changed = replace(before, status=Status.WITHDRAWN, has_left=has_left, left_at=at)
        case facts.EntrantReturned(number):
            changed = replace(competition.entrant(number), status=Status.ENTERED)
        case facts.EntrantBanned(number):
            changed = replace(competition.entrant(number), status=Status.BANNED)
        case facts.EntrantReplaced(number, player, strength):
            changed = replace(competition.entrant(number), player=player, strength=strength)
        case facts.EntrantSeeded(number, seed):
            changed = replace(competition.entrant(number), seed=seed)
    entrants = competition.entrants
    return replace(competition, entrants=(*entrants[: number - 1], changed, *entrants[number:]))


def _round_after(competition: Competition, fact: facts.RoundFact) -> Competition:
    stage = competition.stages[fact.stage - 1]
    if isinstance(fact, facts.RoundDrafted):
        drafted = Round(fact.round, _meetings(stage, fact.round, fact.pairs), faults=fact.faults)
        return _with_stage(competition, replace(stage, rounds=(*stage.rounds, drafted)))
    if isinstance(fact, facts.RoundUndone):
        return _with_stage(competition, replace(stage, rounds=stage.rounds[:-1]))
    round_ = stage.rounds[fact.round - 1]
    match fact:
        case facts.RoundEdited(_, number, pairs, faults):
            changed = replace(round_, meetings=_meetings(stage, number, pairs), faults=faults)
        case facts.RoundPublished(_, _, start_at):
            changed = replace(round_, state=RoundState.PUBLISHED, start_at=start_at)
        case facts.RoundScheduled(_, _, start_at):
            changed = replace(round_, start_at=start_at)
        case facts.RoundStarted():
            changed = _started(round_, fact)
        case facts.RoundPaused(_, _, _, _, at):
            changed = replace(round_, paused_at=at)
        case facts.RoundResumed(_, _, _, at):
            changed = _resumed(round_, at)
        case facts.RoundExtended(_, _, until):
            changed = replace(round_, until=until)
        case facts.RoundClosed(_, _, at):
            changed = replace(round_, state=RoundState.CLOSED, closed_at=at)
    return _with_round(competition, fact.stage, changed)


def _started(round_: Round, fact: facts.RoundStarted) -> Round:
    meetings = tuple(replace(meeting, waiting_since=fact.at) for meeting in round_.meetings)
    return replace(round_, state=RoundState.STARTED, started_at=fact.at, until=fact.until, meetings=meetings)


def _meetings(stage: Stage, round_: int, pairs: Iterable[Pair]) -> tuple[Meeting, ...]:
    meetings = (Meeting(Ref(stage.number, round_, table), pair) for table, pair in enumerate(pairs, 1))
    return tuple(replace(meeting, verdict=judged(meeting, stage.terms)) for meeting in meetings)


def _resumed(round_: Round, at: int) -> Round:
    """Every running time begins that much later."""
    paused = at - (at if round_.paused_at is None else round_.paused_at)
    return replace(
        round_,
        paused_at=None,
        until=None if round_.until is None else round_.until + paused,
        meetings=tuple(
            replace(meeting, waiting_since=meeting.waiting_since + paused) for meeting in round_.meetings
        ),
    )


def _meeting(competition: Competition, ref: Ref) -> Meeting:
    return competition.stages[ref.stage - 1].rounds[ref.round - 1].meetings[ref.table - 1]


def _with_stage(competition: Competition, stage: Stage) -> Competition:
    stages = competition.stages
    return replace(competition, stages=(*stages[: stage.number - 1], stage, *stages[stage.number :]))


def _with_round(competition: Competition, stage: int, round_: Round) -> Competition:
    now = competition.stages[stage - 1]
    rounds = (*now.rounds[: round_.number - 1], round_, *now.rounds[round_.number :])
    return _with_stage(competition, replace(now, rounds=rounds))


def _with_meeting(competition: Competition, meeting: Meeting) -> Competition:
    stage, number, table = meeting.ref
    round_ = competition.stages[stage - 1].rounds[number - 1]
    meeting = replace(meeting, verdict=judged(meeting, competition.stages[stage - 1].terms))
    meetings = (*round_.meetings[: table - 1], meeting, *round_.meetings[table:])
    return _with_round(competition, stage, replace(round_, meetings=meetings))


def _with_result(competition: Competition, result: MatchResult, at: int) -> Competition:
    """The match has this result now, in place of an earlier one."""
    place = place_of(result.match)
    assert place is not None
    ref, number = place
    meeting = _meeting(competition, ref)
    results = (*meeting.results[: number - 1], result, *meeting.results[number:])
    return _with_meeting(competition, replace(meeting, results=results, waiting_since=at))


def _analysed(competition: Competition, result: MatchResult, objective: float) -> Competition:
    place = place_of(result.match)
    assert place is not None
    meeting = _meeting(competition, place[0])
    results = tuple(
        replace(each, objective_for_A=objective) if each.match == result.match else each
        for each in meeting.results
    )
    return _with_meeting(competition, replace(meeting, results=results))

"""What a competition asks of its surroundings, tells an entrant, and shows to everybody.

The matches that are to be played now; what is next for an entrant; rounds and standings as they may be seen (§5.4,
§12.1): drafts only by organisers, and of a qualifying's open round nothing. Each is built up from what may be seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.competition import bracket
from engine.competition.competition import Competition, Entrant, Round, RoundState, Stage, State
from engine.competition.meeting import (
    COMPUTER,
    MatchResult,
    Meeting,
    Pair,
    Ref,
    Verdict,
    match_id,
    qualifying_dice_id,
)
from engine.competition.settings import DoubleElimination, Qualifying, SingleElimination
from engine.competition.stages import (
    bracket_of,
    final_order,
    is_provisional,
    start_ratings,
)
from engine.rating import POINTS_START, points_after
from engine.turn import Seat, Seats


@dataclass(frozen=True, slots=True)
class MatchOrder:
    """A match that is to be played now: it may begin at `due_at`, and from `missed_from` on an absence be reported.

    `entrants` by seat; the computer is 0. Where boards share their dice, `dice_id` is the same for all (§12.1).
    """

    id: str
    dice_id: str
    ref: Ref
    number: int
    entrants: Seats[int]
    due_at: int
    missed_from: int

    @property
    def is_board(self) -> bool:
        """Whether its dice are those of others too."""
        return self.dice_id != self.id


def matches_due(competition: Competition) -> tuple[MatchOrder, ...]:
    """Every match that should be there and is not over. One that exists and is not among them is to be ended."""
    return tuple(_order(competition, stage, meeting) for stage, meeting in _being_played(competition))


def _being_played(competition: Competition) -> Iterator[tuple[Stage, Meeting]]:
    stage, round_ = competition.stage, competition.round
    if competition.state is not State.RUNNING or stage is None or round_ is None:
        return
    if round_.state is RoundState.STARTED and round_.paused_at is None:
        yield from ((stage, meeting) for meeting in round_.meetings if meeting.verdict.is_open)


def _order(competition: Competition, stage: Stage, meeting: Meeting) -> MatchOrder:
    number = meeting.next_number
    name = match_id(competition.id, meeting.ref, number)
    same_dice = isinstance(stage.rules, Qualifying)
    seats = meeting.seats(number)
    return MatchOrder(
        name,
        qualifying_dice_id(competition.id, meeting.ref.round) if same_dice else name,
        meeting.ref,
        number,
        Seats(seats.A or COMPUTER, seats.B or COMPUTER),
        meeting.waiting_since,
        meeting.waiting_since + 1000 * competition.settings.no_show_s,
    )


def overdue(competition: Competition, at: int) -> tuple[MatchOrder, ...]:
    """Matches still to be played though the time of their round is over: an arbiter ends them."""
    round_ = competition.round
    late = round_ is not None and round_.until is not None and round_.until <= at
    return matches_due(competition) if late else ()


# ----------------------------------------------------------------------------------------------- for one entrant


@dataclass(frozen=True, slots=True)
class Next:
    """What is next for an entrant.

    `kind`: asked (waits for approval), declined, entered (waits for the start), check-in, play, starts (his meeting
    begins at `at`), paused, bye, rest (nothing for him in this round), done (his meeting of the round is decided),
    waits (for the next round), out (of an elimination, or not in this stage), withdrawn, banned, over, cancelled.
    """

    kind: str
    match: MatchOrder | None = None
    opponent: int | None = None
    at: int | None = None


def next_for(competition: Competition, number: int, at: int) -> Next:
    """What this entrant should know now (ms)."""
    entrant = competition.entrant(number)
    if competition.state is State.CANCELLED:
        return Next("cancelled")
    for stage, meeting in _being_played(competition):
        if number in meeting.pair.entrants:
            mine = _order(competition, stage, meeting)
            return Next("play", mine, meeting.pair.other(number), mine.due_at)
    if not entrant.plays:
        return Next(entrant.status.value)
    if competition.state is State.FINISHED:
        return Next("over")
    if competition.stage is None:
        return _before_start(competition, entrant, at)
    return _in_stage(competition.stage, number)


def _before_start(competition: Competition, entrant: Entrant, at: int) -> Next:
    settings = competition.settings
    if settings.entry.check_in_ms is None or settings.starts_at is None or entrant.checked_in:
        return Next("entered", at=settings.starts_at)
    opens_at = settings.starts_at - settings.entry.check_in_ms
    return Next(
        "check-in" if opens_at <= at else "entered", at=settings.starts_at if opens_at <= at else opens_at
    )


def _in_stage(stage: Stage, number: int) -> Next:
    if number not in stage.seeds or _is_out(stage, number):
        return Next("out")
    round_ = stage.round
    if round_ is None or round_.state in (RoundState.DRAFTED, RoundState.CLOSED):
        return Next("waits")
    meeting = next((each for each in round_.meetings if number in each.pair.entrants), None)
    if meeting is None:
        return Next("rest")
    if meeting.pair.b is None:
        return Next("bye")
    opponent = meeting.pair.other(number)
    if round_.state is RoundState.PUBLISHED:
        return Next("starts", opponent=opponent, at=round_.start_at)
    return Next("paused" if meeting.verdict.is_open else "done", opponent=opponent)


def _is_out(stage: Stage, number: int) -> bool:
    """He has nothing more to play in a bracket: no slot of his is open, and none can still come."""
    if not isinstance(stage.rules, SingleElimination | DoubleElimination):
        return False
    return not bracket.is_in(bracket_of(stage), number)


# -------------------------------------------------------------------------------------------------- for everybody


@dataclass(frozen=True, slots=True)
class ShownMeeting:
    """A meeting as everybody may see it; results and verdict are None while they are nobody's business."""

    ref: Ref
    pair: Pair
    results: tuple[MatchResult, ...] | None
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class ShownRound:
    """A published round as everybody may see it. Times are ms."""

    number: int
    state: RoundState
    start_at: int | None
    started_at: int | None
    until: int | None
    paused: bool
    meetings: tuple[ShownMeeting, ...]


def shown_rounds(stage: Stage) -> tuple[ShownRound, ...]:
    """The published rounds of a stage. Of a qualifying nothing of any entrant until the round is closed (§5.4)."""
    return tuple(_shown(stage, round_) for round_ in stage.rounds if round_.state is not RoundState.DRAFTED)


def _shown(stage: Stage, round_: Round) -> ShownRound:
    hidden = isinstance(stage.rules, Qualifying) and round_.state is not RoundState.CLOSED
    return ShownRound(
        round_.number,
        round_.state,
        round_.start_at,
        round_.started_at,
        round_.until,
        round_.paused_at is not None,
        tuple(
            ShownMeeting(meeting.ref, meeting.pair, None, None)
            if hidden
            else ShownMeeting(meeting.ref, meeting.pair, meeting.results, meeting.verdict)
            for meeting in round_.meetings
        ),
    )


@dataclass(frozen=True, slots=True)
class Place:
    """One entrant's place in the whole competition. `stage`: the last in which he took part."""

    place: int
    entrant: int
    stage: int
    provisional: bool


def places(competition: Competition) -> tuple[Place, ...]:
    """The places of all who took part, as they stand; nothing of a qualifying's round that is open."""
    last = {entrant: stage.number for stage in competition.stages for entrant in stage.seeds}
    provisional = {stage.number: is_provisional(competition, stage) for stage in competition.stages}
    return tuple(
        Place(number, entrant, last[entrant], provisional[last[entrant]])
        for number, entrant in enumerate(final_order(competition), 1)
    )


def points_ratings(competition: Competition) -> dict[int, int]:
    """The points rating of the competition (§10.1): the start rating, and the settled points of all rated matches."""
    start = start_ratings(competition)
    ratings = {
        entrant: start.get(entrant, POINTS_START) for stage in competition.stages for entrant in stage.seeds
    }
    for stage in competition.stages:
        for meeting in (meeting for round_ in stage.rounds for meeting in round_.meetings):
            for number, result in enumerate(meeting.results, 1):
                if not result.rated or meeting.pair.b == COMPUTER:
                    continue
                seats = meeting.seats(number)
                for seat in Seat:
                    entrant = seats[seat]
                    if entrant:
                        points = result.points[seat]
                        ratings[entrant] = points_after(
                            ratings[entrant], points, competition.settings.ruleset
                        )
    return ratings

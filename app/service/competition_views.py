"""What of a competition is shown to whom, as plain data: to everybody, to an entrant, to an organiser (§5.4).

Everything is built up from what may be seen. Of a qualifying's open round nobody, an organiser either, gets more than
that it is played. Entrants are known by their numbers, the computer is 0; accounts' ids are shown to organisers alone.
Times are UTC milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.store.accounts import Account
from app.store.competitions import StoredCompetition
from engine.competition.bracket import Filled
from engine.competition.competition import Competition, Entrant, Round, RoundState, Stage, Status
from engine.competition.meeting import Meeting, Ref, Verdict, match_id, place_of, qualifying_dice_id
from engine.competition.overview import (
    Next,
    matches_due,
    next_for,
    overdue,
    places,
    points_ratings,
)
from engine.competition.settings import DoubleElimination, Qualifying, SingleElimination
from engine.competition.stages import bracket_of, order_of, tables_of
from engine.competition.standings import Line, Table, cross_table, lines_of
from engine.turn import Seats


@dataclass(frozen=True, slots=True)
class Summary:
    """A competition in a list."""

    id: str
    title: Mapping[str, str]  # ru, en
    state: str  # announced, entry, running, finished, cancelled
    visibility: str  # public, unlisted
    starts_at: int | None
    created_at: int
    entrants: int
    stages: tuple[str, ...]  # their kinds
    preset: str
    variant: str


@dataclass(frozen=True, slots=True)
class EntrantShown:
    """An entrant as everybody sees him; `points` is his rating in this competition, None before he has one."""

    number: int
    name: str
    tag: str | None
    kind: str  # guest, computer …
    status: str  # entered, withdrawn, banned; to organisers also asked, declined
    checked_in: bool
    seed: int | None
    strength: int
    points: int | None


@dataclass(frozen=True, slots=True)
class MatchShown:
    """A match of a meeting. `result` is None while it is played, or waits to be made."""

    id: str
    entrants: Seats[int]
    state: str  # playing, over
    ending: str | None  # played, no-show, both-absent, void
    points: Seats[int] | None
    time_ms: Seats[int] | None
    objective_for_A: float | None
    rated: bool


@dataclass(frozen=True, slots=True)
class VerdictShown:
    """What a meeting is worth as it stands; pairs of values are for its `a` and `b` (engine.competition.meeting)."""

    how: str  # open, played, bye, zero-bye, forfeit, both-absent, ruled
    match_points: tuple[int, int]
    points: tuple[int, int]
    time_ms: tuple[int, int]
    winner: int | None
    told_apart_by: str | None
    analysed: int
    analysable: int


@dataclass(frozen=True, slots=True)
class MeetingShown:
    """Two who meet, a bye (`b` None), or an entrant and the computer (`b` 0).

    `verdict` is None and `matches` are empty while they are nobody's business (§5.4). `reason`: why an arbiter decided.
    """

    table: int
    a: int
    b: int | None
    group: int | None
    slot: str | None
    verdict: VerdictShown | None
    matches: tuple[MatchShown, ...]
    reason: str | None


@dataclass(frozen=True, slots=True)
class RoundShown:
    """A round; drafted ones, and faults of pairings, are for organisers."""

    stage: int
    number: int
    state: str  # drafted, published, started, closed
    start_at: int | None
    started_at: int | None
    until: int | None
    closed_at: int | None
    paused: bool
    faults: tuple[str, ...]
    meetings: tuple[MeetingShown, ...]
    dice_id: str | None  # of a qualifying: the one id in the text of the dice of all


@dataclass(frozen=True, slots=True)
class StageShown:
    """A stage that has opened; `seeds` are its entrants, the best first."""

    number: int
    kind: str
    rules: Mapping[str, Any]
    seeds: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    rounds: tuple[RoundShown, ...]


@dataclass(frozen=True, slots=True)
class PlaceShown:
    """A place in the whole competition, as it stands."""

    place: int
    entrant: int
    stage: int
    provisional: bool


@dataclass(frozen=True, slots=True)
class NextShown:
    """What is next for an entrant; `kind` as engine.competition.overview.Next has it.

    `match` with kind `play` is the match to go to, once it `is_made`.
    """

    kind: str
    match: str | None
    is_made: bool
    opponent: int | None
    at: int | None
    missed_from: int | None
    stage: int | None
    round: int | None
    table: int | None


@dataclass(frozen=True, slots=True)
class Mine:
    """The caller's own place in a competition."""

    entrant: int
    status: str
    checked_in: bool
    next: NextShown


@dataclass(frozen=True, slots=True)
class Own:
    """What of a competition's view is the caller's own."""

    mine: Mine | None
    is_owner: bool


@dataclass(frozen=True, slots=True)
class CompetitionView:
    """A competition as everybody may see it; `mine` is the caller's own part in it."""

    id: str
    title: Mapping[str, str]
    about: Mapping[str, str]
    state: str
    visibility: str
    created_at: int
    settings: Mapping[str, Any]  # all but the code of entry
    over_at: int | None
    over_because: str | None
    entrants: tuple[EntrantShown, ...]
    stages: tuple[StageShown, ...]
    places: tuple[PlaceShown, ...]
    mine: Mine | None
    is_owner: bool

    @property
    def playing(self) -> list[str]:
        """The ids of the matches that everybody may watch now."""
        return [
            match.id
            for stage in self.stages
            for round_ in stage.rounds
            for meeting in round_.meetings
            for match in meeting.matches
            if match.state == "playing"
        ]


@dataclass(frozen=True, slots=True)
class ValueShown:
    """One number by which places are told apart, and where it comes from: round, opponent, value, why."""

    name: str
    value: float | int | None
    why: str
    parts: tuple[tuple[int | None, int | None, float | int, str], ...]


@dataclass(frozen=True, slots=True)
class RowShown:
    """One entrant in a table; `decided_by` sets him apart from the one above."""

    entrant: int
    place: int
    values: tuple[ValueShown, ...]
    decided_by: str | None
    came: bool
    played: int
    wins: int
    draws: int
    losses: int


@dataclass(frozen=True, slots=True)
class TableShown:
    """The standing of a stage, or of one of its groups (from 1)."""

    group: int | None
    rows: tuple[RowShown, ...]


@dataclass(frozen=True, slots=True)
class SlotShown:
    """A meeting of a bracket; `feeds` are where its two come from: seed, winner, loser, and of what."""

    name: str
    feeds: tuple[tuple[str, int | str], tuple[str, int | str]]
    entrants: tuple[int | None, int | None]
    over: bool
    winner: int | None


@dataclass(frozen=True, slots=True)
class Standings:
    """A stage as it stands. `criteria` decide in this order. An elimination has a bracket and no table.

    While it is `provisional`, analyses on which places hang are missing: so many of so many are there (§6.4).
    """

    stage: int
    kind: str
    criteria: tuple[str, ...]
    order: tuple[int, ...]
    tables: tuple[TableShown, ...]
    bracket: tuple[SlotShown, ...] | None
    provisional: bool
    analysed: int
    analysable: int


@dataclass(frozen=True, slots=True)
class Cell:
    """What one entrant did against another in a round: outcome win, draw, loss, or empty while it is open."""

    round: int
    table: int | None
    how: str
    outcome: str
    match_points: int
    points: int


@dataclass(frozen=True, slots=True)
class CrossTable:
    """Everybody against everybody, of a stage or a group.

    `cells[i][j]` is what the i-th of `order` did against the j-th.
    """

    stage: int
    group: int | None
    order: tuple[int, ...]
    cells: tuple[tuple[tuple[Cell, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class OrganiserEntrant:
    """An entrant as an organiser sees him; `account` is what commands name players by. `has_link`: the account was made
    on a list of the event's owner, and has a personal link that can be renewed.
    """

    account: str
    has_left: bool
    has_link: bool
    entrant: EntrantShown


@dataclass(frozen=True, slots=True)
class PenaltyShown:
    """What an arbiter has taken from an entrant."""

    entrant: int
    stage: int
    match_points: int
    points: int
    reason: str


@dataclass(frozen=True, slots=True)
class OrganiserView:
    """A competition as an organiser sees it, with its version; of an open qualifying round no more than everybody."""

    version: int
    view: CompetitionView
    settings: Mapping[str, Any]  # with the code of entry
    entrants: tuple[OrganiserEntrant, ...]
    invited: tuple[str, ...]
    forbidden: tuple[tuple[int, int], ...]
    penalties: tuple[PenaltyShown, ...]
    draft: RoundShown | None
    due_at: int | None
    overdue: tuple[str, ...]  # matches still played though the time of their round is over


# --------------------------------------------------------------------------------------------------------- built up


def summary(stored: StoredCompetition, competition: Competition | None = None) -> Summary:
    """As lists show it; with `competition` by the settings of now."""
    settings = stored.settings if competition is None else competition.settings
    return Summary(
        stored.id,
        stored.title,
        stored.state,
        stored.visibility,
        stored.starts_at,
        stored.created_at,
        stored.entrants,
        tuple(stage.kind for stage in settings.stages),
        settings.preset,
        settings.ruleset.variant,
    )


def everybodys(
    stored: StoredCompetition,
    competition: Competition,
    accounts: Mapping[str, Account],
) -> CompetitionView:
    """What everybody may see; of nobody his own part."""
    ratings = points_ratings(competition)
    return CompetitionView(
        id=stored.id,
        title=stored.title,
        about=stored.about,
        state=competition.state.value,
        visibility=stored.visibility,
        created_at=stored.created_at,
        settings=competition.settings.shown(),
        over_at=competition.over_at,
        over_because=competition.over_because,
        entrants=tuple(
            entrant_shown(entrant, accounts, ratings)
            for entrant in competition.entrants
            if entrant.status not in (Status.ASKED, Status.DECLINED)
        ),
        stages=tuple(_stage(competition, stage) for stage in competition.stages),
        places=tuple(
            PlaceShown(place.place, place.entrant, place.stage, place.provisional)
            for place in places(competition)
        ),
        mine=None,
        is_owner=False,
    )


def seen_by_all(stored: StoredCompetition, competition: Competition) -> object:
    """Differs from what it was if something has changed that everybody may see, or an entrant of his own place."""
    return (
        *(stored.title, stored.about, stored.visibility),
        *(competition.state, competition.settings.shown(), competition.over_because),
        tuple((e.player, e.status, e.checked_in, e.seed) for e in competition.entrants),
        tuple(_stage(competition, stage) for stage in competition.stages),
        competition.penalties,
        tuple(places(competition)),
    )


def organisers(
    owner: str,
    shared: CompetitionView,
    competition: Competition,
    version: int,
    accounts: Mapping[str, Account],
    due_at: int | None,
    now: int,
) -> OrganiserView:
    """What an organiser may see."""
    ratings = points_ratings(competition)
    round_, stage = competition.round, competition.stage
    drafted = round_ is not None and round_.state is RoundState.DRAFTED
    return OrganiserView(
        version=version,
        view=shared,
        settings=competition.settings.to_dict(),
        entrants=tuple(
            OrganiserEntrant(
                entrant.player,
                entrant.has_left,
                accounts[entrant.player].maker == owner,
                entrant_shown(entrant, accounts, ratings),
            )
            for entrant in competition.entrants
        ),
        invited=tuple(sorted(competition.invited)),
        forbidden=tuple(sorted(competition.forbidden)),
        penalties=tuple(
            PenaltyShown(p.entrant, p.stage, p.match_points, p.points, p.reason)
            for p in competition.penalties
        ),
        draft=_round(competition, stage, round_) if drafted and stage and round_ else None,
        due_at=due_at,
        overdue=tuple(order.id for order in overdue(competition, now)) if not is_hidden(competition) else (),
    )


def is_hidden(competition: Competition) -> bool:
    """Whether the round that is played is one of a qualifying, of which nothing is shown yet (§5.4)."""
    stage, round_ = competition.stage, competition.round
    return (
        stage is not None
        and round_ is not None
        and isinstance(stage.rules, Qualifying)
        and round_.state is RoundState.STARTED
    )


def is_secret(competition: Competition, match: str) -> bool:
    """Whether a match is of a qualifying's round that is open: nothing of it is shown (§5.4)."""
    ref = ref_of(match)
    if ref is None or competition.meeting(ref) is None:
        return False
    return is_open_qualifying(competition, ref.stage, ref.round)


def ref_of(match: str) -> Ref | None:
    """The meeting that a match belongs to; None for any other text."""
    place = place_of(match)
    return None if place is None else place[0]


def is_open_qualifying(competition: Competition, stage: int, round_: int) -> bool:
    """Whether a round is one of a qualifying that is not closed."""
    if stage > len(competition.stages) or round_ > len(competition.stages[stage - 1].rounds):
        return False
    found = competition.stages[stage - 1]
    closed = found.rounds[round_ - 1].state is RoundState.CLOSED
    return isinstance(found.rules, Qualifying) and not closed


def entrant_shown(
    entrant: Entrant, accounts: Mapping[str, Account], ratings: Mapping[int, int]
) -> EntrantShown:
    """One entrant, by the account that has his place now."""
    account = accounts[entrant.player]
    return EntrantShown(
        entrant.number,
        account.name,
        account.tag,
        account.kind,
        entrant.status.value,
        entrant.checked_in,
        entrant.seed,
        round(entrant.strength),
        ratings.get(entrant.number),
    )


def _stage(competition: Competition, stage: Stage) -> StageShown:
    return StageShown(
        stage.number,
        stage.rules.kind,
        stage.rules.to_dict(),
        stage.seeds,
        stage.groups,
        tuple(
            _round(competition, stage, round_)
            for round_ in stage.rounds
            if round_.state is not RoundState.DRAFTED
        ),
    )


def _round(competition: Competition, stage: Stage, round_: Round) -> RoundShown:
    same_dice = isinstance(stage.rules, Qualifying)
    hidden = same_dice and round_.state is not RoundState.CLOSED
    return RoundShown(
        stage.number,
        round_.number,
        round_.state.value,
        round_.start_at,
        round_.started_at,
        round_.until,
        round_.closed_at,
        round_.paused_at is not None,
        round_.faults if round_.state is RoundState.DRAFTED else (),
        tuple(_meeting(competition, round_, meeting, hidden=hidden) for meeting in round_.meetings),
        qualifying_dice_id(competition.id, round_.number) if same_dice else None,
    )


def _meeting(competition: Competition, round_: Round, meeting: Meeting, *, hidden: bool) -> MeetingShown:
    pair = meeting.pair
    return MeetingShown(
        meeting.ref.table,
        pair.a,
        pair.b,
        pair.group,
        pair.slot,
        None if hidden else _verdict(meeting.verdict),
        () if hidden else _matches(competition, round_, meeting),
        None if hidden or meeting.ruling is None else meeting.ruling.reason,
    )


def _verdict(verdict: Verdict) -> VerdictShown:
    return VerdictShown(
        verdict.how,
        verdict.match_points,
        verdict.points,
        verdict.time_ms,
        verdict.winner,
        verdict.told_apart_by,
        verdict.analysed,
        verdict.analysable,
    )


def _matches(competition: Competition, round_: Round, meeting: Meeting) -> tuple[MatchShown, ...]:
    def seats(number: int) -> Seats[int]:
        both = meeting.seats(number)
        return Seats(both.A or 0, both.B or 0)

    found = [
        MatchShown(
            result.match,
            seats(number),
            "over",
            result.ending.value,
            result.points,
            result.time_ms,
            result.objective_for_A,
            result.rated,
        )
        for number, result in enumerate(meeting.results, 1)
    ]
    if round_.state is RoundState.STARTED and meeting.verdict.is_open and meeting.pair.b is not None:
        number = meeting.next_number
        name = match_id(competition.id, meeting.ref, number)
        found.append(MatchShown(name, seats(number), "playing", None, None, None, None, False))
    return tuple(found)


def next_shown(found: Next, *, is_made: bool) -> NextShown:
    """What is next, as plain data."""
    order = found.match
    ref: Ref | None = order.ref if order else None
    return NextShown(
        found.kind,
        order.id if order else None,
        is_made,
        found.opponent,
        found.at,
        order.missed_from if order else None,
        ref.stage if ref else None,
        ref.round if ref else None,
        ref.table if ref else None,
    )


def next_of(competition: Competition, entrant: Entrant, now: int) -> Next:
    """What is next for an entrant."""
    return next_for(competition, entrant.number, now)


def due_ids(competition: Competition) -> tuple[str, ...]:
    """The matches that are to be played now."""
    return tuple(order.id for order in matches_due(competition))


def standings(competition: Competition, stage: Stage) -> Standings:
    """A stage as it stands."""
    tables = tables_of(competition, stage)
    knock_out = isinstance(stage.rules, SingleElimination | DoubleElimination)
    grouped = bool(stage.groups)
    return Standings(
        stage.number,
        stage.rules.kind,
        tuple(value.name for value in tables[0].rows[0].values) if tables and tables[0].rows else (),
        order_of(competition, stage),
        tuple(_table(number if grouped else None, table) for number, table in enumerate(tables, 1)),
        tuple(map(_slot, bracket_of(stage).values())) if knock_out else None,
        any(table.provisional for table in tables),
        sum(table.analysed for table in tables),
        sum(table.analysable for table in tables),
    )


def _table(group: int | None, table: Table) -> TableShown:
    return TableShown(
        group,
        tuple(
            RowShown(
                row.entrant,
                row.place,
                tuple(
                    ValueShown(
                        value.name,
                        value.value,
                        value.why,
                        tuple((part.round, part.opponent, part.value, part.why) for part in value.parts),
                    )
                    for value in row.values
                ),
                row.decided_by,
                row.came,
                row.played,
                row.wins,
                row.draws,
                row.losses,
            )
            for row in table.rows
        ),
    )


def _slot(filled: Filled) -> SlotShown:
    one, other = filled.slot.feeds
    return SlotShown(
        filled.slot.name,
        ((one.kind, one.of), (other.kind, other.of)),
        filled.entrants,
        filled.over,
        filled.winner,
    )


def cross_tables(competition: Competition, stage: Stage) -> tuple[CrossTable, ...]:
    """The stage's cross-table, or one of each group."""
    lines = lines_of(competition, stage)
    return tuple(
        CrossTable(
            stage.number,
            number if stage.groups else None,
            table.order,
            tuple(tuple(tuple(map(_cell, cell)) for cell in row) for row in cross_table(table, lines)),
        )
        for number, table in enumerate(tables_of(competition, stage), 1)
    )


def _cell(line: Line) -> Cell:
    return Cell(
        line.round,
        line.ref.table if line.ref else None,
        line.how,
        line.outcome,
        line.match_points,
        line.points,
    )

"""What has happened in a competition. Facts are stored and never change; everything else is computed from them.

Entrants, stages, rounds and tables are numbered from 1. Times are UTC milliseconds. `by` is the id of whoever ordered
it.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.competition.meeting import MatchResult, Pair, Ref
from engine.competition.settings import Settings

# ---------------------------------------------------------------------------------------------------- the whole


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """The settings are others now."""

    settings: Settings
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class EntryOpened:
    """Players may enter."""

    by: str
    at: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The last stage is over, and the places are final."""

    at: int


TOO_FEW = "too-few"  # the reason of the server itself


@dataclass(frozen=True, slots=True)
class Cancelled:
    """There will be nothing more; `by` None: too few had come at the start."""

    by: str | None
    reason: str
    at: int


# -------------------------------------------------------------------------------------------------- who takes part


@dataclass(frozen=True, slots=True)
class PlayerInvited:
    """A player may enter a competition by invitation."""

    player: str
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class EntrantRegistered:
    """A player has a number in the competition. `strength` is his rating (§10.2) then."""

    entrant: int
    player: str
    strength: float
    approved: bool
    at: int


@dataclass(frozen=True, slots=True)
class EntrantApproved:
    """An organiser has let an entrant in."""

    entrant: int
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class EntrantDeclined:
    """An organiser has not let an entrant in."""

    entrant: int
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class EntrantCheckedIn:
    """An entrant is there for the start."""

    entrant: int
    at: int


@dataclass(frozen=True, slots=True)
class EntrantWithdrew:
    """An entrant plays no more (§12.6); a match that runs is played to its end."""

    entrant: int
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class EntrantReturned:
    """An entrant who had withdrawn is back, from the next round on."""

    entrant: int
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class EntrantBanned:
    """An organiser has thrown an entrant out; what he was playing is lost."""

    entrant: int
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class EntrantReplaced:
    """Another player goes on in an entrant's place, with his score."""

    entrant: int
    player: str
    strength: float
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class EntrantSeeded:
    """An organiser has given an entrant a seed, or taken it from him: seeded ones go first, in order of seeds."""

    entrant: int
    seed: int | None
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class EntrantsRated:
    """Ratings as they were at the start, entrant and strength, of those that had changed."""

    strengths: tuple[tuple[int, float], ...]
    at: int


@dataclass(frozen=True, slots=True)
class PairForbidden:
    """Two entrants are not to be paired, or may be again."""

    first: int
    second: int
    forbidden: bool
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class PenaltyGiven:
    """An arbiter takes match points or points from an entrant in a stage."""

    entrant: int
    stage: int
    match_points: int
    points: int
    by: str
    reason: str
    at: int


# ---------------------------------------------------------------------------------------------- stages and rounds


@dataclass(frozen=True, slots=True)
class StageOpened:
    """A stage has its entrants, the best seed first; the groups, if it has groups, from the top."""

    stage: int
    seeds: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    at: int


@dataclass(frozen=True, slots=True)
class StageSeeded:
    """An organiser has seeded a stage by hand."""

    stage: int
    seeds: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class StageJoined:
    """A late entrant takes part from the next round on; the rounds he missed are zero byes (§12.6)."""

    stage: int
    entrant: int
    at: int


@dataclass(frozen=True, slots=True)
class StageUndone:
    """A stage that had not begun is not open any more."""

    stage: int
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class RoundDrafted:
    """Pairings are proposed; only organisers see them. `faults` are repeats and forbidden pairs for want of others."""

    stage: int
    round: int
    pairs: tuple[Pair, ...]
    faults: tuple[str, ...]
    at: int


@dataclass(frozen=True, slots=True)
class RoundEdited:
    """An organiser has changed the pairings; `faults` stand in spite of the rules, for his reason."""

    stage: int
    round: int
    pairs: tuple[Pair, ...]
    faults: tuple[str, ...]
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class RoundPublished:
    """Everybody sees the pairings; the round starts at `start_at`, or by hand."""

    stage: int
    round: int
    start_at: int | None
    at: int


@dataclass(frozen=True, slots=True)
class RoundScheduled:
    """The round starts at another time, or by hand."""

    stage: int
    round: int
    start_at: int | None
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """The matches of the round may begin. `until`: when they should be over, if the stage has a limit."""

    stage: int
    round: int
    until: int | None
    at: int


@dataclass(frozen=True, slots=True)
class RoundPaused:
    """No match of the round begins until it goes on."""

    stage: int
    round: int
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class RoundResumed:
    """The round goes on; nobody has lost time by the pause."""

    stage: int
    round: int
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class RoundExtended:
    """The round has longer, or shorter, until it should be over."""

    stage: int
    round: int
    until: int
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class RoundClosed:
    """Every meeting of the round is decided."""

    stage: int
    round: int
    at: int


@dataclass(frozen=True, slots=True)
class RoundUndone:
    """A round in which nothing had started is taken back."""

    stage: int
    round: int
    by: str
    reason: str
    at: int


# -------------------------------------------------------------------------------------------------------- matches


@dataclass(frozen=True, slots=True)
class ResultReported:
    """A match of the competition is over."""

    result: MatchResult
    at: int


@dataclass(frozen=True, slots=True)
class ResultCorrected:
    """An arbiter has changed the result of a match that was over; void: another is played for it."""

    result: MatchResult
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class ObjectiveFound:
    """A match is analysed: its objective result for A (§6.4), and whose judgement that is."""

    match: str
    objective_for_A: float
    judge: str
    at: int


@dataclass(frozen=True, slots=True)
class MeetingForfeited:
    """These entrants of a meeting did not come, have left, or were thrown out (§12.6)."""

    ref: Ref
    absent: tuple[int, ...]
    why: str  # no-show, withdrawn, banned
    at: int


@dataclass(frozen=True, slots=True)
class MeetingRuled:
    """An arbiter has decided a meeting as a whole."""

    ref: Ref
    points_for_a: int
    winner: int | None
    by: str
    reason: str
    at: int


RoundFact = (
    RoundDrafted
    | RoundEdited
    | RoundPublished
    | RoundScheduled
    | RoundStarted
    | RoundPaused
    | RoundResumed
    | RoundExtended
    | RoundClosed
    | RoundUndone
)
EntrantFact = (
    EntrantRegistered
    | EntrantApproved
    | EntrantDeclined
    | EntrantCheckedIn
    | EntrantWithdrew
    | EntrantReturned
    | EntrantBanned
    | EntrantReplaced
    | EntrantSeeded
)
Fact = (
    RoundFact
    | EntrantFact
    | SettingsChanged
    | EntryOpened
    | Finished
    | Cancelled
    | PlayerInvited
    | EntrantsRated
    | PairForbidden
    | PenaltyGiven
    | StageOpened
    | StageSeeded
    | StageJoined
    | StageUndone
    | ResultReported
    | ResultCorrected
    | ObjectiveFound
    | MeetingForfeited
    | MeetingRuled
)

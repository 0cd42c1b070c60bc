"""What organisers, players and the server may wish of a competition; `decisions` says what comes of it.

Every command has its time `at` (UTC ms), an organiser's also `by`, his id. Where a reason is asked for, an empty one is
refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.competition.meeting import MatchResult, Ref
from engine.competition.settings import Settings

# ---------------------------------------------------------------------------------------------------- the whole


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """Change the settings, as long as the first stage has not opened."""

    settings: Settings
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class OpenEntry:
    """Let players enter."""

    by: str
    at: int


@dataclass(frozen=True, slots=True)
class Start:
    """Open the first stage with who is there. `strengths`: ratings of players as they are now, where they have changed.

    Late entrants apart, nobody enters any more.
    """

    at: int
    strengths: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Finish:
    """The last stage is complete: places are final."""

    at: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """Call the competition off."""

    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed: do what is due."""

    at: int


# -------------------------------------------------------------------------------------------------- who takes part


@dataclass(frozen=True, slots=True)
class Invite:
    """Let a player enter a competition by invitation."""

    player: str
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class Register:
    """Enter a player. `by`: an organiser who enters him, with no need of code, approval or invitation.

    The same player is one entrant, however often he is entered.
    """

    player: str
    at: int
    strength: float = 1500.0
    code: str | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Approve:
    """Let in who waits for it."""

    entrant: int
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class Decline:
    """Do not let in who waits for it. Needs a reason."""

    entrant: int
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class CheckIn:
    """Say, before the start, that an entrant is there."""

    entrant: int
    at: int


@dataclass(frozen=True, slots=True)
class Withdraw:
    """An entrant plays no more (§12.6)."""

    entrant: int
    by: str
    at: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Rejoin:
    """An entrant who had withdrawn plays again, from the next round on."""

    entrant: int
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class Ban:
    """Throw an entrant out; what he is playing is lost. Needs a reason."""

    entrant: int
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class Substitute:
    """Give an entrant's place, with his score, to another player. Needs a reason."""

    entrant: int
    player: str
    by: str
    reason: str
    at: int
    strength: float = 1500.0


@dataclass(frozen=True, slots=True)
class Seed:
    """Seed an entrant by hand before the start, or with None no more."""

    entrant: int
    seed: int | None
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class ForbidPair:
    """Two entrants are not to be paired in a Swiss; or, with `forbidden` false, may be again. Needs a reason."""

    first: int
    second: int
    by: str
    reason: str
    at: int
    forbidden: bool = True


@dataclass(frozen=True, slots=True)
class Penalise:
    """Take match points or points from an entrant in the stage that is played. Needs a reason."""

    entrant: int
    by: str
    reason: str
    at: int
    match_points: int = 0
    points: int = 0


# ---------------------------------------------------------------------------------------------- stages and rounds


@dataclass(frozen=True, slots=True)
class SeedStage:
    """Seed the stage that is open by hand, before its first round is drafted: all its entrants in another order."""

    seeds: tuple[int, ...]
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class DraftRound:
    """Propose the next round; opens the next stage when one is complete.

    With a reason it goes on though analyses are missing on which places hang.
    """

    at: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class EditRound:
    """Other pairings for a Swiss round that has not started; one of a pair is None for a bye.

    What the rules would not do needs a reason.
    """

    pairs: tuple[tuple[int, int | None], ...]
    by: str
    at: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PublishRound:
    """Show the draft to everybody, to start at a time, or by hand."""

    at: int
    start_at: int | None = None


@dataclass(frozen=True, slots=True)
class ScheduleRound:
    """Start the published round at another time, or by hand."""

    start_at: int | None
    by: str
    at: int


@dataclass(frozen=True, slots=True)
class StartRound:
    """Let the matches of the published round begin."""

    at: int


@dataclass(frozen=True, slots=True)
class PauseRound:
    """Let no further match of the round begin. Needs a reason."""

    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class ResumeRound:
    """Let the round go on."""

    by: str
    at: int


@dataclass(frozen=True, slots=True)
class ExtendRound:
    """Let the round last until another time. Needs a reason."""

    until: int
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class CloseRound:
    """End the round, if all its meetings are decided."""

    at: int


@dataclass(frozen=True, slots=True)
class UndoRound:
    """Take back a round that has not started, and a stage that opened with it. Needs a reason."""

    by: str
    reason: str
    at: int


# -------------------------------------------------------------------------------------------------------- matches


@dataclass(frozen=True, slots=True)
class ReportResult:
    """A match is over. The same report again changes nothing."""

    result: MatchResult
    at: int


@dataclass(frozen=True, slots=True)
class CorrectResult:
    """Arbiter: another result for a match that is over; void: another match is played for it. Needs a reason."""

    result: MatchResult
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class ReportObjective:
    """A match is analysed (§6.4)."""

    match: str
    objective_for_A: float
    judge: str
    at: int


@dataclass(frozen=True, slots=True)
class ReportAbsence:
    """These entrants of a meeting have not come for its match within `no_show_s` (§12.6)."""

    ref: Ref
    absent: tuple[int, ...]
    at: int


@dataclass(frozen=True, slots=True)
class RuleMeeting:
    """Arbiter: decide a meeting as a whole, also one that is over. Needs a reason."""

    ref: Ref
    points_for_a: int
    winner: int | None
    by: str
    reason: str
    at: int


Command = (
    ChangeSettings
    | OpenEntry
    | Start
    | Finish
    | Cancel
    | Tick
    | Invite
    | Register
    | Approve
    | Decline
    | CheckIn
    | Withdraw
    | Rejoin
    | Ban
    | Substitute
    | Seed
    | ForbidPair
    | Penalise
    | SeedStage
    | DraftRound
    | EditRound
    | PublishRound
    | ScheduleRound
    | StartRound
    | PauseRound
    | ResumeRound
    | ExtendRound
    | CloseRound
    | UndoRound
    | ReportResult
    | CorrectResult
    | ReportObjective
    | ReportAbsence
    | RuleMeeting
)

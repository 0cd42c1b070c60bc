"""The paired match: what may happen (`decide`), what has happened (`apply`), and when a match ends (§4, §8).

Commands are wishes and carry the time; events are facts. Live play, reload and replay go through the same `apply`.
Positions of the two games are kept as White sees them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from functools import reduce
from operator import attrgetter
from typing import Any

from engine.clock import Clock, new_clock, zero_after
from engine.dice import (
    NO_SEED,
    DiceSeeds,
    Roll,
    client_hash,
    commitment,
    is_client_seed,
    is_dice_id,
    roll_for,
)
from engine.errors import (
    AlreadyPlayed,
    BadDecision,
    BadRuleset,
    BadSeed,
    CannotResign,
    MatchIsOver,
    MatchIsPaused,
    NoDrawOffer,
    NotStarted,
    PriceChanged,
    StaleTurn,
    TimeIsUp,
)
from engine.plays import Hop, Move, notation
from engine.position import CHECKERS, OFF, Position
from engine.ruleset import Ruleset
from engine.scoring import (
    Concession,
    Outcome,
    Score,
    concession,
    settle,
    settle_adjudicated,
    settle_agreed,
    settle_concession,
    settle_for_nothing,
)
from engine.turn import FIRST_TURN, SEATS, Game, Games, Phase, Seat, Seats, Turn, game_of
from engine.variant import VARIANTS, PlayRules

SEED_PATIENCE_MS = (
    20_000  # no hash, or no seed after both hashes, in this time: zeros stand in its place (§9.1)
)
IDLE_VOID_MS = 24 * 3_600_000  # without a clock a match is void after so long without a play (§8.6)


# ---------------------------------------------------------------------------------------------- what has happened


@dataclass(frozen=True, slots=True)
class SeedHashed:
    """A browser has committed to its seed (§9.1)."""

    seat: Seat
    hash: str
    at: int


@dataclass(frozen=True, slots=True)
class SeedRevealed:
    """A browser has shown the seed that it had committed to (§9.1)."""

    seat: Seat
    seed: str
    at: int


@dataclass(frozen=True, slots=True)
class SeedDefaulted:
    """A browser showed no seed in time, and zeros stand in its place (§9.1)."""

    seat: Seat
    at: int


@dataclass(frozen=True, slots=True)
class HashesClosed:
    """In step: all entrants have committed, or zeros stand for them; nobody shows his seed before (§12.1)."""

    at: int


@dataclass(frozen=True, slots=True)
class SeedsCombined:
    """Seed A of a match in step is made from the seeds of all entrants (§12.1)."""

    seed: str
    at: int


@dataclass(frozen=True, slots=True)
class PhaseOpened:
    """A turn has begun with its shared roll (§4.1)."""

    turn: Turn
    roll: Roll
    at: int


@dataclass(frozen=True, slots=True)
class PlayMade:
    """A seat has played its half of the phase; `kind` is `play`, `pass` or `missed` (§4.5, §8.2).

    `thought_ms` is the thinking since the roll was shown, `allowed_ms` the lag that it is not charged for (§7.1).
    """

    seat: Seat
    turn: Turn
    kind: str
    moves: tuple[Move, ...]
    thought_ms: int
    allowed_ms: int
    at: int


@dataclass(frozen=True, slots=True)
class Left:
    """A player's last display has gone (§8.3)."""

    seat: Seat
    at: int


@dataclass(frozen=True, slots=True)
class Returned:
    """A player has a display again (§8.3)."""

    seat: Seat
    at: int


@dataclass(frozen=True, slots=True)
class DrawOffered:
    """A draw offer, delivered when the phase closes (§8.5)."""

    seat: Seat
    turn: Turn
    at: int


@dataclass(frozen=True, slots=True)
class PauseOrdered:
    """An arbiter has asked for a pause; it begins at the end of the phase (§8.5)."""

    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class Paused:
    """The pause has begun, and ends by itself at `until` (§8.5)."""

    until: int
    at: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """The pause is over, or the order for one is taken back (§8.5)."""

    by: str | None
    reason: str | None
    at: int


@dataclass(frozen=True, slots=True)
class TimeAdded:
    """An arbiter has added time to a bank (§8.5)."""

    seat: Seat
    ms: int
    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class TimeGivenBack:
    """The server was down for so long; nobody pays for it (§8.5)."""

    ms: int
    at: int


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """The match is over. `by` conceded; an arbiter's result has `net_for_A`, his name and his reason (§8)."""

    outcome: Outcome
    by: Seat | None
    at: int
    net_for_A: int | None = None
    arbiter: str | None = None
    reason: str | None = None


Event = (
    SeedHashed
    | SeedRevealed
    | SeedDefaulted
    | HashesClosed
    | SeedsCombined
    | PhaseOpened
    | PlayMade
    | Left
    | Returned
    | DrawOffered
    | PauseOrdered
    | Paused
    | Resumed
    | TimeAdded
    | TimeGivenBack
    | MatchEnded
)


# ---------------------------------------------------------------------------------------------- what is wished for


@dataclass(frozen=True, slots=True)
class CommitSeed:
    """Commit to a client seed by its SHA-256 (§9.1)."""

    seat: Seat
    hash: str
    at: int


@dataclass(frozen=True, slots=True)
class RevealSeed:
    """Show the client seed, once both hashes are in (§9.1)."""

    seat: Seat
    seed: str
    at: int


@dataclass(frozen=True, slots=True)
class CloseHashes:
    """Server: all entrants have committed, so seeds may be shown (§12.1). A second time changes nothing."""

    at: int


@dataclass(frozen=True, slots=True)
class CombineSeeds:
    """Server: all entrants' seeds are in, and this is what they come to (§12.1). A second time changes nothing."""

    seed: str
    at: int


@dataclass(frozen=True, slots=True)
class OpenPhase:
    """Server: everybody has played the phase before, so this one opens in a match in step (§12.1).

    A second time changes nothing.
    """

    turn: Turn
    at: int


@dataclass(frozen=True, slots=True)
class MakePlay:
    """Play these moves in this turn; `round_trip_ms` is the smallest that the server measured in it (§7.1)."""

    seat: Seat
    turn: Turn
    hops: tuple[Hop, ...]
    at: int
    round_trip_ms: int = 0


@dataclass(frozen=True, slots=True)
class Resign:
    """Give up at the price that was shown (§8.1)."""

    seat: Seat
    turn: Turn
    points: int
    at: int


@dataclass(frozen=True, slots=True)
class OfferDraw:
    """Offer a draw (§8.5)."""

    seat: Seat
    turn: Turn
    at: int


@dataclass(frozen=True, slots=True)
class AcceptDraw:
    """Accept the draw that has been offered (§8.5)."""

    seat: Seat
    turn: Turn
    at: int


@dataclass(frozen=True, slots=True)
class Leave:
    """The player's last display has gone; of a computer: no server has it any longer (§8.3)."""

    seat: Seat
    at: int


@dataclass(frozen=True, slots=True)
class Return:
    """The player has a display; of a computer: a server has it (§8.3)."""

    seat: Seat
    at: int


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed: do what is due."""

    at: int


@dataclass(frozen=True, slots=True)
class GiveBack:
    """The server was down for `ms` (§8.5)."""

    ms: int
    at: int


@dataclass(frozen=True, slots=True)
class OrderPause:
    """Arbiter: pause from the end of the phase (§8.5)."""

    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class Resume:
    """Arbiter: go on (§8.5)."""

    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class AddTime:
    """Arbiter: add time to a bank (§8.5)."""

    by: str
    seat: Seat
    ms: int
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class VoidMatch:
    """Arbiter: the match counts for nothing (§8.5)."""

    by: str
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class SetResult:
    """Arbiter: the match ends with this net result for A (§8.5)."""

    by: str
    net_for_A: int
    reason: str
    at: int


Command = (
    CommitSeed
    | RevealSeed
    | CloseHashes
    | CombineSeeds
    | OpenPhase
    | MakePlay
    | Resign
    | OfferDraw
    | AcceptDraw
    | Leave
    | Return
    | Tick
    | GiveBack
    | OrderPause
    | Resume
    | AddTime
    | VoidMatch
    | SetResult
)


# ---------------------------------------------------------------------------------------------------- the match


@dataclass(frozen=True, slots=True)
class Made:
    """What one seat did in a phase, how it is written, and the thinking it was charged for."""

    kind: str  # play, pass, missed
    moves: tuple[Move, ...]
    charged_ms: int
    text: str

    @classmethod
    def of(cls, kind: str, moves: tuple[Move, ...], charged_ms: int) -> Made:
        """Written `13/8 6/5*`, `--` for a pass, `==` for a play never made."""
        return cls(kind, moves, charged_ms, {"pass": "--", "missed": "=="}.get(kind) or notation(moves))


RecordLine = tuple[str, tuple[int, int], str, str, int, int]  # turn, roll, plays and charged ms of A and B


def record_line(turn: Turn, roll: Roll, plays: Seats[Made]) -> RecordLine:
    """One phase as a line of the record: both decisions on the same dice, side by side."""
    a, b = plays.A, plays.B
    return str(turn), (roll.first, roll.second), a.text, b.text, a.charged_ms, b.charged_ms


@dataclass(frozen=True, slots=True)
class PhasePlayed:
    """A finished phase: its roll, what both did, and the two games after it."""

    turn: Turn
    roll: Roll
    plays: Seats[Made]
    games: Games[Position]


@dataclass(frozen=True, slots=True)
class Presence:
    """Whether a player has a display, and the patience that his absences have used up (§8.3; ms)."""

    connected: bool = False
    came: bool = False  # has had a display at some time
    away_since: int | None = None  # counts only while a play is owed
    away_ms: int = 0  # earlier absences
    grace_used: bool = False
    grace_until: int | None = None  # the flag waits until then in this turn, though he is back


@dataclass(frozen=True, slots=True)
class Match:
    """One objective match: two games on shared dice (§4).

    `in_step`: it is one of many on the same dice; its phases are opened from outside, and a match that is left in the
    first phase is conceded like any other (§12.1). `for_both`: nobody's seed is replaced before both players have come;
    whoever made the match ends it if one does not (§12.6).
    """

    id: str
    ruleset: Ruleset
    server_seed: bytes = field(repr=False)
    dice_id: str
    seeding_from: int  # the seats are taken; seeds are waited for from here
    computers: frozenset[Seat]
    games: Games[Position]  # at the end of the last finished phase
    round_end: Games[Position]  # at the end of the last finished round
    clocks: Seats[Clock]
    hashes: Seats[str | None] = Seats(None, None)
    hashed_at: int | None = None  # all hashes that are waited for are in: in step, those of all entrants
    client_seeds: Seats[str | None] = Seats(None, None)
    defaulted: tuple[Seat, ...] = ()
    turn: Turn | None = None
    roll: Roll | None = None
    playable: Seats[bool] = Seats(False, False)  # whether that roll gives each seat anything to play
    shown_at: int = 0  # the dice of the open phase are at rest, and thinking is charged from here (§7.1)
    plays: Seats[Made | None] = Seats(None, None)  # of the open phase
    presence: Seats[Presence] = Seats(Presence(), Presence())
    history: tuple[PhasePlayed, ...] = ()
    record: tuple[RecordLine, ...] = ()  # the finished phases
    parted: int | None = None  # the round in which the two games first differed
    offers: Seats[Turn | None] = Seats(None, None)  # standing draw offers, by when they were made
    pause_ordered: PauseOrdered | None = None
    pause: Paused | None = None
    last_play_at: int = 0
    ended: MatchEnded | None = None
    score: Score | None = None
    for_both: bool = False
    in_step: bool = False
    shared_seed: str | None = None  # in step: made from the seeds of all

    @property
    def rules(self) -> PlayRules:
        """How checkers move in this match's variant."""
        rules = VARIANTS[self.ruleset.variant].rules
        assert rules is not None  # new_match refuses a variant without
        return rules

    @property
    def is_phase_open(self) -> bool:
        """A roll is on the table and somebody has not played it."""
        has_to_play = self.plays.A is None or self.plays.B is None
        return has_to_play and self.turn is not None and self.score is None

    @property
    def waits_for(self) -> Turn | None:
        """In step: the turn that can open as soon as all others have played the phase before (§12.1)."""
        if not self.in_step or self.score is not None or self.shared_seed is None:
            return None
        if self.turn is None:
            return FIRST_TURN
        return None if self.is_phase_open or _after_phase(self) is not None else self.turn.next()

    @property
    def is_hashed(self) -> bool:
        """Both have committed, or zeros stand in place of a seed (§9.1)."""
        return all(self.hashes[seat] is not None or self.client_seeds[seat] is not None for seat in SEATS)

    @property
    def waits_for_hashes(self) -> bool:
        """In step: others have still to commit, and until then nobody shows his seed (§12.1)."""
        return self.in_step and self.hashed_at is None and self.shared_seed is None and self.score is None

    @property
    def has_seeds(self) -> bool:
        """Both seeds are in, or zeros in their place (§9.1)."""
        return None not in (self.client_seeds.A, self.client_seeds.B)

    @property
    def dice_seeds(self) -> Seats[str | None]:
        """The seeds in the text of the dice (§9.2); on shared dice A's is made from those of all (§12.1)."""
        return self.client_seeds.with_(Seat.A, self.shared_seed) if self.in_step else self.client_seeds

    @property
    def is_last_move(self) -> bool:
        """A White side is off, and this phase K is only Black's last move (§4.2, §8.2)."""
        return (
            self.turn is not None
            and self.turn.phase is Phase.K
            and any(self.games[game].mine[OFF] == CHECKERS for game in Game)
        )

    def owes(self, seat: Seat) -> bool:
        """Whether this seat has to play now."""
        return self.is_phase_open and self.plays[seat] is None

    def position_for(self, seat: Seat) -> Position:
        """The position in which this seat plays its half of the open phase, as it sees it."""
        assert self.turn is not None
        return _position_for(self.games, self.turn, seat)

    def can_move(self, seat: Seat) -> bool:
        """Whether the open roll gives this seat anything to play."""
        return self.playable[seat]

    @property
    def charged(self) -> Seats[int]:
        """All thinking charged so far (ms)."""
        return Seats(self.clocks.A.charged_ms, self.clocks.B.charged_ms)


_NAMES = tuple(field.name for field in fields(Match))
_PLACES = {name: place for place, name in enumerate(_NAMES)}
_values = attrgetter(*_NAMES)
_setters = tuple(getattr(Match, name).__set__ for name in _NAMES)


def _changed(match: Match, **changes: Any) -> Match:
    """As `dataclasses.replace`, in a fifth of the time: one play changes its match several times."""
    values = list(_values(match))
    for name, value in changes.items():
        values[_PLACES[name]] = value
    after = object.__new__(Match)
    for set_, value in zip(_setters, values, strict=True):
        set_(after, value)
    return after


def _position_for(games: Games[Position], turn: Turn, seat: Seat) -> Position:
    position = games[game_of(seat, turn.phase)]
    return position.turned() if turn.phase is Phase.K else position


def new_match(
    match_id: str,
    ruleset: Ruleset,
    server_seed: bytes,
    at: int,
    *,
    computers: Iterable[Seat] = (),
    dice_id: str | None = None,
    in_step: bool = False,
    for_both: bool = False,
) -> Match:
    """A match whose two seats are taken; the dice are still to be agreed on (§9.1).

    `server_seed` is 32 bytes. A computer's client seed is zeros, and it is always there. Raises BadRuleset for a
    variant that cannot be played here.
    """
    variant = VARIANTS[ruleset.variant]
    if variant.rules is None:
        raise BadRuleset("variant", f"{variant.key} cannot be played on this server yet")
    dice_id = match_id if dice_id is None else dice_id
    if len(server_seed) != 32 or not is_dice_id(dice_id):
        raise ValueError("a server seed is 32 bytes, a match id A-Z a-z 0-9 and -")
    games = Games(variant.opening(), variant.opening())
    by_computer = frozenset(computers)
    return Match(
        id=match_id,
        ruleset=ruleset,
        server_seed=server_seed,
        dice_id=dice_id,
        seeding_from=at,
        computers=by_computer,
        games=games,
        round_end=games,
        clocks=Seats(new_clock(ruleset.clock), new_clock(ruleset.clock)),
        client_seeds=Seats(*(NO_SEED if seat in by_computer else None for seat in SEATS)),
        presence=Seats(*(Presence(seat in by_computer, seat in by_computer) for seat in SEATS)),
        last_play_at=at,
        for_both=for_both,
        in_step=in_step,
    )


def ends_after(turn: Turn, games: Games[Position]) -> bool:
    """Black has the right of the last move (§4.2): a match ends only when phase K is played out (§4.3)."""
    return turn.phase is Phase.K and any(
        games[game].mine[OFF] == CHECKERS or games[game].theirs[OFF] == CHECKERS for game in Game
    )


# ------------------------------------------------------------------------------------------------------- decide


def decide(match: Match, command: Command) -> tuple[Event, ...]:
    """The events that accepting `command` causes. Raises RuleError, and then nothing happened."""
    return unfold(match, command)[0]


def unfold(match: Match, command: Command) -> tuple[tuple[Event, ...], Match]:
    """The events of `decide`, and the match after them: what `replay` of them gives.

    What is due by the command's time happens first, in order; so a play that comes after a flag finds the match over.
    """
    if match.score is not None:
        if isinstance(command, Tick | Leave | Return | GiveBack):
            return (), match
        raise MatchIsOver
    story = _Story(match)
    if isinstance(
        command, GiveBack
    ):  # before anything is due: what fell due meanwhile did so on nobody's time
        story.tell(TimeGivenBack(command.ms, command.at))
    story.catch_up(command.at)
    if story.match.score is None:
        story.tell(*_accept(story.match, command))
        story.catch_up(command.at)
    elif not isinstance(command, Tick | Leave | Return | GiveBack):
        raise MatchIsOver
    return tuple(story.events), story.match


class _Story:
    """Events that follow from one another, and the match as it stands after them."""

    def __init__(self, match: Match) -> None:
        self.match = match
        self.events: list[Event] = []

    def tell(self, *events: Event) -> None:
        for event in events:
            self.events.append(event)
            self.match = apply(self.match, event)

    def catch_up(self, now: int) -> None:
        while (due := _next_due(self.match)) is not None and due.at <= now:
            self.tell(due.event(now))


def _accept(match: Match, command: Command) -> tuple[Event, ...]:
    if (
        isinstance(command, OrderPause | Resume | AddTime | VoidMatch | SetResult)
        and not command.reason.strip()
    ):
        raise BadDecision("no-reason", "An arbiter gives a reason.")
    match command:
        case CommitSeed():
            return _commit_seed(match, command)
        case RevealSeed():
            return _reveal_seed(match, command)
        case CloseHashes(at):
            return _close_hashes(match, at)
        case CombineSeeds(seed, at):
            return _combine_seeds(match, seed, at)
        case OpenPhase(turn, at):
            return _open_in_step(match, turn, at)
        case MakePlay():
            return (_make_play(match, command),)
        case Resign():
            return (_resign(match, command),)
        case OfferDraw():
            return (_offer_draw(match, command),)
        case AcceptDraw():
            return (_accept_draw(match, command),)
        case Leave(seat, at):
            return (Left(seat, at),) if match.presence[seat].connected else ()
        case Return(seat, at):
            return () if match.presence[seat].connected else (Returned(seat, at),)
        case Tick() | GiveBack():
            return ()
        case OrderPause() if match.in_step:
            raise BadDecision("in-step", "Matches in step are paused all together, with their round.")
        case OrderPause(by, reason, at):
            if match.pause or match.pause_ordered:
                raise BadDecision("pause-stands", "The match is paused, or will be at the end of the phase.")
            return (PauseOrdered(by, reason, at),)
        case Resume(by, reason, at):
            if not match.pause and not match.pause_ordered:
                raise BadDecision("no-pause", "The match is not paused.")
            return (Resumed(by, reason, at),)
        case AddTime(by, seat, ms, reason, at):
            if ms <= 0 or match.ruleset.clock.type in ("none", "per_move"):
                raise BadDecision("no-bank", "Time can only be added, and only to a bank.")
            return (TimeAdded(seat, ms, by, reason, at),)
        case VoidMatch(by, reason, at):
            return (MatchEnded(Outcome.VOID, None, at, arbiter=by, reason=reason),)
        case SetResult(by, net_for_A, reason, at):
            return (MatchEnded(Outcome.ADJUDICATED, None, at, net_for_A, by, reason),)


def _commit_seed(match: Match, command: CommitSeed) -> tuple[Event, ...]:
    if match.turn is not None or match.client_seeds[command.seat] is not None:
        raise BadSeed("late", "The dice have been agreed on already.")
    if match.hashes[command.seat] is not None:
        raise BadSeed("repeated", "You have committed to a seed already.")
    if (
        len(command.hash) != 64
        or not is_client_seed(command.hash[:32])
        or not is_client_seed(command.hash[32:])
    ):
        raise BadSeed("malformed", "A seed's hash is 64 lower-case hex digits.")
    return (SeedHashed(command.seat, command.hash, command.at),)


def _reveal_seed(match: Match, command: RevealSeed) -> tuple[Event, ...]:
    if match.turn is not None or match.client_seeds[command.seat] is not None:
        raise BadSeed("late", "The dice have been agreed on already.")
    if match.hashed_at is None:
        raise BadSeed("early", "A seed is revealed when all hashes are in.")
    if not is_client_seed(command.seed):
        raise BadSeed("malformed", "A seed is 32 lower-case hex digits.")
    if client_hash(command.seed) != match.hashes[command.seat]:
        raise BadSeed("mismatch", "This is not the seed that you committed to.")
    return (SeedRevealed(command.seat, command.seed, command.at),)


def _close_hashes(match: Match, at: int) -> tuple[Event, ...]:
    if match.in_step and not match.waits_for_hashes:
        return ()
    if not match.in_step or not match.is_hashed:
        raise BadSeed("early", "Hashes are closed when all are in.")
    return (HashesClosed(at),)


def _combine_seeds(match: Match, seed: str, at: int) -> tuple[Event, ...]:
    if match.shared_seed is not None:
        return ()
    if not match.in_step or not match.has_seeds:
        raise BadSeed("early", "Seeds are combined when all are in.")
    if not is_client_seed(seed):
        raise BadSeed("malformed", "A seed is 32 lower-case hex digits.")
    return (SeedsCombined(seed, at),)


def _open_in_step(match: Match, turn: Turn, at: int) -> tuple[Event, ...]:
    if match.turn is not None and turn <= match.turn:
        return ()
    if match.waits_for != turn:
        raise NotStarted if match.turn is None else StaleTurn(str(turn), str(match.turn))
    return (_open(match, turn, at),)


def _require_turn(match: Match, turn: Turn) -> None:
    if match.pause is not None:
        raise MatchIsPaused(match.pause.until)
    if match.turn is None:
        raise NotStarted
    if match.turn != turn:
        raise StaleTurn(str(turn), str(match.turn))


def _make_play(match: Match, command: MakePlay) -> PlayMade:
    _require_turn(match, command.turn)
    assert match.roll is not None
    seat = command.seat
    if match.plays[seat] is not None:
        raise AlreadyPlayed(str(command.turn))
    thought = max(0, command.at - match.shown_at)
    allowed = match.clocks[seat].lag_allowed(thought, command.round_trip_ms)
    zero = zero_shown_at(match, seat)
    if zero is not None and command.at - allowed >= zero:
        raise TimeIsUp
    position, rules = match.position_for(seat), match.rules
    # Displays play along the step graph that they were given, so it is at hand.
    play = rules.step_graph(position, match.roll).play(command.hops)
    play = play or rules.find_play(position, match.roll, command.hops)
    kind = "play" if play.moves else "pass"
    if kind == "pass":  # an empty play of one's own is what the server would do anyway: free (§4.5)
        thought = allowed = 0
    return PlayMade(seat, command.turn, kind, play.moves, thought, allowed, command.at)


def resign_price(match: Match, seat: Seat) -> Concession | None:
    """What giving up costs this seat now; None where it costs nothing: the match is aborted (§8.4), or only the
    last move is passed (§8.2). Raises CannotResign while no play is owed (§8.1).
    """
    if not match.owes(seat):
        raise CannotResign
    if _is_only_begun(match) or match.is_last_move:
        return None
    return concession(match.ruleset, match.round_end, match.games, seat)


def _is_only_begun(match: Match) -> bool:
    """Both have not played a first phase: who goes now aborts the match, unless it is one in step (§8.4, §12.1)."""
    return match.turn == FIRST_TURN and not match.in_step


def _resign(match: Match, command: Resign) -> Event:
    _require_turn(match, command.turn)
    price = resign_price(match, command.seat)
    points = price.points if price else 0
    if command.points != points:
        raise PriceChanged(command.points, points)
    return _gives_up(match, command.seat, Outcome.RESIGNED, command.at)


def _gives_up(match: Match, seat: Seat, outcome: Outcome, at: int) -> Event:
    """Resignation, flag and abandonment alike (§8.1, §8.2, §8.4)."""
    assert match.turn is not None
    if match.is_last_move:
        thought = max(0, at - match.shown_at)
        return PlayMade(seat, match.turn, "missed", (), thought, 0, at)
    if _is_only_begun(match):
        return MatchEnded(Outcome.ABORTED, seat, at)
    return MatchEnded(outcome, seat, at)


def _offer_draw(match: Match, command: OfferDraw) -> DrawOffered:
    _require_turn(match, command.turn)
    if match.ruleset.draw_offers == "off":
        raise NoDrawOffer("off", "There are no draw offers under this ruleset.")
    if match.offers[command.seat] is not None:
        raise NoDrawOffer("standing", "Your offer stands already.")
    return DrawOffered(command.seat, command.turn, command.at)


def draw_offered_to(match: Match, seat: Seat) -> bool:
    """Whether an offer has been delivered to this seat: the phase in which it was made is closed (§8.5)."""
    made = match.offers[seat.other]
    return made is not None and match.turn is not None and made < match.turn


def _accept_draw(match: Match, command: AcceptDraw) -> MatchEnded:
    _require_turn(match, command.turn)
    if not draw_offered_to(match, command.seat):
        raise NoDrawOffer("none", "There is no draw offer to accept.")
    return MatchEnded(Outcome.AGREED, None, command.at)


def awaited_computers(match: Match) -> tuple[Seat, ...]:
    """The seats of computers that have something to play now: a server passes for them as for anybody (§4.5)."""
    return tuple(
        seat for seat in SEATS if seat in match.computers and match.owes(seat) and match.can_move(seat)
    )


# ---------------------------------------------------------------------------------------------------- deadlines


@dataclass(frozen=True, slots=True)
class _Due:
    """What happens by itself at a time (ms) unless something else happens first."""

    at: int
    event: Callable[[int], Event]  # given the time at which it is done


def next_deadline(match: Match) -> int | None:
    """When a Tick will have something to do (ms), if nothing happens before."""
    due = _next_due(match)
    return due.at if due else None


def _next_due(match: Match) -> _Due | None:
    if match.score is not None:
        return None
    if match.turn is None:
        return _seeds_due(match)
    if match.pause is not None:
        until = match.pause.until
        return _Due(until, lambda now: Resumed(None, None, until))
    if not match.is_phase_open:
        return _phase_due(match)
    return _play_due(match)


def _seeds_due(match: Match) -> _Due | None:
    missing = [seat for seat in SEATS if match.client_seeds[seat] is None]
    if not missing and match.in_step:
        return None  # until all others have theirs
    if not missing:
        return _Due(0, lambda now: _open(match, FIRST_TURN, now))
    if match.for_both and not _have_come(match):
        return None
    if match.hashed_at is None:
        if match.waits_for_hashes and match.is_hashed:
            return None
        late = next((seat for seat in missing if match.hashes[seat] is None), missing[0])
        return _Due(match.seeding_from + SEED_PATIENCE_MS, lambda now: SeedDefaulted(late, now))
    return _Due(match.hashed_at + SEED_PATIENCE_MS, lambda now: SeedDefaulted(missing[0], now))


def _phase_due(match: Match) -> _Due | None:
    """What follows a phase that both have played: an end, a pause, the next one, or in step a wait for the others."""
    after, turn = _after_phase(match), match.turn
    assert turn is not None
    if after is not None:
        return _Due(0, after)
    return None if match.in_step else _Due(0, lambda now: _open(match, turn.next(), now))


def _have_come(match: Match) -> bool:
    return match.presence.A.came and match.presence.B.came


def _after_phase(match: Match) -> Callable[[int], Event] | None:
    """Why no other phase follows the one that is played; given the time at which it is done."""
    assert match.turn is not None
    if ends_after(match.turn, match.games):
        return lambda now: MatchEnded(Outcome.FINISHED, None, now)
    if match.offers.A is not None and match.offers.B is not None:
        return lambda now: MatchEnded(Outcome.AGREED, None, now)  # two offers that crossed
    if match.pause_ordered is not None:
        return lambda now: Paused(now + 1000 * match.ruleset.pause_max_s, now)
    return None


def _open(match: Match, turn: Turn, now: int) -> PhaseOpened:
    a, b = match.dice_seeds.A, match.dice_seeds.B
    assert a is not None
    assert b is not None
    seeds = DiceSeeds(match.server_seed, match.dice_id, Seats(a, b))
    return PhaseOpened(turn, roll_for(seeds, turn, opening_double=match.ruleset.opening_double_allowed), now)


def _play_due(match: Match) -> _Due | None:
    """A pass that the server makes, or the flag or absence that ends the match (§4.5, §7.2, §8.3)."""
    assert match.turn is not None
    passes_at = match.shown_at + match.ruleset.auto_pass_ms
    turn, ends = match.turn, []
    for seat in SEATS:
        if match.plays[seat] is not None:
            continue
        if not match.playable[seat]:
            return _Due(passes_at, lambda now, seat=seat: PlayMade(seat, turn, "pass", (), 0, 0, now))  # type: ignore[misc]
        end = _end_of_time(match, seat)
        if end is not None:
            ends.append((*end, seat))
    if match.ruleset.clock.type == "none":
        return _Due(match.last_play_at + IDLE_VOID_MS, lambda now: MatchEnded(Outcome.VOID, None, now))
    if not ends:
        return None
    first = min(moment for moment, *_ in ends)
    falling = [end for end in ends if end[0] == first]
    done_at = max(processed for _, processed, *_ in falling)
    _, _, outcome, seat = falling[0]
    if len(falling) == 2 and not match.is_last_move:  # both in one millisecond (§8.6)
        if _is_only_begun(match):
            outcome = Outcome.ABORTED  # by nobody alone
        elif outcome is not falling[1][2]:
            outcome = Outcome.TIME  # one by the clock is enough; the seats do not matter
        return _Due(done_at, lambda now: MatchEnded(outcome, None, first))
    return _Due(done_at, lambda now: _gives_up(match, seat, outcome, first))


def bank_empty_at(match: Match, seat: Seat) -> int | None:
    """When thinking on would have used up this seat's time (ms); None without a clock."""
    needed = zero_after(match.ruleset.clock, match.clocks[seat])
    return None if needed is None else match.shown_at + needed


def zero_shown_at(match: Match, seat: Seat) -> int | None:
    """When this seat's clock shows zero (ms), the grace of an absence included (§7.2, §8.3); None without a clock.

    The flag waits a little longer, for a play that may be on its way.
    """
    zero = bank_empty_at(match, seat)
    if zero is None:
        return None
    presence = match.presence[seat]
    if presence.grace_until is not None:
        return max(zero, presence.grace_until)
    if presence.away_since is not None and not presence.grace_used and presence.away_since < zero:
        return max(zero, presence.away_since + 1000 * match.ruleset.grace_s)
    return zero


def absence_ends_at(match: Match, seat: Seat) -> int | None:
    """When the patience with a player who owes a play and is away ends (§8.3); None while he is there.

    Without a clock nobody is waited for by the second: such a match is void after a day (§8.6).
    """
    presence = match.presence[seat]
    if presence.away_since is None or match.ruleset.clock.type == "none":
        return None
    return presence.away_since + max(0, 1000 * match.ruleset.absence_s - presence.away_ms)


def patience_ends_at(match: Match, seat: Seat) -> int | None:
    """When the match ends if an absent player stays away: by his absence, or by his flag if that falls first (§8.3)."""
    gone, zero = absence_ends_at(match, seat), zero_shown_at(match, seat)
    return gone if gone is None or zero is None else min(gone, zero)


def _end_of_time(match: Match, seat: Seat) -> tuple[int, int, Outcome] | None:
    """The moment at which this seat's time is over, when that is acted on, and what it counts as."""
    zero, gone = zero_shown_at(match, seat), absence_ends_at(match, seat)
    if gone is not None and (zero is None or gone < zero):
        return gone, gone, Outcome.ABANDONED
    if zero is None:
        return None
    return zero, zero + match.clocks[seat].longest_lag(), Outcome.TIME


# -------------------------------------------------------------------------------------------------------- apply


def replay(start: Match, events: Iterable[Event]) -> Match:
    """The match after these events."""
    return reduce(apply, events, start)


def apply(match: Match, event: Event) -> Match:
    """The match after an event that has happened. Refuses nothing; reads no clock, no dice."""
    match event:
        case SeedHashed(seat, hash_, at):
            hashes = match.hashes.with_(seat, hash_)
            return _hashes_in(_changed(match, hashes=hashes), at)
        case SeedRevealed(seat, seed, at):
            return _changed(match, client_seeds=match.client_seeds.with_(seat, seed))
        case SeedDefaulted(seat, at):
            seeds = match.client_seeds.with_(seat, NO_SEED)
            return _hashes_in(_changed(match, client_seeds=seeds, defaulted=(*match.defaulted, seat)), at)
        case HashesClosed(at):
            return _changed(match, hashed_at=at)
        case SeedsCombined(seed, _):
            return _changed(match, shared_seed=seed)
        case PhaseOpened():
            return _opened(match, event)
        case PlayMade():
            return _played(match, event)
        case Left(seat, at):
            gone = replace(match.presence[seat], connected=False)
            if match.owes(seat):
                gone = replace(gone, away_since=max(at, match.shown_at))
            return _changed(match, presence=match.presence.with_(seat, gone))
        case Returned(seat, at):
            back = replace(_waited_for(match, seat, at), connected=True, came=True)
            after = _changed(match, presence=match.presence.with_(seat, back))
            if match.for_both and match.turn is None and not _have_come(match) and _have_come(after):
                return _changed(after, seeding_from=at, hashed_at=None if match.hashed_at is None else at)
            return after
        case DrawOffered(seat, turn, _):
            return _changed(match, offers=match.offers.with_(seat, turn))
        case PauseOrdered():
            return _changed(match, pause_ordered=event)
        case Paused():
            return _changed(match, pause=event)
        case Resumed():
            return _changed(match, pause=None, pause_ordered=None)
        case TimeAdded(seat, ms):
            return _changed(match, clocks=match.clocks.with_(seat, match.clocks[seat].with_more(ms)))
        case TimeGivenBack(ms):
            return _given_back(match, ms)
        case MatchEnded():
            return _changed(match, ended=event, score=_score(match, event))


def _hashes_in(match: Match, at: int) -> Match:
    """Notes when the last hash came in that had to: from there the seeds are waited for (§9.1)."""
    if match.hashed_at is None and match.is_hashed and not match.in_step:
        return _changed(match, hashed_at=at)
    return match


def _opened(match: Match, event: PhaseOpened) -> Match:
    shown_at = event.at + match.ruleset.reveal_ms
    a, b = (_position_for(match.games, event.turn, seat) for seat in SEATS)
    return _changed(
        match,
        turn=event.turn,
        roll=event.roll,
        plays=Seats(None, None),
        playable=Seats(match.rules.has_play(a, event.roll), match.rules.has_play(b, event.roll)),
        shown_at=shown_at,
        presence=Seats(
            *(
                presence if presence.connected else replace(presence, away_since=shown_at)
                for presence in (match.presence.A, match.presence.B)
            )
        ),
    )


def _played(match: Match, event: PlayMade) -> Match:
    seat, clock = event.seat, match.clocks[event.seat]
    if event.kind != "pass":
        clock = clock.after_thinking(match.ruleset.clock, event.thought_ms, event.allowed_ms)
    made = Made.of(event.kind, event.moves, event.thought_ms - event.allowed_ms)
    presence = match.presence[seat]
    if presence.away_since is not None or presence.grace_until is not None:
        if event.kind != "pass":  # else nothing was owed, so nobody was waited for
            presence = _waited_for(match, seat, event.at)
        presence = replace(presence, away_since=None, grace_until=None)
    offers = match.offers
    if event.kind != "pass" and draw_offered_to(match, seat):
        offers = offers.with_(seat.other, None)  # lapses at the receiver's next play (§8.5)
    plays = match.plays.with_(seat, made)
    return _changed(
        match,
        plays=plays,
        clocks=match.clocks.with_(seat, clock),
        presence=match.presence.with_(seat, presence),
        offers=offers,
        last_play_at=event.at,
        **_closed(match, plays.A, plays.B),
    )


def _closed(match: Match, a: Made | None, b: Made | None) -> dict[str, Any]:
    """What changes when both have played: the two games as they stand now (§4.1). Nothing before."""
    turn, roll, games = match.turn, match.roll, match.games
    if a is None or b is None:
        return {}
    assert turn is not None
    assert roll is not None
    for seat, made in ((Seat.A, a), (Seat.B, b)):
        after = match.rules.after(match.position_for(seat), made.moves)
        games = games.with_(game_of(seat, turn.phase), after.turned() if turn.phase is Phase.K else after)
    return {
        "games": games,
        "round_end": games if turn.phase is Phase.K else match.round_end,
        "history": (*match.history, PhasePlayed(turn, roll, Seats(a, b), games)),
        "record": (*match.record, record_line(turn, roll, Seats(a, b))),
        "parted": turn.round if match.parted is None and games.X != games.Y else match.parted,
    }


def _waited_for(match: Match, seat: Seat, at: int) -> Presence:
    """An absence that has come to its end, added to the earlier ones (§8.3)."""
    presence = match.presence[seat]
    away_since = presence.away_since
    if away_since is None:
        return presence
    over = replace(presence, away_since=None, away_ms=presence.away_ms + max(0, at - away_since))
    needed = zero_after(match.ruleset.clock, match.clocks[seat])
    if needed is None or presence.grace_used or not away_since < match.shown_at + needed <= at:
        return over
    # The bank ran out during this absence: the one grace of the match goes on until its end.
    return replace(over, grace_used=True, grace_until=away_since + 1000 * match.ruleset.grace_s)


def _given_back(match: Match, ms: int) -> Match:
    """Every running time begins that much later (§8.5)."""

    def later(presence: Presence) -> Presence:
        return replace(
            presence,
            away_since=None if presence.away_since is None else presence.away_since + ms,
            grace_until=None if presence.grace_until is None else presence.grace_until + ms,
        )

    return _changed(
        match,
        seeding_from=match.seeding_from + ms,
        hashed_at=None if match.hashed_at is None else match.hashed_at + ms,
        shown_at=match.shown_at + ms,
        last_play_at=match.last_play_at + ms,
        presence=Seats(later(match.presence.A), later(match.presence.B)),
        pause=match.pause and replace(match.pause, until=match.pause.until + ms),
    )


def _score(match: Match, event: MatchEnded) -> Score:
    rules = match.ruleset if not match.computers else replace(match.ruleset, rated=False)
    games, charged = match.games, match.charged
    match event.outcome:
        case Outcome.FINISHED:
            return settle(rules, games, charged, assess_time=not match.computers)
        case Outcome.RESIGNED | Outcome.TIME | Outcome.ABANDONED if event.by is not None:
            price = concession(rules, match.round_end, games, event.by)
            return settle_concession(rules, games, price, event.by, event.outcome, charged)
        case Outcome.AGREED:
            return settle_agreed(rules, games, match.round_end, charged)
        case Outcome.ADJUDICATED if event.net_for_A is not None:
            return settle_adjudicated(rules, games, event.net_for_A, charged)
        case _:
            return replace(settle_for_nothing(games, event.outcome, charged), by=event.by)


def match_commitment(match: Match) -> str:
    """C of §9.1."""
    return commitment(match.server_seed)

"""What one display may know (§5): built up from what may be seen, never cut down from what there is.

Until a player has played this phase, nothing of what the opponent did in it is here: both boards are as of the last
finished phase, and of the opponent there is only whether he thinks, has played or passed, and whether he is there.
Field names are those on the wire (docs/PROTOCOL.md). Times are fixed server milliseconds, so a view changes only
when something has happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from engine.clock import free_ms
from engine.match import (
    Made,
    Match,
    PhasePlayed,
    RecordLine,
    bank_empty_at,
    draw_offered_to,
    match_commitment,
    patience_ends_at,
    record_line,
    resign_price,
    zero_shown_at,
)
from engine.plays import Edge, Hop, Move
from engine.position import Position, Side
from engine.scoring import GameScore, Score
from engine.turn import SEATS, Color, Game, Games, Seat, Seats, game_of

Drafts = Seats[tuple[Hop, ...]]  # half-made plays: paths in the step graphs
NO_DRAFTS: Drafts = Seats((), ())
WireMove = tuple[int, int, int, int]  # from, to, die, hit


class Board(TypedDict):
    """One game's checkers, each side counted from its own home."""

    white: Side
    black: Side


@dataclass(frozen=True, slots=True)
class SeatView:
    """What everybody may know of a player during a phase (§5.1)."""

    state: str  # thinking, played, passed, idle
    connected: bool
    away_until: int | None
    bank_ms: int | None
    free_until: int | None
    flag_at: int | None
    charged_ms: int


@dataclass(frozen=True, slots=True)
class Played:
    """A play that was made: `--` for a pass, `==` for one never made."""

    seat: str
    color: str
    turn: str
    play: str
    moves: tuple[WireMove, ...]


class Price(TypedDict):
    """What resigning now would cost; no game when it only aborts the match or passes the last move (§8)."""

    game: str | None
    points: int


@dataclass(frozen=True, slots=True)
class Mine:
    """The half of the open phase that is this display's own."""

    game: str
    color: str
    steps: tuple[tuple[Edge, ...], ...] | None
    draft: tuple[WireMove, ...]
    played: Played | None
    resign: Price | None


@dataclass(frozen=True, slots=True)
class Theirs:
    """The opponent's half, for one who has played his own (§5.2)."""

    game: str
    color: str
    draft: tuple[WireMove, ...]
    played: Played | None


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause that an arbiter has ordered, and its automatic end (§8.5)."""

    since: int
    until: int
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class DiceView:
    """What may be known of the dice; the server's seed only once the match is over (§9.3–9.4).

    On shared dice A's of `seeds` is made from the seeds of all, and `own` is what he showed himself (§12.1).
    """

    commitment: str
    hashes: Seats[str | None]
    seeds: Seats[str | None]
    defaulted: tuple[str, ...]
    seed: str | None
    own: str | None


GameResult = TypedDict(
    "GameResult",
    {
        "outcome": str,
        "class": str | None,
        "winner": str | None,
        "points_for_A": int,
        "white": Side,
        "black": Side,
        "white_pips": int,
        "black_pips": int,
    },
)


@dataclass(frozen=True, slots=True)
class Result:
    """The settled match, with every number from which its points come (§6–8)."""

    outcome: str
    by: str | None
    games: Games[GameResult]
    credit_for_A: int
    net_for_A: int
    winner: str | None
    time_ms: Seats[int]
    time_adjustment: int
    points: Seats[int]
    rated: bool
    arbiter: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class View:
    """All that one display may know of a match."""

    match: str
    seat: str | None
    stage: str  # seeding, playing, paused, over
    turn: str | None
    roll: tuple[int, int] | None
    shown_at: int | None
    boards: Games[Board]
    seats: Seats[SeatView]
    mine: Mine | None
    theirs: Theirs | None
    last: Games[Played | None]
    record: tuple[RecordLine, ...]
    parted: int | None
    draw_offer: str | None
    waits: bool  # in step: this match has played its phase, the others of the round have not yet (§12.1)
    pause: Pause | None
    dice: DiceView
    result: Result | None


@dataclass(frozen=True, slots=True)
class PhaseView:
    """A finished phase for the replay: both plays, and the boards after them."""

    turn: str
    roll: tuple[int, int]
    boards: Games[Board]
    plays: Seats[Played]
    ms: Seats[int]


def view_for(
    match: Match, seat: Seat | None, drafts: Drafts = NO_DRAFTS, *, round_closed: bool = False
) -> View:
    """All that this seat's display may know (§5); None is a spectator.

    The dice of a match in step are revealed when its `round_closed` only (§9.3).
    """
    over = match.score is not None
    playing = seat is not None and match.is_phase_open
    return View(
        match=match.id,
        seat=None if seat is None else seat.value,
        stage="over" if over else "paused" if match.pause else "playing" if match.turn else "seeding",
        turn=str(match.turn) if match.turn else None,
        roll=(match.roll.first, match.roll.second) if match.roll else None,
        shown_at=match.shown_at if match.turn else None,
        boards=boards_of(match.games),
        seats=Seats(_seat_view(match, Seat.A), _seat_view(match, Seat.B)),
        mine=_mine(match, seat, drafts) if playing and seat else None,
        theirs=_theirs(match, seat, drafts) if playing and seat else None,
        last=_last(match),
        record=_record(match),
        parted=match.parted,
        draw_offer=_draw_offer(match, seat) if seat and not over else None,
        waits=_waits(match),
        pause=_pause(match),
        dice=_dice(match, round_closed=round_closed),
        result=_result(match, match.score) if match.score else None,
    )


def phases_of(match: Match) -> tuple[PhaseView, ...]:
    """The finished phases, oldest first; public at any time (§5.1)."""
    return tuple(
        PhaseView(
            turn=str(phase.turn),
            roll=(phase.roll.first, phase.roll.second),
            boards=boards_of(phase.games),
            plays=Seats(_played_by(phase, Seat.A), _played_by(phase, Seat.B)),
            ms=Seats(phase.plays.A.charged_ms, phase.plays.B.charged_ms),
        )
        for phase in match.history
    )


def boards_of(games: Games[Position]) -> Games[Board]:
    """Both boards as they go over the wire."""
    return Games(
        Board(white=games.X.mine, black=games.X.theirs),
        Board(white=games.Y.mine, black=games.Y.theirs),
    )


def _seat_view(match: Match, seat: Seat) -> SeatView:
    rules, clock, made = match.ruleset.clock, match.clocks[seat], match.plays[seat]
    runs = match.owes(seat) and match.can_move(seat)
    if not match.is_phase_open:
        state = "idle"
    elif made is None:
        state = "thinking"
    else:
        state = "passed" if made.kind != "play" else "played"
    away = match.presence[seat].away_since is not None
    # Of an absent player the bank's own end is shown, and beside it when the others will have waited long enough.
    flag_at = (bank_empty_at(match, seat) if away else zero_shown_at(match, seat)) if runs else None
    return SeatView(
        state=state,
        connected=match.presence[seat].connected,
        away_until=patience_ends_at(match, seat) if runs else None,
        bank_ms=None if rules.type == "none" else clock.bank_ms,
        free_until=match.shown_at + free_ms(rules) if flag_at is not None and free_ms(rules) else None,
        flag_at=flag_at,
        charged_ms=clock.charged_ms,
    )


def _mine(match: Match, seat: Seat, drafts: Drafts) -> Mine:
    assert match.turn is not None
    assert match.roll is not None
    game = game_of(seat, match.turn.phase)
    made = match.plays[seat]
    owes = made is None
    return Mine(
        game=game.value,
        color=match.turn.phase.color.value,
        steps=match.rules.step_graph(match.position_for(seat), match.roll).nodes if owes else None,
        draft=_draft(match, seat, drafts) if owes else (),
        played=None if made is None else _played(made, seat, match.turn.phase.color, str(match.turn)),
        resign=_price(match, seat) if owes else None,
    )


def _theirs(match: Match, seat: Seat, drafts: Drafts) -> Theirs | None:
    assert match.turn is not None
    if match.owes(seat) or match.ruleset.peek != "live":
        return None
    other = seat.other
    made = match.plays[other]
    return Theirs(
        game=game_of(other, match.turn.phase).value,
        color=match.turn.phase.color.value,
        draft=_draft(match, other, drafts) if made is None else (),
        played=None if made is None else _played(made, other, match.turn.phase.color, str(match.turn)),
    )


def _draft(match: Match, seat: Seat, drafts: Drafts) -> tuple[WireMove, ...]:
    assert match.roll is not None
    graph = match.rules.step_graph(match.position_for(seat), match.roll)
    return _wire_moves(graph.follow(drafts[seat]) or ())


def _wire_moves(moves: tuple[Move, ...]) -> tuple[WireMove, ...]:
    return tuple((move.start, move.end, move.die, int(move.hit)) for move in moves)


def _played(made: Made, seat: Seat, color: Color, turn: str) -> Played:
    return Played(seat.value, color.value, turn, made.text, _wire_moves(made.moves))


def _played_by(phase: PhasePlayed, seat: Seat) -> Played:
    return _played(phase.plays[seat], seat, phase.turn.phase.color, str(phase.turn))


def _price(match: Match, seat: Seat) -> Price:
    price = resign_price(match, seat)
    return Price(game=price.game.value, points=price.points) if price else Price(game=None, points=0)


def _last(match: Match) -> Games[Played | None]:
    if not match.history:
        return Games(None, None)
    newest = match.history[-1]
    on = {game_of(seat, newest.turn.phase): _played_by(newest, seat) for seat in SEATS}
    return Games(on[Game.X], on[Game.Y])


def _record(match: Match) -> tuple[RecordLine, ...]:
    if (
        match.score is None
        or match.turn is None
        or match.roll is None
        or None not in (match.plays.A, match.plays.B)
    ):
        return match.record
    never = Made.of("missed", (), 0)  # the phase that was open when the match ended: it counts for nobody
    plays = Seats(match.plays.A or never, match.plays.B or never)
    return (*match.record, record_line(match.turn, match.roll, plays))


def _draw_offer(match: Match, seat: Seat) -> str | None:
    if draw_offered_to(match, seat):
        return "theirs"
    return "mine" if match.offers[seat] is not None else None


def _pause(match: Match) -> Pause | None:
    if match.pause is None or match.pause_ordered is None:
        return None
    return Pause(match.pause.at, match.pause.until, match.pause_ordered.by, match.pause_ordered.reason)


def _waits(match: Match) -> bool:
    """On shared dice: everything is done that can be before the others have done it too (§12.1)."""
    if match.turn is not None:
        return match.waits_for is not None
    return match.in_step and (match.has_seeds or (match.waits_for_hashes and match.is_hashed))


def _dice(match: Match, *, round_closed: bool) -> DiceView:
    revealed = match.score is not None and (round_closed or not match.in_step)
    # Both seeds are secret until both are known, or the later one could be chosen by the earlier.
    agreed = match.turn is not None or match.score is not None
    return DiceView(
        commitment=match_commitment(match),
        hashes=match.hashes,
        seeds=match.dice_seeds if agreed else Seats(None, None),
        # A browser shows its seed when each seat has a hash, or zeros: the computer's stand once all have committed.
        defaulted=tuple(
            seat.value
            for seat in SEATS
            if seat in match.defaulted or (seat in match.computers and not match.waits_for_hashes)
        ),
        seed=match.server_seed.hex() if revealed else None,
        own=match.client_seeds.A if agreed and match.in_step else None,
    )


def _result(match: Match, score: Score) -> Result:
    assert match.ended is not None
    return Result(
        outcome=score.outcome.value,
        by=score.by and score.by.value,
        games=Games(_game_result(score.games.X), _game_result(score.games.Y)),
        credit_for_A=score.credit_for_A,
        net_for_A=score.net_for_A,
        winner=score.winner and score.winner.value,
        time_ms=score.time_ms,
        time_adjustment=score.time_adjustment,
        points=score.points,
        rated=score.rated,
        arbiter=match.ended.arbiter,
        reason=match.ended.reason,
    )


def _game_result(game: GameScore) -> GameResult:
    position = game.position
    return {
        "outcome": game.outcome,
        "class": game.loss_class,
        "winner": game.winner and game.winner.value,
        "points_for_A": game.points_for_A,
        "white": position.mine,
        "black": position.theirs,
        "white_pips": position.pips(),
        "black_pips": position.turned().pips(),
    }

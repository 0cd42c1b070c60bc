"""Positions, rolls, matches, as the tests write them down. Times are milliseconds; a match is made at `MADE_AT`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.dice import Roll, client_hash
from engine.match import (
    Command,
    CommitSeed,
    Event,
    Leave,
    MakePlay,
    Match,
    PhaseOpened,
    Return,
    RevealSeed,
    Tick,
    apply,
    decide,
    new_match,
    replay,
)
from engine.plays import Hop, Play
from engine.position import BAR, OFF, Position, side
from engine.ruleset import DEFAULT, Ruleset
from engine.turn import Games, Phase, Seat, Seats, Turn

DATA = Path(__file__).parent / "data"

A, B = Seat.A, Seat.B
MADE_AT = 1_000_000
SERVER_SEED = bytes(range(32))
CLIENT_SEEDS = Seats("00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100")
# With these seeds the match `m-0001` rolls 6-4 · 5-2 · 5-5 · 3-3 · 2-4 · 6-4 (dice_vectors.json).


# ------------------------------------------------------------------------------------------- positions and plays


def pos(text: str) -> Position:
    """`bar:1 6:2 | 24:2`: mine and theirs, each in its own numbering; what is missing to fifteen is off."""
    return Position.parse(text)


def a_roll(text: str) -> Roll:
    """`6-5`."""
    first, second = text.split("-")
    return Roll(int(first), int(second))


def hops(text: str) -> tuple[Hop, ...]:
    """`bar/21 13/8(2) 6/5*` as a player writes it; `--` and an empty text are no move at all."""
    found: list[Hop] = []
    for item in text.replace("--", "").split():
        match = re.fullmatch(r"(bar|[0-9]+)/(off|[0-9]+)\*?(?:\(([2-4])\))?", item)
        assert match, item
        start = BAR if match[1] == "bar" else int(match[1])
        end = OFF if match[2] == "off" else int(match[2])
        found += [Hop(start, end)] * int(match[3] or 1)
    return tuple(found)


def hops_of(play: Play) -> tuple[Hop, ...]:
    """The moves of a play, as a player writes them."""
    return tuple(Hop(move.start, move.end) for move in play.moves)


# -------------------------------------------------------------------------------------------------------- matches


def rules(**changes: Any) -> Ruleset:
    """The default ruleset with some keys changed; `time="off"` is short for the group with that mode or type."""
    short = {"time": "mode", "unfinished": "mode", "clock": "type"}
    whole = {
        key: {short[key]: value} if key in short and isinstance(value, str) else value
        for key, value in changes.items()
    }
    return DEFAULT.changed(whole)


def data(name: str) -> Any:
    """A file of worked cases."""
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def position_of(game: Mapping[str, Any]) -> Position:
    """A game of match_cases.json, as White sees it."""
    return Position(*(_side_of(game[color]) for color in ("white", "black")))


def _side_of(counts: Mapping[str, Any]) -> tuple[int, ...]:
    found = side({int(point): n for point, n in counts["p"].items()}, bar=counts["bar"])
    assert found[OFF] == counts["off"]
    return found


class Table:
    """A match that is being played: carries commands out as the server does, and keeps all that happened."""

    def __init__(self, match: Match) -> None:
        self.start = self.match = match
        self.events: list[Event] = []

    def do(self, *commands: Command) -> list[Event]:
        """Carries these out, one after the other; the events of them all."""
        happened: list[Event] = []
        for command in commands:
            events = decide(self.match, command)
            self.match = replay(self.match, events)
            happened += events
        self.events += happened
        return happened

    @property
    def turn(self) -> Turn:
        assert self.match.turn is not None
        return self.match.turn

    @property
    def roll(self) -> Roll:
        assert self.match.roll is not None
        return self.match.roll

    def at(self, after_shown: int) -> int:
        """The moment so long after the dice of the open phase came to rest."""
        return self.match.shown_at + after_shown

    def wait(self, after_shown: int) -> list[Event]:
        """Time passes, and what is due is done."""
        return self.do(Tick(self.at(after_shown)))

    def play(self, seat: Seat, text: str | None = None, *, after: int = 0, trip: int = 0) -> list[Event]:
        """A seat plays this, so long after the dice came to rest; without a text, its first legal play."""
        return self.do(self.a_play(seat, text, after=after, trip=trip))

    def a_play(self, seat: Seat, text: str | None = None, *, after: int = 0, trip: int = 0) -> MakePlay:
        """The wish of `play`."""
        moves = hops_of(self.plays_of(seat)[0]) if text is None else hops(text)
        return MakePlay(seat, self.turn, moves, self.at(after), trip)

    def plays_of(self, seat: Seat) -> tuple[Play, ...]:
        """What a seat may play now."""
        return self.match.rules.legal_plays(self.match.position_for(seat), self.roll)

    def play_phase(self, *, after: int = 0) -> list[Event]:
        """Everybody who owes a play makes the first that is legal, B before A."""
        turn, events = self.turn, []
        for seat in (B, A):
            if self.match.turn == turn and self.match.owes(seat):
                events += self.play(seat, after=after)
        return events

    def play_until(self, turn: str) -> Table:
        """Plays phases until this turn is open."""
        while str(self.turn) != turn:
            self.play_phase()
        return self

    def leave(self, seat: Seat, *, after: int) -> list[Event]:
        """A player's last display goes."""
        return self.do(Leave(seat, self.at(after)))

    def back(self, seat: Seat, *, after: int) -> list[Event]:
        """A player has a display again."""
        return self.do(Return(seat, self.at(after)))


def a_new_match(ruleset: Ruleset = DEFAULT, *, computers: Iterable[Seat] = ()) -> Table:
    """Two seats taken, both players there, the dice still to be agreed on."""
    table = Table(new_match("m-0001", ruleset, SERVER_SEED, MADE_AT, computers=computers))
    table.do(*(Return(seat, MADE_AT) for seat in Seat))
    return table


def a_match(ruleset: Ruleset = DEFAULT, *, computers: Iterable[Seat] = (), present: bool = True) -> Table:
    """The first phase is open, 6-4 on the table; `present` false: nobody has a display."""
    table = a_new_match(ruleset, computers=computers)
    humans = [seat for seat in Seat if seat not in table.match.computers]
    if not present:
        table.do(*(Leave(seat, MADE_AT) for seat in humans))
    table.do(*(CommitSeed(seat, client_hash(CLIENT_SEEDS[seat]), MADE_AT) for seat in humans))
    table.do(*(RevealSeed(seat, CLIENT_SEEDS[seat], MADE_AT) for seat in humans))
    return table


QUIET = "12:5 8:5 6:5 | 12:5 8:5 6:5"  # nobody is off, hit or near it


def a_phase(
    turn: str,
    roll: str,
    *,
    x: str = QUIET,
    y: str = QUIET,
    round_end: tuple[str, str] | None = None,
    ruleset: Ruleset = DEFAULT,
    banks: tuple[int, int] | None = None,
    computers: Iterable[Seat] = (),
) -> Table:
    """A match in the middle: this turn is open with this roll, the games X and Y as White sees them.

    `round_end` are the games at the last round's end, if they were different then.
    """
    match = a_match(ruleset, computers=computers).match
    at = Turn.parse(turn)
    assert at is not None
    assert round_end is None or at.phase is Phase.K
    clocks = match.clocks
    if banks is not None:
        clocks = Seats(
            *(replace(match.clocks[seat], bank_ms=ms) for seat, ms in zip(Seat, banks, strict=True))
        )
    games = Games(pos(x), pos(y))
    match = replace(
        match,
        games=games,
        round_end=Games(*map(pos, round_end)) if round_end else games,
        clocks=clocks,
    )
    opened_at = match.shown_at - match.ruleset.reveal_ms
    return Table(apply(match, PhaseOpened(at, a_roll(roll), opened_at)))

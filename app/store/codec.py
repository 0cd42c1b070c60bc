"""What is stored as JSON: events and rulesets.

Each kind of event is written out here by itself, so that a change in the engine cannot change what old matches mean.
Reading is strict. A new way of writing gets a new FORMAT and its own entry in `_READERS`; old ones stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, assert_never

import msgspec

from engine.dice import Roll
from engine.errors import RuleError
from engine.match import (
    DrawOffered,
    Event,
    HashesClosed,
    Left,
    MatchEnded,
    Paused,
    PauseOrdered,
    PhaseOpened,
    PlayMade,
    Resumed,
    Returned,
    SeedDefaulted,
    SeedHashed,
    SeedRevealed,
    SeedsCombined,
    TimeAdded,
    TimeGivenBack,
)
from engine.plays import Move
from engine.ruleset import DEFAULT, Ruleset
from engine.scoring import Outcome
from engine.turn import Seat, Turn

FORMAT = 1


class Unreadable(ValueError):
    """Stored text that no reader understands."""


class _Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """An event as it is written, named by its `type`."""


class _SeedHashed(_Stored, frozen=True, tag="seed-hashed"):
    seat: Seat
    hash: str
    at: int

    def event(self) -> Event:
        return SeedHashed(self.seat, self.hash, self.at)


class _SeedRevealed(_Stored, frozen=True, tag="seed-revealed"):
    seat: Seat
    seed: str
    at: int

    def event(self) -> Event:
        return SeedRevealed(self.seat, self.seed, self.at)


class _SeedDefaulted(_Stored, frozen=True, tag="seed-defaulted"):
    seat: Seat
    at: int

    def event(self) -> Event:
        return SeedDefaulted(self.seat, self.at)


class _HashesClosed(_Stored, frozen=True, tag="hashes-closed"):
    at: int

    def event(self) -> Event:
        return HashesClosed(self.at)


class _SeedsCombined(_Stored, frozen=True, tag="seeds-combined"):
    seed: str
    at: int

    def event(self) -> Event:
        return SeedsCombined(self.seed, self.at)


class _PhaseOpened(_Stored, frozen=True, tag="phase-opened"):
    turn: str
    roll: tuple[int, int]
    at: int

    def event(self) -> Event:
        return PhaseOpened(_turn(self.turn), Roll(*self.roll), self.at)


class _PlayMade(_Stored, frozen=True, tag="play-made"):
    seat: Seat
    turn: str
    kind: Literal["play", "pass", "missed"]
    moves: tuple[tuple[int, int, int, Literal[0, 1]], ...]  # from, to, die, hit
    thought_ms: int
    allowed_ms: int
    at: int

    def event(self) -> Event:
        moves = tuple(Move(start, end, die, bool(hit)) for start, end, die, hit in self.moves)
        turn = _turn(self.turn)
        return PlayMade(self.seat, turn, self.kind, moves, self.thought_ms, self.allowed_ms, self.at)


class _Left(_Stored, frozen=True, tag="left"):
    seat: Seat
    at: int

    def event(self) -> Event:
        return Left(self.seat, self.at)


class _Returned(_Stored, frozen=True, tag="returned"):
    seat: Seat
    at: int

    def event(self) -> Event:
        return Returned(self.seat, self.at)


class _DrawOffered(_Stored, frozen=True, tag="draw-offered"):
    seat: Seat
    turn: str
    at: int

    def event(self) -> Event:
        return DrawOffered(self.seat, _turn(self.turn), self.at)


class _PauseOrdered(_Stored, frozen=True, tag="pause-ordered"):
    by: str
    reason: str
    at: int

    def event(self) -> Event:
        return PauseOrdered(self.by, self.reason, self.at)


class _Paused(_Stored, frozen=True, tag="paused"):
    until: int
    at: int

    def event(self) -> Event:
        return Paused(self.until, self.at)


class _Resumed(_Stored, frozen=True, tag="resumed"):
    by: str | None
    reason: str | None
    at: int

    def event(self) -> Event:
        return Resumed(self.by, self.reason, self.at)


class _TimeAdded(_Stored, frozen=True, tag="time-added"):
    seat: Seat
    ms: int
    by: str
    reason: str
    at: int

    def event(self) -> Event:
        return TimeAdded(self.seat, self.ms, self.by, self.reason, self.at)


class _TimeGivenBack(_Stored, frozen=True, tag="time-given-back"):
    ms: int
    at: int

    def event(self) -> Event:
        return TimeGivenBack(self.ms, self.at)


class _MatchEnded(_Stored, frozen=True, tag="match-ended"):
    outcome: Outcome
    by: Seat | None
    at: int
    net_for_A: int | None
    arbiter: str | None
    reason: str | None

    def event(self) -> Event:
        return MatchEnded(self.outcome, self.by, self.at, self.net_for_A, self.arbiter, self.reason)


_AnyStored = (
    _SeedHashed
    | _SeedRevealed
    | _SeedDefaulted
    | _HashesClosed
    | _SeedsCombined
    | _PhaseOpened
    | _PlayMade
    | _Left
    | _Returned
    | _DrawOffered
    | _PauseOrdered
    | _Paused
    | _Resumed
    | _TimeAdded
    | _TimeGivenBack
    | _MatchEnded
)


def _turn(text: str) -> Turn:
    turn = Turn.parse(text)
    if turn is None:
        raise Unreadable(f"'{text}' is no turn")
    return turn


def _stored(event: Event) -> _AnyStored:
    match event:
        case SeedHashed(seat, hash_, at):
            return _SeedHashed(seat, hash_, at)
        case SeedRevealed(seat, seed, at):
            return _SeedRevealed(seat, seed, at)
        case SeedDefaulted(seat, at):
            return _SeedDefaulted(seat, at)
        case HashesClosed(at):
            return _HashesClosed(at)
        case SeedsCombined(seed, at):
            return _SeedsCombined(seed, at)
        case PhaseOpened(turn, roll, at):
            return _PhaseOpened(str(turn), (roll.first, roll.second), at)
        case PlayMade(seat, turn, kind, moves, thought_ms, allowed_ms, at):
            written = tuple((move.start, move.end, move.die, 1 if move.hit else 0) for move in moves)
            return _PlayMade(seat, str(turn), kind, written, thought_ms, allowed_ms, at)  # type: ignore[arg-type]
        case Left(seat, at):
            return _Left(seat, at)
        case Returned(seat, at):
            return _Returned(seat, at)
        case DrawOffered(seat, turn, at):
            return _DrawOffered(seat, str(turn), at)
        case PauseOrdered(by, reason, at):
            return _PauseOrdered(by, reason, at)
        case Paused(until, at):
            return _Paused(until, at)
        case Resumed(by_whom, why, at):
            return _Resumed(by_whom, why, at)
        case TimeAdded(seat, ms, by, reason, at):
            return _TimeAdded(seat, ms, by, reason, at)
        case TimeGivenBack(ms, at):
            return _TimeGivenBack(ms, at)
        case MatchEnded(outcome, conceded, at, net, arbiter, why):
            return _MatchEnded(outcome, conceded, at, net, arbiter, why)
        case _:
            assert_never(event)


_write = msgspec.json.Encoder().encode
_read_1 = msgspec.json.Decoder(tuple[_AnyStored, ...]).decode
_READERS = {1: _read_1}


def events_text(events: Iterable[Event]) -> str:
    """These events as they are stored, in FORMAT."""
    return _write([_stored(event) for event in events]).decode()


def events_of(format_: int, text: str) -> tuple[Event, ...]:
    """The events of one journal row. Raises Unreadable."""
    read = _READERS.get(format_)
    if read is None:
        raise Unreadable(f"events of format {format_} need a newer server")
    try:
        return tuple(stored.event() for stored in read(text))
    except (msgspec.DecodeError, RuleError) as wrong:
        raise Unreadable(f"no events of format {format_}: {wrong}") from wrong


def ruleset_text(ruleset: Ruleset) -> str:
    """A ruleset as it is stored: every key, so that a later default changes no match that was played."""
    return _write(ruleset.to_dict()).decode()


@lru_cache(maxsize=256)
def ruleset_of(text: str) -> Ruleset:
    """The ruleset of a stored match. Raises Unreadable."""
    try:
        return DEFAULT.changed(msgspec.json.decode(text, type=dict[str, object]))
    except (msgspec.DecodeError, RuleError) as wrong:
        raise Unreadable(f"no ruleset: {wrong}") from wrong

"""The process in which matches are judged: it reads phases and writes what they were worth, a line each."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from app.engines.judge import judge_of
from app.engines.processes import answer_lines, to_everybody
from engine.analysis import Played, TurnJudged, turn_judged
from engine.dice import Roll
from engine.match import Made, PhasePlayed
from engine.position import Position
from engine.scoring import Outcome
from engine.turn import Games, Seats, Turn
from engine.variant import VARIANTS

_Game = tuple[tuple[int, ...], tuple[int, ...]]  # both sides as White sees them


class _Phase(msgspec.Struct, array_like=True):
    """A finished phase: what A and B did, of which kind and how it is written, and both games after it."""

    turn: str
    roll: tuple[int, int]
    did: tuple[tuple[str, str], tuple[str, str]]
    x: _Game
    y: _Game


class Asked(msgspec.Struct, array_like=True):
    """A level of judges, and a phase to be judged, with the one before it if there is one."""

    level: str
    variant: str
    opening_double: bool
    phases: tuple[_Phase, ...]


class Answered(msgspec.Struct, array_like=True):
    """What the last of these phases was worth, or why nobody can say."""

    judged: dict[str, Any] | None = None
    wrong: str = ""


_asked = msgspec.json.Decoder(Asked)
_answered = msgspec.json.Decoder(Answered)
_encode = msgspec.json.Encoder().encode
_judge = cache(judge_of)  # each loads its weights once


def question(level: str, match: Played, index: int) -> bytes:
    """The phase with this place in `match.phases`, as it is sent."""
    phases = tuple(map(_as_sent, match.phases[max(0, index - 1) : index + 1]))
    return _encode(Asked(level, match.variant.key, match.opening_double, phases)) + b"\n"


def answer_to(line: bytes) -> bytes:
    """The answer to a question, as it is sent."""
    asked = _asked.decode(line)
    try:
        phases = tuple(map(_as_played, asked.phases))
        match = Played(VARIANTS[asked.variant], asked.opening_double, phases, Outcome.FINISHED, None, None)
        judged = turn_judged(match, len(phases) - 1, _judge(asked.level))
    except Exception as error:
        return _encode(Answered(wrong=f"{type(error).__name__}: {error}")) + b"\n"
    return _encode(Answered(judged.to_plain())) + b"\n"


def read_answer(line: bytes) -> TurnJudged | str:
    """What was judged, to the last digit; else why it could not be."""
    answered = _answered.decode(line)
    return answered.wrong if answered.judged is None else TurnJudged.from_plain(answered.judged)


def _as_sent(phase: PhasePlayed) -> _Phase:
    a, b = phase.plays.A, phase.plays.B
    x, y = phase.games.X, phase.games.Y
    return _Phase(
        str(phase.turn),
        (phase.roll.first, phase.roll.second),
        ((a.kind, a.text), (b.kind, b.text)),
        (x.mine, x.theirs),
        (y.mine, y.theirs),
    )


def _as_played(phase: _Phase) -> PhasePlayed:
    turn = Turn.parse(phase.turn)
    assert turn is not None
    plays = (Made(kind, (), 0, text) for kind, text in phase.did)
    return PhasePlayed(turn, Roll(*phase.roll), Seats(*plays), Games(Position(*phase.x), Position(*phase.y)))


if __name__ == "__main__":
    answer_lines(answer_to, to_everybody)  # every play comes first, a computer's too

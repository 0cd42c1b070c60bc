"""The process in which computers think: it reads tasks and writes plays, a line each, and knows nothing else."""

from __future__ import annotations

from functools import cache

import msgspec

from app.engines.levels import computer_of
from app.engines.processes import answer_lines, to_displays
from engine.bot import Solver, Task
from engine.plays import Edge, Hop
from engine.position import Position


class Asked(msgspec.Struct, array_like=True):
    """A level and its task."""

    level: str
    mine: tuple[int, ...]
    theirs: tuple[int, ...]
    steps: tuple[tuple[Edge, ...], ...]


class Answered(msgspec.Struct, array_like=True):
    """The play, or why there is none."""

    hops: tuple[Hop, ...] = ()
    wrong: str = ""


_asked = msgspec.json.Decoder(Asked)
_encode = msgspec.json.Encoder().encode
_computer = cache(computer_of)  # each loads its weights once


def question(level: str, task: Task) -> bytes:
    """A task as it is sent."""
    return _encode(Asked(level, task.position.mine, task.position.theirs, task.steps)) + b"\n"


def answer_to(line: bytes) -> bytes:
    """The answer to a question, as it is sent."""
    asked = _asked.decode(line)
    try:
        computer: Solver = _computer(asked.level)
        hops = computer.best(Task(Position(asked.mine, asked.theirs), asked.steps))
    except Exception as error:
        return _encode(Answered(wrong=f"{type(error).__name__}: {error}")) + b"\n"
    return _encode(Answered(hops)) + b"\n"


if __name__ == "__main__":
    answer_lines(answer_to, to_displays)

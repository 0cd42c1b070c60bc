"""The computer players by their levels, and which of them this server has."""

from __future__ import annotations

from dataclasses import dataclass

from app.engines.network import installed
from app.engines.sage import Sage, version_of
from engine.bot import Heuristic, Solver

LEVELS = ("beginner", "club", "expert", "master")  # from the weakest
_PLIES = {"club": 1, "expert": 2, "master": 3}  # the network alone, one look-ahead, two
_NAMES = {"beginner": Heuristic.name, **{key: f"bgsage {key}" for key in _PLIES}}


@dataclass(frozen=True, slots=True)
class Level:
    """A computer player that this server has. Another version is another player."""

    key: str
    name: str
    version: str


def levels_here() -> tuple[Level, ...]:
    """From the weakest; without bgsage there is the built-in player alone."""
    engine = installed()
    built_in = Level("beginner", Heuristic.name, Heuristic.version)
    if engine is None:
        return (built_in,)
    return (built_in, *(Level(key, _NAMES[key], version_of(plies, engine)) for key, plies in _PLIES.items()))


def level_named(name: str) -> str | None:
    """The level of the computer with this name, whatever its version and whether or not it is here."""
    return next((key for key, known in _NAMES.items() if known == name), None)


def computer_names() -> frozenset[str]:
    """What computer players are called, here or elsewhere."""
    return frozenset(_NAMES.values())


def computer_of(key: str) -> Solver:
    """The player itself, with its weights."""
    return Heuristic() if key == "beginner" else Sage(_NAMES[key], _PLIES[key])

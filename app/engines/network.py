"""bgsage in memory: its networks and its table of endgames, loaded once a process, always on one thread.

It takes impossible boards without a word, so whoever asks it something checks the position first.
"""

from __future__ import annotations

from functools import cache
from importlib import metadata, util
from typing import Any

from engine.errors import BadPosition
from engine.position import Position


def installed() -> str | None:
    """The version of bgsage here; None where there is none (no wheels for musl and for Linux on arm64)."""
    try:
        if util.find_spec("bgsage") is None or util.find_spec("bgbot_cpp") is None:
            return None
        return metadata.version("bgsage")
    except (ImportError, ValueError, metadata.PackageNotFoundError):
        return None


@cache
def raw() -> Any:
    """The network alone, with the table of endgames without contact, which is exact."""
    engine, table = _endgames()
    return engine.BearoffStrategy(engine.create_strategy(*_weights()), table)


def ahead(plies: int) -> Any:
    """The network with look-ahead: 2 plies are one, 3 are two. Remembers what it has looked at (`clear_cache`).

    Made directly, since bgsage's own analyser uses two threads even when told to use one.
    """
    engine, table = _endgames()
    made = engine.create_multipy(*_weights(), n_plies=plies, parallel_evaluate=False, parallel_threads=1)
    engine.multipy_set_bearoff_db(made, table)
    return made


def checked(position: Position) -> list[int]:
    """The board as bgsage takes it. Raises BadPosition for one that no game could show."""
    board = position.signed()
    if Position.from_signed(board) != position:
        raise BadPosition("Two sides cannot stand on one point, and each has fifteen checkers.")
    return board


@cache
def _endgames() -> tuple[Any, Any]:
    """bgsage's module, and its table; kept for as long as the process runs, for an engine does not keep it alive."""
    import bgbot_cpp
    from bgsage.weights import bearoff_db_path

    table = bgbot_cpp.BearoffDB()
    path = bearoff_db_path()
    if not path or not table.load(path):
        raise RuntimeError("bgsage has no table of endgames: it is not installed whole")
    return bgbot_cpp, table


@cache
def _weights() -> tuple[str, Any, Any]:
    from bgsage import default_weights

    weights = default_weights()
    return weights.strategy_type, weights.weight_paths_list, weights.hidden_sizes_list

"""The real services in a simulated world: crashes, broken lines, a bad database, mistakes. One seed is one run.

A failing seed is replayed by the command in its message; CONTRIBUTING.md says how to look into it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

import pytest

from engine.match import TimeGivenBack
from tests.support.simulation.twins import differences
from tests.support.simulation.world import World, run

SEEDS = range(40)


@cache
def _world(seed: int) -> World:
    return run(seed)


def _told(seed: int, problems: list[str]) -> str:
    return "\n".join([*problems, f"Replay: python -m bench.model --from {seed} --seeds 1"])


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_lost_told_or_stuck_whatever_happens(seed: int) -> None:
    """Durability, one history, results, clocks, secrets, ends: all of checks.py."""
    problems = _world(seed).problems
    assert not problems, _told(seed, problems)


@pytest.mark.parametrize("seed", range(16))
def test_a_hidden_choice_changes_no_byte_for_others(seed: int) -> None:
    """§5.1: the same run, but for one play and its drafts."""
    found = list(differences(_world(seed)))
    assert not found, _told(seed, found)


def test_the_seeds_meet_every_kind_of_trouble_and_end() -> None:
    """What never happens proves nothing."""
    worlds = [_world(seed) for seed in SEEDS]
    ends = {row.outcome for world in worlds for row in world.results()}
    assert ends >= {"finished", "resigned", "time", "agreed", "aborted"}
    events = [event for world in worlds for row in world.rows for event in row.events]
    assert any(isinstance(event, TimeGivenBack) for event in events)
    assert any(world.number == 2 for world in worlds)
    assert sum(world.started - world.number for world in worlds) > 40, "servers were started again"
    assert sum(len(world.disk.trouble) for world in worlds) > 20, "the database failed"
    assert sum("problem" in sent.text[:20] for world in worlds for sent in world.sent) > 40, (
        "wishes were refused"
    )


def test_the_same_seed_is_the_same_run_everywhere() -> None:
    """To the byte and the moment, in another process with other hashes."""
    seeds = [2, 26]
    program = f"from tests.support.simulation.world import run\nfor s in {seeds}: print(run(s).digest())"
    there = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.split() == [_world(seed).digest() for seed in seeds]

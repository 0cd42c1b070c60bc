"""The bench of the format: the same seed gives the same matches, and a run can be taken up again."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from bench.objectivity import Player, kept, matches_needed, measured, play
from engine.scoring import game_outcome
from engine.turn import Game, Seats

NOISY = Player("club", 0.05)


def test_a_match_is_its_seed_and_number_and_nothing_else() -> None:
    first = measured(3, "seed", Player("club", 0), NOISY, ["network"])
    assert measured(3, "seed", Player("club", 0), NOISY, ["network"]) == first
    assert measured(4, "seed", Player("club", 0), NOISY, ["network"]) != first
    assert json.loads(json.dumps(first)) == first


def test_equal_players_draw_exactly() -> None:
    line = measured(1, "seed", Player("club", 0), Player("club", 0), ["network"])
    assert line["judged"]["network"][:2] == [0, 0]
    assert set(line["stopped"].values()) == {0}
    assert line["parted"] is None


@pytest.mark.parametrize("number", range(6))
def test_both_games_are_played_out(number: int) -> None:
    match, ends = play(Seats(Player("club", 0), NOISY), f"played out {number}")
    last = match.phases[-1].games
    assert any(game_outcome(last[game]) != "-" for game in Game)
    for game in Game:
        assert game_outcome(ends[game]) != "-"
        if game_outcome(last[game]) != "-":
            assert ends[game] == last[game]  # what is over is not played on


def test_a_run_is_taken_up_again_where_it_was_broken_off(tmp_path: Path) -> None:
    file, settings = tmp_path / "results.jsonl", {"seed": "1"}
    assert kept(file, settings) == {}
    file.write_text('{"seed": "1"}\n{"match": 0, "x": {}}\n{"match": 1, "x": {}')
    assert kept(file, settings) == {0: {"match": 0, "x": {}}}
    with pytest.raises(SystemExit, match="another run"):
        kept(file, {"seed": "2"})


def test_matches_needed() -> None:
    """A mean of 1, a standard deviation of 2: after n matches the sum is n ± 2√n, positive with 95 % at n = 10.8."""
    values = [1 - math.sqrt(3), 1 + math.sqrt(3), 1 - math.sqrt(3), 1 + math.sqrt(3)]
    assert matches_needed(values) == pytest.approx((1.645 * 2) ** 2)

"""gnubg, a stranger to bgsage, before 200 decisions of real play: it agrees with our judge (§6.4)."""

from __future__ import annotations

import statistics

import pytest

from app.engines.judge import SageEvaluator, judge_of
from bench.agreement import NEAR, compared, picked, read
from bench.judges import Gnubg, SmallGnubg
from engine.analysis import Chances, Judge
from engine.plays import legal_plays
from tests.builders import DATA, a_roll, pos

DECISIONS = read(DATA / "decisions.jsonl")


def test_the_decisions_are_decisions_by_players_of_every_kind() -> None:
    assert len({(one.position, one.roll) for one in DECISIONS}) == 200
    assert len({one.by for one in DECISIONS}) == 6
    for one in DECISIONS:
        plays = [str(play) for play in legal_plays(pos(one.position), a_roll(one.roll))]
        assert one.play in plays
        assert len(plays) > 1


def test_they_were_drawn_by_lot_from_matches_that_can_be_played_again() -> None:
    assert list(picked(2, 2)) == DECISIONS[:4]


def test_gnubg_agrees_with_our_expert_about_200_decisions() -> None:
    """The same best play, or one within 0.005 in either's eyes, in 90 %; and the same losses to 0.01."""
    ours, gnubg = judge_of("expert"), Judge(Gnubg(), Gnubg(2))
    found = [compared(one, ours, gnubg) for one in DECISIONS]
    assert statistics.mean(one.best_loses <= NEAR for one in found) >= 0.9
    assert statistics.mean(one.others_best_loses <= NEAR for one in found) >= 0.9
    assert statistics.mean(abs(one.difference) for one in found) < 0.01
    assert statistics.mean(one.same for one in found) > 0.8


def test_judges_that_are_one_agree_entirely() -> None:
    ours = judge_of("expert")
    for one in DECISIONS[:20]:
        found = compared(one, ours, ours)
        assert (found.same, found.best_loses, found.others_best_loses, found.difference) == (True, 0, 0, 0)


def test_a_judge_that_sees_everything_the_wrong_way_round_does_not_agree() -> None:
    """What the shares would be if positions were handed over turned."""

    class Turned(Gnubg):
        def chances(self, positions):  # type: ignore[no-untyped-def]
            return super().chances([position.turned() for position in positions])

    found = [compared(one, judge_of("club"), Judge(Turned())) for one in DECISIONS[:60]]
    assert statistics.mean(one.best_loses <= NEAR for one in found) < 0.5


@pytest.mark.parametrize(
    "text",
    ["6:1 | 1:1", "1:1 | 6:1 2:1", "6:5 5:5 4:5 | 6:5 5:5 4:5", "6:3 4:2 | 5:4 1:3", "2:9 1:6 | 6:1 5:1"],
)
def test_two_tables_of_endgames_made_apart_say_the_same(text: str) -> None:
    """So each is asked about the right side, with the right side to roll, and numbers the points as we do."""
    [gnubg], [sage] = Gnubg().chances([pos(text)]), SageEvaluator().chances([pos(text)])
    assert gnubg.win == pytest.approx(sage.win, abs=1e-4)


@pytest.mark.parametrize(
    ("text", "ahead"),
    [
        pytest.param("6:2 5:2 | 12:5 8:5 6:5", Chances(1, 1, 0, 0, 0), id="won, and it is a mars"),
        pytest.param("12:5 8:5 6:5 | 6:2 5:2", Chances(0, 0, 0, 1, 0), id="lost, and it is a mars"),
        pytest.param("1:2 | bar:2 6:5 5:5 4:3", Chances(1, 1, 1, 0, 0), id="won, and it is a koks"),
        pytest.param("bar:2 6:5 5:5 4:3 | 1:2", Chances(0, 0, 0, 1, 1), id="lost, and it is a koks"),
    ],
)
def test_gnubg_is_asked_from_the_side_that_has_just_played(text: str, ahead: Chances) -> None:
    for judge in (Gnubg(), SmallGnubg()):
        assert tuple(judge.chances([pos(text)])[0]) == pytest.approx(tuple(ahead), abs=0.25)


def test_the_small_network_is_asked_for_nothing_that_it_does_not_know() -> None:
    """In bearing off its answers would be numbers of any size."""
    bearing_off = [pos("3:1 2:1 1:7 | 2:14"), pos("3:2 2:3 1:3 | 2:1 1:1")]
    assert SmallGnubg().chances(bearing_off) == Gnubg().chances(bearing_off)
    elsewhere = [pos("13:5 8:5 6:5 | 13:5 8:5 6:5")]
    assert SmallGnubg().chances(elsewhere) != Gnubg().chances(elsewhere)

"""bgsage as the judge of a match: its traps, its symmetry, and what it does for the objective result (§6.4)."""

from __future__ import annotations

import importlib.util
import statistics
from collections.abc import Sequence
from random import Random

import pytest

from app.engines.judge import LEVELS, NoJudge, SageEvaluator, judge_of
from engine.analysis import Judge, Played, work
from engine.bot import worth
from engine.errors import BadPosition
from engine.plays import results
from engine.position import CHECKERS, OFF, Position
from engine.turn import Seats
from engine.variant import SHORT
from tests.builders import a_roll, pos
from tests.support.selfplay import MIDDLE, careless, leading, self_play, swapped, whole


@pytest.fixture(scope="module")
def sage() -> SageEvaluator:
    return SageEvaluator()


@pytest.fixture(scope="module")
def match() -> Played:
    """A whole match between two simple players."""
    return self_play(Seats(leading, careless), Random(5))


@pytest.fixture(scope="module")
def positions(match: Played) -> list[Position]:
    """All that can come of one phase in three, until somebody is off."""
    found: dict[Position, None] = {}
    for index in range(0, len(match.phases), 3):
        games = match.games_before(index)
        found.update(dict.fromkeys(results(games.X, match.phases[index].roll)))
    return [p for p in found if CHECKERS not in (p.mine[OFF], p.theirs[OFF])]


# --------------------------------------------------------------------------------------------------- what it is asked


@pytest.mark.parametrize(
    ("position", "why"),
    [
        pytest.param(Position(SHORT.start, (0,) * 26), "fifteen", id="a side without checkers"),
        pytest.param(Position(SHORT.start, (13, 0, *SHORT.start[2:])), "fifteen", id="too many checkers"),
        pytest.param(pos("24:2 13:5 8:3 6:5 | 19:2 13:5 8:3 6:5"), "one point", id="two sides on one point"),
        pytest.param(
            pos("bar:1 1:2 2:2 3:2 4:2 5:2 6:2 | bar:1 1:2 2:2 3:2 4:2 5:2 6:2"), "bar", id="both shut out"
        ),
        pytest.param(pos(" | 6:2"), "over", id="my side has borne off all"),
        pytest.param(pos("6:2 | "), "over", id="the other side has"),
    ],
)
def test_an_impossible_position_never_comes_to_it(sage: SageEvaluator, position: Position, why: str) -> None:
    with pytest.raises(BadPosition, match=why):
        sage.chances([pos("6:2 | 6:2"), position])


def test_it_is_asked_for_nothing_that_is_over_and_for_no_play(sage: SageEvaluator, match: Played) -> None:
    """Where nothing can be played the position is worth what it is when the other side rolls: not best of one play."""
    asked: list[Position] = []

    class Heard:
        name, version = "heard", "1"

        def chances(self, positions: Sequence[Position]) -> object:
            asked.extend(positions)
            return sage.chances(positions)

    turns = list(work(match, Judge(Heard())))  # type: ignore[arg-type]
    assert len(turns) == len(match.phases)
    assert not any(CHECKERS in (p.mine[OFF], p.theirs[OFF]) for p in asked)
    shut_out = pos("bar:2 6:5 | 1:2 2:2 3:2 4:2 5:2 6:5")
    assert results(shut_out, a_roll("6-5")) == (shut_out,)
    [chances] = sage.chances([shut_out])
    assert chances.win < 0.1


def test_nothing_is_asked_nothing_is_answered(sage: SageEvaluator) -> None:
    assert sage.chances([]) == []


def test_without_bgsage_there_is_no_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.engines.network.installed", lambda: None)
    assert importlib.util.find_spec("bgsage") is not None, "requirements/dev.txt brings it"
    with pytest.raises(NoJudge, match="make engines"):
        judge_of("club")


# ------------------------------------------------------------------------------------------------------- its answers


def test_chances_are_chances(sage: SageEvaluator, positions: list[Position]) -> None:
    for chances in sage.chances(positions):
        assert 0 <= chances.win <= 1
        assert 0 <= chances.koks <= chances.mars <= chances.win + 1e-6
        assert 0 <= chances.lost_koks <= chances.lost_mars <= 1 - chances.win + 1e-6
        assert -3 <= chances.equity <= 3


@pytest.mark.parametrize("plies", [1, 2])
def test_an_answer_depends_on_the_position_alone(plies: int, positions: list[Position]) -> None:
    one, few = SageEvaluator(plies), positions[:: 1 if plies == 1 else 12]
    at_once = one.chances(few)
    assert one.chances(few[::-1]) == at_once[::-1]
    assert [SageEvaluator(plies).chances([position])[0] for position in few] == at_once


def test_it_sees_a_position_from_the_side_that_has_just_played(sage: SageEvaluator) -> None:
    ahead = pos("6:2 5:2 | 12:5 8:5 6:5")
    (won,), (lost,) = sage.chances([ahead]), sage.chances([ahead.turned()])
    assert won.win > 0.999
    assert lost.win < 0.001
    assert won.mars > 0.9
    assert lost.lost_mars > 0.9


def test_a_turned_position_is_the_same_but_for_the_right_to_roll(
    sage: SageEvaluator, positions: list[Position]
) -> None:
    """To roll is worth something: so one's own view and the other's turned view add up to less than nothing.

    Bearing off is exact, and there it always holds; elsewhere a network is not exact, but never far off.
    """
    mine = sage.chances(positions)
    theirs = sage.chances([position.turned() for position in positions])
    sums = [a.equity + b.equity for a, b in zip(mine, theirs, strict=True)]
    assert statistics.mean(sums) < 0
    # Somebody may not want to roll, but that is rare
    assert sum(total > 0.1 for total in sums) <= len(sums) // 10


def test_bearing_off_is_exact(sage: SageEvaluator) -> None:
    """Against a checker on 1 that is to roll all is lost; checkers on 6 and 2 go off with 13 of 36 rolls."""
    lost, hoping = sage.chances([pos("6:1 | 1:1"), pos("1:1 | 6:1 2:1")])
    assert lost.win == 0
    assert hoping.win == pytest.approx(23 / 36, abs=1e-3)


# ------------------------------------------------------------------------------------------------------- whole matches


@pytest.mark.parametrize("level", ["club", "expert"])
def test_exchanged_players_negate_a_whole_match(level: str, match: Played) -> None:
    there, back = whole(match, judge_of(level)), whole(swapped(match), judge_of(level))
    assert there.objective_for_A is not None
    assert back.objective_for_A == -there.objective_for_A != 0
    assert back.luck_for_A == -there.luck_for_A != 0
    assert back.players == Seats(there.players.B, there.players.A)


def test_equal_play_is_a_draw_exactly() -> None:
    found = whole(self_play(Seats(leading, leading), Random(6)), judge_of("club"))
    assert (found.luck_for_A, found.result_for_A, found.objective_for_A) == (0, 0, 0)


def test_every_level_says_which_it_is() -> None:
    names = [judge_of(level).names for level in ("club", "expert")]
    assert len(set(names)) == 2
    assert all(name.startswith("bgsage 2") for both in names for name in both)
    assert LEVELS.keys() == {"club", "expert", "master"}


def test_without_luck_the_same_is_expected_and_the_spread_is_far_smaller(sage: SageEvaluator) -> None:
    """Two players, one a little worse: the mean of E − L is that of E within the error, its variance less than half."""

    def ranked(ends: Sequence[Position]) -> list[int]:
        return sorted(range(len(ends)), key=lambda i: -worth(ends[i]))

    def good(position: Position, ends: Sequence[Position], chance: Random) -> int:
        return ranked(ends)[0]

    def second_best_at_times(position: Position, ends: Sequence[Position], chance: Random) -> int:
        return ranked(ends)[:2][-1] if chance.random() < 0.3 else good(position, ends, chance)

    dice, raw, objective = Random(1), [], []
    for _ in range(60):
        found = whole(self_play(Seats(good, second_best_at_times), dice, MIDDLE), Judge(sage))
        assert found.objective_for_A is not None
        raw.append(found.result_for_A)
        objective.append(found.objective_for_A)
    luck = [e - o for e, o in zip(raw, objective, strict=True)]
    assert abs(statistics.mean(luck)) < 3 * statistics.stdev(luck) / len(luck) ** 0.5
    assert statistics.variance(raw) > 2 * statistics.variance(objective)
    assert statistics.mean(objective) > 3 * statistics.stdev(objective) / len(objective) ** 0.5  # A is better

"""The bench of the format: the same seed gives the same matches, and a run can be taken up again."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from bench import charts
from bench.figures import Run, Way, freed, kept, needed, shared, show
from bench.judges import Gnubg
from bench.objectivity import Player, measured, play
from engine.analysis import Judge, analysed, work
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


def test_without_luck_the_same_is_expected_and_the_spread_is_a_third() -> None:
    """gnubg's network judges two players of another family, one of whom errs: E − L expects what E does (§6.4)."""
    players = Seats(Player("club", 0), NOISY)
    raw, objective = [], []
    for number in range(24):
        match, _ = play(players, f"unequal {number}")
        found = analysed(match, list(work(match, Judge(Gnubg()))))
        assert found.objective_for_A is not None
        raw.append(found.result_for_A)
        objective.append(found.objective_for_A)
    luck = [e - o for e, o in zip(raw, objective, strict=True)]
    assert abs(statistics.mean(luck)) < 3 * statistics.stdev(luck) / math.sqrt(len(luck))
    assert statistics.stdev(raw) > 3 * statistics.stdev(objective)
    assert statistics.mean(objective) > 3 * statistics.stdev(objective) / math.sqrt(
        len(objective)
    )  # A is better


def test_a_weaker_judge_of_the_same_match_sees_the_same_dice_and_other_luck() -> None:
    names = ["gnubg", "network", "small", "heuristic"]
    found = measured(2, "seed", Player("club", 0), NOISY, names)["judged"]
    assert found.keys() == set(names)
    assert len({round(found[name][1], 6) for name in names}) == len(names)


def test_a_run_is_taken_up_again_where_it_was_broken_off(tmp_path: Path) -> None:
    file, settings = tmp_path / "results.jsonl", {"seed": "1"}
    assert kept(file, settings) == {}
    file.write_text('{"seed": "1"}\n{"match": 0, "x": {}}\n{"match": 1, "x": {}')
    assert kept(file, settings) == {0: {"match": 0, "x": {}}}
    with pytest.raises(SystemExit, match="another run"):
        kept(file, {"seed": "2"})


# ------------------------------------------------------------------------------------------------------- figures


def test_matches_needed() -> None:
    """A mean of 1, a standard deviation of 2: after n matches the sum is n ± 2√n, positive with 95 % at n = 10.8."""
    values = np.array([1 - math.sqrt(3), 1 + math.sqrt(3)] * 2)
    found = needed(Way(values, values), np.zeros(4))
    assert found.value == pytest.approx((1.645 * 2) ** 2)
    assert needed(Way(-values, -values), np.zeros(4)).value == math.inf  # it is the other who is better


def test_matches_needed_lie_where_their_interval_says() -> None:
    """Of two hundred runs of normal results some ten have the true number outside their brackets, not many more."""
    chance, outside = np.random.default_rng(7), 0
    for _ in range(200):
        luck = chance.normal(0, 2, 200)
        values = 0.5 + luck + chance.normal(0, 1, 200)
        found = needed(Way(values, values), luck)
        outside += not found.low <= (1.645**2) * 5 / 0.25 <= found.high
    assert outside <= 25


def test_a_mean_freed_of_luck_is_the_same_mean_and_surer() -> None:
    chance, errors = np.random.default_rng(8), []
    for _ in range(200):
        luck = chance.normal(0, 2, 100)
        values = 0.3 + 5 * luck + chance.normal(0, 1, 100)
        found = freed(values, luck)
        assert found.error < Way(values, values).mean.error / 5
        errors.append((found.value - 0.3) / found.error)
    assert abs(statistics.mean(errors)) < 3 / math.sqrt(200)
    assert statistics.stdev(errors) == pytest.approx(1, abs=0.2)


def test_without_luck_a_mean_is_a_mean() -> None:
    values = np.array([1.0, 2.0, 6.0])
    assert freed(values, np.zeros(3)) == pytest.approx(Way(values, values).mean)


def test_two_games_that_share_no_dice_are_one_match_each_and_expect_what_one_match_does() -> None:
    lines = [
        measured(number, "seed", Player("beginner", 0), Player("beginner", 0.1), []) for number in range(3)
    ]
    games = [line["played_out"]["pips"] for line in lines]
    way = Run(lines, []).ways()["two games, pips"]
    assert list(way.values) == [
        games[0][0] + games[2][1],
        games[1][0] + games[0][1],
        games[2][0] + games[1][1],
    ]
    assert way.values.mean() == pytest.approx(way.same_mean.mean())


def test_shared_dice_leave_nothing_to_equal_players_and_all_to_games_that_share_nothing() -> None:
    def run(games: np.ndarray) -> Run:
        return Run([{"played_out": {"pips": list(map(float, pair))}} for pair in games], ["any"])

    x = np.random.default_rng(9).normal(size=4000)
    assert shared(run(np.stack([x, -x], 1)), "pips").value == pytest.approx(0)
    alone = shared(run(np.random.default_rng(10).normal(size=(4000, 2))), "pips")
    assert alone.value == pytest.approx(1, abs=4 * alone.error)


def test_the_table_has_every_way_and_judge(capsys: pytest.CaptureFixture[str]) -> None:
    line = measured(1, "seed", Player("club", 0), NOISY, ["gnubg"])
    other = measured(2, "seed", Player("club", 0), NOISY, ["gnubg"])
    show(Run([line, other] * 10, ["gnubg"]))
    shown = capsys.readouterr().out
    for name in (
        "two games, pips",
        "pips, with credit",
        "checkers, without",
        "E, gnubg",
        "E − L, gnubg",
        "never",
    ):
        assert name in shown
    show(Run([line], ["gnubg"]))
    assert "say nothing yet" in capsys.readouterr().out


# -------------------------------------------------------------------------------------------- drawings and the site


@pytest.fixture(scope="module")
def pair() -> charts.Pair:
    judges = ["gnubg", "network", "small", "heuristic"]
    lines = [measured(number, "seed", Player("club", 0), NOISY, judges) for number in range(3)]
    run = Run(lines * 10, judges)
    return charts.Pair(("club", "club+0.05"), "at_times", "One & another", run, run)


@pytest.mark.parametrize(
    "draw",
    [
        lambda pair: charts.needed_drawing([pair]),
        charts.ahead_drawing,
        charts.spread_drawing,
        lambda pair: charts.judges_drawing([pair]),
    ],
    ids=["needed", "ahead", "spread", "judges"],
)
def test_a_drawing_is_readable_in_either_scheme_and_by_those_who_do_not_see_it(
    draw: Callable[[charts.Pair], str], pair: charts.Pair
) -> None:
    svg = ElementTree.fromstring(draw(pair))
    space = "{http://www.w3.org/2000/svg}"
    assert svg.find(f"{space}title").text
    assert "One & another" in svg.find(f"{space}desc").text
    assert "prefers-color-scheme: dark" in svg.find(f"{space}style").text
    assert "nan" not in draw(pair)
    width, height = map(float, svg.get("viewBox").split()[2:])
    for mark in svg.iter():
        for name in ("x", "x1", "x2", "cx"):
            assert 0 <= float(mark.get(name, 0)) <= width
        for name in ("y", "y1", "y2", "cy"):
            assert 0 <= float(mark.get(name, 0)) <= height


def test_the_tables_have_a_cell_for_every_pair(pair: charts.Pair) -> None:
    for table in charts.tables([pair, pair]).split("\n\n"):
        rows = [line.split(" | ") for line in table.splitlines()]
        assert len(rows) > 5
        assert len({len(row) for row in rows}) == 1


def test_the_site_is_told_what_the_drawings_show(pair: charts.Pair) -> None:
    told = json.loads(json.dumps(charts.plain([pair])))["pairs"]["at_times"]
    assert told["matches"] == 30
    assert told["needed"].keys() == charts.WAYS.keys()
    value, low, high = told["by_judge"]["gnubg"]
    assert value == pytest.approx(needed(pair.run.ways()["E − L, gnubg"], pair.run.luck).value, rel=0.05)
    assert low <= value <= high


def test_the_sites_figures_are_of_the_pairs_that_it_has_words_for() -> None:
    pairs = json.loads(charts.SITE.read_text(encoding="utf-8"))["pairs"]
    assert {"often", "at_times"} <= pairs.keys()
    for language in ("ru", "en"):
        words = json.loads((charts.SITE.parent / f"locales/{language}/fairness.json").read_text("utf-8"))
        assert words["pair"].keys() == {key for key, _ in charts.PAIRS.values()} >= pairs.keys()
    assert pairs["at_times"]["by_judge"].keys() == charts.JUDGES.keys()
    for found in pairs.values():
        assert found["matches"] >= 200
        assert found["needed"]["objective"][0] < found["needed"]["half"][0]

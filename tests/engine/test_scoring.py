"""§6–§8 What a match is worth: every worked case, and the rules behind them one by one."""

from typing import Any

import pytest

from engine.match import ends_after
from engine.plays import after, find_play
from engine.position import Position
from engine.rating import points_after
from engine.ruleset import DEFAULT
from engine.scoring import Outcome, Score, concession, game_outcome, settle, time_adjustment
from engine.turn import Game, Games, Seat, Seats, Turn
from tests.builders import (
    A,
    B,
    a_phase,
    a_roll,
    data,
    hops,
    pos,
    position_of,
    rules,
)

CASES: list[dict[str, Any]] = data("match_cases.json")["cases"]


def cases(kind: str) -> list[Any]:
    return [pytest.param(case, id=f"{case['id']} {case['title']}") for case in CASES if case["kind"] == kind]


def games_of(boards: dict[str, Any]) -> Games[Position]:
    return Games(position_of(boards["X"]), position_of(boards["Y"]))


def numbers(score: Score) -> dict[str, Any]:
    """A score in the words of match_cases.json."""
    x, y = score.games.X, score.games.Y
    return {
        "status": score.outcome.value,
        "outcome_X": x.outcome,
        "outcome_Y": y.outcome,
        "class_X": x.loss_class,
        "class_Y": y.loss_class,
        "points_X_for_A": x.points_for_A,
        "points_Y_for_A": y.points_for_A,
        "credit_for_A": score.credit_for_A,
        "net_for_A": score.net_for_A,
        "winner": score.winner and score.winner.value,
        "time_adjustment": score.time_adjustment,
        "points_A": score.points.A,
        "points_B": score.points.B,
    }


@pytest.mark.parametrize("case", cases("match"))
def test_worked_matches(case: dict[str, Any]) -> None:
    ruleset = DEFAULT.changed(case["ruleset"])
    games, times = games_of(case["boards"]), Seats(**case["time_ms"])
    expected = dict(case["expected"])
    assert ends_after(Turn(9, black=True), games) is (expected["status"] == "finished")
    if expected["status"] != "finished":
        return
    ratings = expected.pop("rating_after")
    score = settle(ruleset, games, times)
    assert numbers(score) == expected
    assert [
        points_after(before, points, ruleset)
        for before, points in zip(case["rating_before"], (score.points.A, score.points.B), strict=True)
    ] == ratings


@pytest.mark.parametrize(
    "case", [case for case in cases("match") if case.values[0]["expected"]["status"] == "finished"]
)
def test_worked_matches_with_the_players_swapped(case: dict[str, Any]) -> None:
    """CASES E11. §4.6: the games exchanged and the clocks with them, every number is negated."""
    ruleset = DEFAULT.changed(case["ruleset"])
    games, times = games_of(case["boards"]), Seats(**case["time_ms"])
    here = settle(ruleset, games, times)
    there = settle(ruleset, Games(games.Y, games.X), Seats(times.B, times.A))
    assert (there.net_for_A, there.credit_for_A) == (-here.net_for_A, -here.credit_for_A)
    assert (there.points.A, there.points.B) == (here.points.B, here.points.A)
    assert there.winner is (here.winner and here.winner.other)
    assert there.time_adjustment == here.time_adjustment


@pytest.mark.parametrize("case", [case for case in cases("match") if "before_last_move" in case.values[0]])
def test_worked_last_moves(case: dict[str, Any]) -> None:
    """§4.2: Black's last move of R14 and R17, played in a match."""
    last = case["before_last_move"]
    end = games_of(case["boards"])
    assert last["board"] == "X"
    before = Position(end.X.mine, position_of({"white": last["black"], "black": last["black"]}).mine)
    roll = a_roll("-".join(map(str, last["roll"])))
    moved = find_play(before.turned(), roll, hops(" ".join(last["play"]))).moves
    assert after(before.turned(), moved).turned() == end.X

    table = a_phase("9K", str(roll), x=str(before), y=str(end.Y), ruleset=DEFAULT.changed(case["ruleset"]))
    table.play(B, " ".join(last["play"]))
    table.play(A)
    score = table.match.score
    assert score is not None
    assert numbers(score)["outcome_X"] == case["expected"]["outcome_X"]
    assert numbers(score)["points_X_for_A"] == case["expected"]["points_X_for_A"]


@pytest.mark.parametrize("case", cases("concession"))
def test_worked_concessions(case: dict[str, Any]) -> None:
    price = concession(
        DEFAULT.changed(case["ruleset"]),
        games_of(case["round_end"]),
        games_of(case["phase_end"]),
        Seat(case["loser"]),
    )
    assert {"game": price.game.value, "points": price.points} == case["expected"]


@pytest.mark.parametrize("case", cases("concession"))
def test_worked_concessions_with_the_players_swapped(case: dict[str, Any]) -> None:
    """The price is the same and the game the other, unless both cost the same: then it is X for everybody."""
    ends = games_of(case["round_end"]), games_of(case["phase_end"])
    ruleset, loser = DEFAULT.changed(case["ruleset"]), Seat(case["loser"])
    here = concession(ruleset, *ends, loser)
    there = concession(ruleset, *(Games(end.Y, end.X) for end in ends), loser.other)
    assert there.points == here.points
    assert {here.game, there.game} in ({Game.X, Game.Y}, {Game.X})


# --------------------------------------------------------------------------------------------- §4.3, §6 the games


@pytest.mark.parametrize(
    ("position", "outcome"),
    [
        pytest.param("| 3:2 1:1", "W", id="White is off, Black is not"),
        pytest.param("3:2 1:1 |", "K", id="Black is off, White is not"),
        pytest.param("|", "T", id="both are off"),
        pytest.param("3:2 | 1:1", "-", id="nobody is off"),
    ],
)
def test_outcome_of_a_game(position: str, outcome: str) -> None:
    assert game_outcome(pos(position)) == outcome


@pytest.mark.parametrize(
    ("turn", "x", "y", "over"),
    [
        pytest.param("7W", "| 3:2", "6:5 | 6:5", False, id="White is off in phase W: Black still moves"),
        pytest.param("7K", "| 3:2", "6:5 | 6:5", True, id="and then it is over"),
        pytest.param("7K", "6:5 | 6:5", "| 3:2", True, id="on either board: White in Y"),
        pytest.param("7K", "3:2 |", "6:5 | 6:5", True, id="Black is off in phase K: White gets nothing more"),
        pytest.param("7K", "6:5 | 6:5", "3:2 |", True, id="on either board: Black in Y"),
        pytest.param("7K", "|", "6:5 | 6:5", True, id="both are off: over all the same"),
        pytest.param("7K", "6:5 | 6:5", "6:5 | 6:5", False, id="nobody is off: on"),
    ],
)
def test_when_a_match_ends(turn: str, x: str, y: str, over: bool) -> None:
    at = Turn.parse(turn)
    assert at is not None
    assert ends_after(at, Games(pos(x), pos(y))) is over


@pytest.mark.parametrize(
    ("loser", "pips", "checkers", "classic", "loss_class"),
    [
        pytest.param("3:2 1:1", 7, 3, 1, "oin", id="ойн"),
        pytest.param("24:1 1:13", 37, 14, 1, "oin", id="one off, one far back: ойн"),
        pytest.param("6:15", 90, 15, 2, "mars", id="марс"),
        pytest.param("18:1 6:14", 102, 15, 2, "mars", id="far, but not in the winner's home: марс"),
        pytest.param("19:1 6:14", 103, 15, 3, "koks", id="in the winner's home: кокс"),
        pytest.param("bar:1 6:14", 109, 15, 3, "koks", id="on the bar: кокс"),
    ],
)
@pytest.mark.parametrize("winner", ["A as White", "B as White", "A as Black", "B as Black"])
def test_a_lost_game_costs_what_stands_there(
    loser: str, pips: int, checkers: int, classic: int, loss_class: str, winner: str
) -> None:
    """§6.1 in both games of the pair, for both colours: A13."""
    white_wins = winner.endswith("White")
    finished = pos(f"| {loser}") if white_wins else pos(f"{loser} |")
    level = pos("6:5 | 6:5")
    in_x = winner in {"A as White", "B as Black"}
    games = Games(finished, level) if in_x else Games(level, finished)
    sign = 1 if winner.startswith("A") else -1
    for scoring, points in (("pips", pips), ("checkers", checkers), ("classic", classic)):
        score = settle(rules(scoring=scoring), games, Seats(0, 0))
        lost = score.games.X if in_x else score.games.Y
        assert (lost.loss_class, lost.points_for_A) == (loss_class, sign * points)
        assert lost.winner is (A if sign > 0 else B)
        assert (score.net_for_A, score.points.A, score.points.B) == (
            sign * points,
            sign * points,
            -sign * points,
        )


@pytest.mark.parametrize(
    ("changes", "y", "credit", "net"),
    [
        pytest.param({}, "6:2 | 6:4", 6, 13, id="half of the lead is added"),
        pytest.param({}, "6:4 | 6:2", -6, 1, id="half of being behind is taken, but not the win"),
        pytest.param({}, "6:2 | 6:2 1:1", 0, 7, id="half of one pip is none"),
        pytest.param({}, "6:2 1:1 | 6:2", 0, 7, id="nor is it one the other way: toward zero"),
        pytest.param({}, "6:2 3:1 | 6:2", -1, 6, id="half of three behind is one"),
        pytest.param({"unfinished": {"num": 1, "den": 1}}, "6:2 | 6:4", 12, 19, id="the whole lead"),
        pytest.param({"unfinished": {"num": 2, "den": 3}}, "6:2 3:1 | 6:4", 6, 13, id="two thirds of nine"),
        pytest.param({"unfinished": "none"}, "6:2 | 6:4", 0, 7, id="none"),
        pytest.param(
            {"unfinished": {"may_flip": True}}, "6:5 | 1:1", -14, -7, id="it may take the win, if so set"
        ),
        pytest.param(
            {"scoring": "checkers"}, "6:2 | 6:5", 1, 4, id="checkers: five against two are three, half one"
        ),
        pytest.param({"scoring": "classic"}, "6:2 | 6:5", 0, 1, id="classic has no unit for it"),
        pytest.param({"pips_cap": 5}, "6:2 | 6:4", 5, 10, id="the cap cuts both before adding"),
    ],
)
def test_the_credit_of_the_game_that_was_not_played_out(
    changes: dict[str, Any], y: str, credit: int, net: int
) -> None:
    """§6.2. A is off in X, 7 pips and 3 checkers left against him; in Y he is Black."""
    whole = pos(y).turned()
    score = settle(rules(time="off", **changes), Games(pos("| 3:2 1:1"), whole), Seats(0, 0))
    assert (score.credit_for_A, score.net_for_A) == (credit, net)


def test_there_is_no_credit_when_both_games_are_finished() -> None:
    """§4.4: same winner adds, different winners subtract."""
    assert settle(DEFAULT, Games(pos("| 3:2 1:1"), pos("5:1 |")), Seats(0, 0)).net_for_A == 7 + 5
    assert settle(DEFAULT, Games(pos("| 3:2 1:1"), pos("| 5:1")), Seats(0, 0)).net_for_A == 7 - 5


# -------------------------------------------------------------------------------------------------- §7.3 the time

LINEAR = {"mode": "linear", "threshold_ms": 60_000, "ms_per_point": 20_000, "cap_num": 1, "cap_den": 4}


@pytest.mark.parametrize(
    ("points", "slower", "b"),
    [
        pytest.param(40, -500_000, 0, id="the loser was slower"),
        pytest.param(40, 0, 0, id="level"),
        pytest.param(40, 60_000, 0, id="exactly the threshold"),
        pytest.param(40, 79_999, 0, id="a ms short of a point"),
        pytest.param(40, 80_000, 1, id="exactly a point"),
        pytest.param(40, 80_001, 1, id="a ms more"),
        pytest.param(40, 99_999, 1, id="a ms short of two"),
        pytest.param(40, 259_999, 9, id="a ms short of the cap"),
        pytest.param(40, 260_000, 10, id="the cap: a quarter"),
        pytest.param(40, 9_000_000, 10, id="and no more"),
        pytest.param(39, 9_000_000, 9, id="a quarter, rounded down"),
        pytest.param(3, 9_000_000, 0, id="a quarter of three is none"),
        pytest.param(1, 9_000_000, 0, id="one point is never touched"),
    ],
)
def test_linear_assessment(points: int, slower: int, b: int) -> None:
    """CASES E11. Exact equality and a ms to either side."""
    assert time_adjustment(rules(time=LINEAR), points, slower, 10_000_000) == b


@pytest.mark.parametrize(
    ("points", "slower", "winner_ms", "b"),
    [
        pytest.param(40, 60_000, 100_000, 0, id="exactly the threshold"),
        pytest.param(40, 60_001, 60_001, 10, id="a ms more, all of the winner's time"),
        pytest.param(40, 60_001, 600_010, 1, id="a tenth of it"),
        pytest.param(40, 399_999, 1_000_000, 3, id="a part, rounded down"),
        pytest.param(40, 400_000, 1_000_000, 4, id="exactly"),
        pytest.param(1, 400_000, 400_000, 0, id="one point is never touched"),
    ],
)
def test_relative_assessment(points: int, slower: int, winner_ms: int, b: int) -> None:
    """CASES E11"""
    assert time_adjustment(rules(time={**LINEAR, "mode": "relative"}), points, slower, winner_ms) == b


def test_time_can_take_all_but_the_last_point() -> None:
    whole = rules(time={**LINEAR, "cap_num": 1, "cap_den": 1})
    assert time_adjustment(whole, 40, 9_000_000, 10_000_000) == 39


def test_time_is_no_winner_of_a_drawn_match() -> None:
    """§6.3"""
    level = Games(pos("|"), pos("|"))
    score = settle(rules(time=LINEAR), level, Seats(9_000_000, 0))
    assert (score.winner, score.points, score.time_adjustment) == (None, Seats(0, 0), 0)


@pytest.mark.parametrize(
    ("settlement", "points"), [("symmetric", Seats(30, -30)), ("loser_only", Seats(40, -30))]
)
def test_who_pays_for_the_time(settlement: str, points: Seats[int]) -> None:
    games = Games(pos("| 6:5 5:2"), pos("6:5 | 6:5"))
    score = settle(rules(time={**LINEAR, "settlement": settlement}), games, Seats(900_000, 0))
    assert score.points == points
    assert score.time_adjustment == 10


def test_time_is_not_assessed_against_the_computer() -> None:
    games = Games(pos("| 6:5 5:2"), pos("6:5 | 6:5"))
    score = settle(rules(time=LINEAR), games, Seats(900_000, 0), assess_time=False)
    assert (score.time_adjustment, score.points) == (0, Seats(40, -40))


# ---------------------------------------------------------------------------------------------- §8.1 the concession

START = "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5"


@pytest.mark.parametrize(
    ("scoring", "round_end", "phase_end", "points", "loss_class"),
    [
        pytest.param("pips", "6:10 | 6:10", "6:10 | 6:10", 60, "oin", id="pips: what stands there"),
        pytest.param(
            "pips", "6:10 | 6:10", "bar:1 6:9 | 6:10", 79, "oin", id="hit in the finished phase: dearer"
        ),
        pytest.param(
            "pips", "bar:1 6:9 | 6:10", "6:10 | 6:10", 79, "oin", id="moved in the finished phase: dearer"
        ),
        pytest.param(
            "checkers", "6:15 | 6:10", "6:15 | 6:10", 15, "mars", id="checkers: all that are not off"
        ),
        pytest.param("classic", START, START, 2, "mars", id="classic: mars while nothing is off"),
        pytest.param("classic", "6:14 | 6:10", "6:14 | 6:10", 1, "oin", id="classic: one is off"),
        pytest.param(
            "classic", "6:15 | 6:10", "6:14 | 6:10", 2, "mars", id="classic: the first off too late"
        ),
        pytest.param(
            "classic", "24:1 6:14 | 6:15", "24:1 6:14 | 6:15", 2, "mars", id="no koks: nothing borne off"
        ),
        pytest.param("classic", "24:1 6:14 | 6:14", "24:1 6:14 | 6:14", 3, "koks", id="koks: he bears off"),
        pytest.param(
            "classic", "24:1 6:14 | 6:15", "24:1 6:14 | 6:14", 3, "koks", id="koks since this phase"
        ),
    ],
)
def test_the_price_of_giving_up(
    scoring: str, round_end: str, phase_end: str, points: int, loss_class: str
) -> None:
    """X is the dearer game; A is White there and gives up."""
    cheap = pos("| 1:1")  # Y: nothing of A's is left to lose
    price = concession(
        rules(scoring=scoring, unfinished="none"),
        Games(pos(round_end), cheap.turned()),
        Games(pos(phase_end), cheap.turned()),
        A,
    )
    assert (price.game.value, price.points, price.loss_class) == ("X", points, loss_class)


@pytest.mark.parametrize(
    ("changes", "game", "points"),
    [
        pytest.param({}, "X", 60 - 24, id="the loser's own lead in the other game is deducted"),
        pytest.param({"unfinished": "none"}, "X", 60, id="unless there is no credit"),
        pytest.param({"forfeit_cap": 20}, "X", 20, id="never more than the cap"),
        pytest.param({"forfeit_min": 50}, "X", 50, id="never less than the least"),
        pytest.param({"pips_cap": 50}, "X", 50 - 24, id="pips cut before adding"),
        pytest.param({"pips_cap": 20}, "Y", 20, id="the credit too, and then Y is dearer"),
    ],
)
def test_the_other_game_and_the_limits(changes: dict[str, Any], game: str, points: int) -> None:
    """A has 60 pips in X against 12; in Y he is nearly off, 48 ahead: half of that is his credit, 24 the opponent's."""
    ends = Games(pos("6:10 | 6:2"), pos("6:8 |"))
    price = concession(rules(**changes), ends, ends, A)
    assert (price.game.value, price.points) == (game, points)


def test_the_credit_is_that_of_the_last_rounds_end() -> None:
    round_end = Games(pos("6:10 | 6:2"), pos("6:2 | 6:2"))
    phase_end = Games(pos("6:10 | 6:2"), pos("6:2 | 1:1"))  # what moved in Y since then does not count
    assert concession(DEFAULT, round_end, phase_end, A).points == 60


def test_two_equal_games_concede_x() -> None:
    level = Games(pos("6:5 | 6:5"), pos("6:5 | 6:5"))
    assert {concession(DEFAULT, level, level, seat).game.value for seat in Seat} == {"X"}


def test_a_result_is_a_pure_function_of_the_positions_and_the_clocks() -> None:
    """CASES A15"""
    games = Games(pos("| 6:5 5:2"), pos("6:5 | 6:4"))
    again = Games(pos("| 6:5 5:2"), pos("6:5 | 6:4"))
    score = settle(DEFAULT, games, Seats(500_000, 100_000))
    assert score == settle(DEFAULT, again, Seats(500_000, 100_000))
    assert score.outcome is Outcome.FINISHED

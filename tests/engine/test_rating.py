"""§10 Ratings: points, which are added, and strength, which is Glicko-2."""

import math
from random import Random
from typing import Any

import pytest
from glicko2 import Player

from engine.rating import Strength, both_after, points_after, strength_after, truncated
from tests.builders import data, rules

CASES = {case["id"]: case for case in data("match_cases.json")["cases"] if case["kind"] == "rating"}


@pytest.mark.parametrize(
    ("before", "points", "num", "den", "after"),
    [
        pytest.param(1_000, 22, 1, 1, 1_022, id="a win is added"),
        pytest.param(1_000, -22, 1, 1, 978, id="a loss is taken"),
        pytest.param(1_000, 0, 1, 1, 1_000, id="a draw is nothing"),
        pytest.param(5, -22, 1, 1, -17, id="it may go negative"),
        pytest.param(-17, -3, 1, 1, -20, id="and on"),
        pytest.param(1_000, 2, 10, 1, 1_020, id="classic, ten a point"),
        pytest.param(1_000, 7, 1, 2, 1_003, id="half, truncated"),
        pytest.param(1_000, -7, 1, 2, 997, id="toward zero for the loser too"),
        pytest.param(-1, -1, 1, 2, -1, id="the points are truncated, not the sum"),
    ],
)
def test_points_are_added(before: int, points: int, num: int, den: int, after: int) -> None:
    assert points_after(before, points, rules(rating_num=num, rating_den=den)) == after


@pytest.mark.parametrize(
    ("num", "den", "whole"), [(7, 2, 3), (-7, 2, -3), (6, 2, 3), (-6, 2, -3), (0, 5, 0), (-1, 2, 0)]
)
def test_truncation_is_toward_zero(num: int, den: int, whole: int) -> None:
    assert truncated(num, den) == whole


def test_the_start_rating_after_a_qualifying() -> None:
    case = CASES["G08"]
    given = case["input"]
    assert [points_after(given["base"], points, rules()) for points in given["points"]] == case["expected"][
        "start"
    ]


def test_the_published_example_of_glicko_2() -> None:
    case = CASES["G07"]
    given, expected = case["input"], case["expected"]
    opponents = [(Strength(r, rd, 0.06), score) for r, rd, score in given["opponents"]]
    after = strength_after(Strength(given["r"], given["rd"], given["vol"]), opponents, given["tau"])
    assert after.r == pytest.approx(expected["r"], abs=case["tolerance"])
    assert after.rd == pytest.approx(expected["rd"], abs=case["tolerance"])
    assert after.vol == pytest.approx(expected["vol"], abs=1e-5)


def somebody(chance: Random) -> Strength:
    return Strength(chance.uniform(600, 2_600), chance.uniform(30, 350), chance.uniform(0.03, 0.12))


def some_games(chance: Random, number: int) -> list[tuple[Strength, float]]:
    return [(somebody(chance), chance.choice([0.0, 0.5, 1.0])) for _ in range(number)]


def by_the_package(before: Strength, games: list[tuple[Strength, float]]) -> Strength:
    """The same period by PyPI's `glicko2`, whose τ is 0.5 too."""
    player: Any = Player(before.r, before.rd, before.vol)
    if games:
        player.update_player([o.r for o, _ in games], [o.rd for o, _ in games], [score for _, score in games])
    else:
        player._preRatingRD()
    return Strength(player.rating, player.rd, player.vol)


@pytest.mark.parametrize("seed", range(60))
def test_another_implementation_agrees(seed: int) -> None:
    """That package squares the rating where step 5 has the deviation, so the two are compared where these are alike:
    for players whose rating lies as far from 1500 as its deviation is wide.
    """
    chance = Random(seed)
    games = some_games(chance, seed % 8)
    deviation = chance.uniform(30, 350)
    before = Strength(1500 + chance.choice([-1, 1]) * deviation, deviation, chance.uniform(0.03, 0.12))
    ours, theirs = strength_after(before, games), by_the_package(before, games)
    assert ours.r == pytest.approx(theirs.r, abs=1e-6)
    assert ours.rd == pytest.approx(theirs.rd, abs=1e-6)
    assert ours.vol == pytest.approx(theirs.vol, abs=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_the_volatility_is_the_root_that_the_paper_asks_for(seed: int) -> None:
    """Steps 3–8 once more for any player, the root of step 5 by plain bisection near the old volatility."""
    chance = Random(seed)
    before, games = somebody(chance), some_games(chance, 1 + seed % 3)
    scale, tau = 173.7178, 0.5
    mu, phi = (before.r - 1500) / scale, before.rd / scale
    information = gain = 0.0
    for opponent, score in games:
        g = 1 / math.sqrt(1 + 3 * (opponent.rd / scale) ** 2 / math.pi**2)
        expected = 1 / (1 + math.exp(-g * (mu - (opponent.r - 1500) / scale)))
        information += g * g * expected * (1 - expected)
        gain += g * (score - expected)
    v, delta, a = 1 / information, gain / information, math.log(before.vol**2)

    def f(x: float) -> float:
        e = math.exp(x)
        return e * (delta**2 - phi**2 - v - e) / (2 * (phi**2 + v + e) ** 2) - (x - a) / tau**2

    low, high = a - 1, a + 1
    assert f(low) > 0 > f(high)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) > 0 else (low, middle)
    vol = math.exp(low / 2)
    phi_after = 1 / math.sqrt(1 / (phi**2 + vol**2) + information)
    after = strength_after(before, games)
    assert after.vol == pytest.approx(vol, abs=1e-6)
    assert after.rd == pytest.approx(scale * phi_after, abs=1e-3)
    assert after.r == pytest.approx(1500 + scale * (mu + phi_after**2 * gain), abs=1e-3)


def test_one_match_is_one_period_from_the_published_start() -> None:
    assert Strength() == Strength(1500.0, 350.0, 0.06)
    won, lost = both_after(Strength(), Strength(), 1.0)
    assert won == strength_after(Strength(), [(Strength(), 1.0)])
    assert lost == strength_after(Strength(), [(Strength(), 0.0)])
    assert won.r - 1500 == pytest.approx(1500 - lost.r)
    assert won.rd == lost.rd < 350


@pytest.mark.parametrize("seed", range(20))
def test_a_result_moves_a_rating_the_way_of_the_result(seed: int) -> None:
    """§10.2: H4"""
    chance = Random(seed)
    a, b = (Strength(chance.uniform(400, 2_900), chance.uniform(30, 350), 0.06) for _ in range(2))
    won, lost = both_after(a, b, 1.0)
    assert won.r > a.r
    assert lost.r < b.r


def test_who_does_not_play_grows_uncertain_and_nothing_else() -> None:
    before = Strength(1_700.0, 80.0, 0.06)
    after = strength_after(before, [])
    assert (after.r, after.vol) == (before.r, before.vol)
    assert after.rd == pytest.approx(math.hypot(80.0, 0.06 * 173.7178))


def test_ratings_are_recomputed_to_the_last_digit() -> None:
    def run() -> list[Strength]:
        chance = Random(7)
        players = [Strength() for _ in range(6)]
        for _ in range(200):
            i, j = chance.sample(range(6), 2)
            players[i], players[j] = both_after(players[i], players[j], chance.choice([0.0, 0.5, 1.0]))
        return players

    assert run() == run()

"""§12.1–12.2 The qualifying round against the computer, and what follows from it."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from engine.competition import commands as c
from engine.competition.competition import Competition
from engine.competition.meeting import COMPUTER, Ending, MatchResult
from engine.competition.overview import (
    MatchOrder,
    matches_due,
    next_for,
    places,
    points_ratings,
    shown_rounds,
)
from engine.competition.qualifying import shared_seed
from engine.competition.stages import start_ratings, tables_of
from engine.dice import NO_SEED, DiceSeeds, roll_for
from engine.turn import FIRST_TURN, Seats
from tests.support.organiser import Event, by_strength

STAGES: list[Any] = [{"kind": "qualifying", "matches": 2}, {"kind": "groups", "size": 4}]


def play_board(event: Event, results: dict[int, tuple[int, int]]) -> None:
    """One board for all: points and thinking time (ms) of each entrant."""
    event.open_round()
    for entrant, (points, ms) in results.items():
        event.play(entrant, COMPUTER, points, times=(ms, 0))
    event.close()


def a_qualifying() -> Event:
    """After two boards: 2 and 3 have 30 points, 3 with less time; 1 has 5, 4 lost 40."""
    event = Event(4, stages=STAGES).begin()
    play_board(event, {1: (10, 100), 2: (20, 500), 3: (20, 100), 4: (-30, 100)})
    play_board(event, {1: (-5, 100), 2: (10, 500), 3: (10, 100), 4: (-10, 100)})
    return event


def test_all_play_the_computer_at_once_on_the_same_dice() -> None:
    """CASES G18. One id of the board in everybody's dice text; the entrant is White on X; ids of matches differ."""
    event = Event(3, stages=STAGES).begin()
    event.open_round()
    orders = matches_due(event.competition)
    assert {order.dice_id for order in orders} == {"cup-Q1"}
    assert [order.entrants for order in orders] == [Seats(n, COMPUTER) for n in (1, 2, 3)]
    assert len({order.id for order in orders}) == 3


def test_the_dice_of_a_board_are_everybody_s() -> None:
    seeds = ["a" * 32, "b" * 32, NO_SEED]
    expected = hashlib.sha256(f"{NO_SEED}|{'a' * 32}|{'b' * 32}".encode()).hexdigest()[:32]
    assert shared_seed(seeds) == shared_seed(reversed(seeds)) == expected
    board = DiceSeeds(bytes(32), "cup-Q1", Seats(expected, NO_SEED))
    other = DiceSeeds(bytes(32), "cup-Q2", Seats(expected, NO_SEED))
    rolls = [[roll_for(each, FIRST_TURN, opening_double=False) for _ in range(2)] for each in (board, other)]
    assert rolls[0][0] == rolls[0][1]


def test_the_start_rating_is_the_base_and_all_settled_points() -> None:
    event = a_qualifying()
    assert start_ratings(event.competition) == {1: 1005, 2: 1030, 3: 1030, 4: 960}


def test_order_is_rating_then_less_time() -> None:
    (table,) = tables_of(a_qualifying().competition, a_qualifying().stage)
    assert table.order == (3, 2, 1, 4)
    assert [row.decided_by for row in table.rows] == [
        None,
        "less_time",
        "point_difference",
        "point_difference",
    ]


def test_then_the_lot() -> None:
    event = Event(5, stages=STAGES).begin()
    play_board(event, dict.fromkeys(range(1, 6), (7, 100)))
    (table,) = tables_of(event.competition, event.stage)
    assert list(table.order) == sorted(range(1, 6), key=event.competition.lot)


def test_nothing_of_any_board_is_seen_before_it_is_closed() -> None:
    """§5.4, §12.1: what everybody may see is the same, byte for byte, whatever has come in."""

    def seen(points: int | None) -> str:
        event = a_first_board()
        if points is not None:
            event.play(1, COMPUTER, points)
        competition, stage = event.competition, event.stage
        others = next_for(competition, 2, event.now)
        return repr(
            (
                shown_rounds(stage),
                tables_of(competition, stage),
                places(competition),
                points_ratings(competition),
                others,
            )
        )

    assert seen(None) == seen(30) == seen(-30)
    event = a_first_board()
    for entrant in (1, 2, 3):
        event.play(entrant, COMPUTER, 10 * entrant)
    hidden = repr(shown_rounds(event.stage))
    event.close()
    assert "played" not in hidden
    assert "played" in repr(shown_rounds(event.stage))


def a_first_board() -> Event:
    event = Event(3, stages=STAGES).begin()
    event.open_round()
    return event


def test_a_board_never_begun_or_missed_is_conceded() -> None:
    """A match left or never begun costs 90 at the start; so do the boards that a late entrant has missed."""
    event = Event(2, stages=STAGES, entry={"late_rounds": 2}).begin()
    event.open_round()
    event.play(1, COMPUTER, 10)
    event.do(c.ReportAbsence(event.ref(2), (2,), event.now + 300_000))
    event.close()
    event.do(c.Register("late", event.now))
    play_board(event, {1: (10, 100), 2: (10, 100), 3: (50, 100)})
    assert start_ratings(event.competition) == {1: 1020, 2: 920, 3: 960}


def test_a_match_left_in_its_first_phase_is_conceded_too() -> None:
    event = a_first_board()
    order = event.order(1, COMPUTER)
    result = MatchResult(order.id, Ending.NO_SHOW, by=order_seat(order, 1))
    event.do(c.ReportResult(result, event.now))
    assert event.verdict(1).points == (-90, 90)


def order_seat(order: MatchOrder, entrant: int) -> Any:
    from engine.turn import Seat

    return Seat.A if entrant == order.entrants.A else Seat.B


def test_then_leaders_play_leaders() -> None:
    """§12.2: groups from the top, all-play-all inside; places go by group, then by settled points."""
    event = Event(8, stages=STAGES).begin()
    for _ in range(2):
        play_board(event, {n: (10 * n, 100) for n in range(1, 9)})
    event.open_round()
    assert event.stage.groups == ((8, 7, 6, 5), (4, 3, 2, 1))
    event.play_rest(by_number)
    event.close()
    for _ in range(2):
        event.play_round(by_number)
    assert event.competition.settings.ranks_by == "point_difference"
    assert [place.entrant for place in places(event.competition)] == [8, 7, 6, 5, 4, 3, 2, 1]


def by_number(competition: Competition, order: MatchOrder) -> MatchResult:
    """The higher number wins by the difference."""
    points = order.entrants.A - order.entrants.B
    return MatchResult(order.id, Ending.PLAYED, Seats(points, -points), points, rated=True)


def test_who_has_left_leaves_his_place_in_the_groups_to_the_next() -> None:
    event = Event(
        9,
        stages=[
            {"kind": "qualifying", "matches": 1},
            {
                "kind": "groups",
                "size": 4,
            },
        ],
    ).begin()
    play_board(event, {n: (-n, 100) for n in range(1, 10)})
    event.do(c.Withdraw(2, "player-2", event.now))
    event.draw()
    assert event.stage.groups == ((1, 3, 4, 5), (6, 7, 8, 9))


def test_the_best_of_all_or_of_each_group_go_on() -> None:
    for taking, seeds in (({"take": 4}, (8, 7, 6, 5)), ({"take_per_group": 2}, (8, 4, 3, 7))):
        stages = [*STAGES, {"kind": "single_elimination", **taking}]
        event = Event(8, stages=stages).begin()
        for _ in range(2):
            play_board(event, {n: (10 * n, 100) for n in range(1, 9)})
        for _ in range(3):
            event.play_round(by_number)
        event.draw()
        assert set(event.stage.seeds) == set(seeds)
        groups = event.competition.stages[1].groups
        for one, other in event.pairs():
            assert "take" in taking or not any({one, other} <= set(group) for group in groups)


def test_promotion_and_relegation_between_stages_of_groups() -> None:
    stages = [
        {"kind": "qualifying", "matches": 1},
        {"kind": "groups", "size": 4},
        {"kind": "groups", "size": 4, "exchange": 1},
    ]
    event = Event(8, stages=stages).begin()
    play_board(event, {n: (10 * n, 100) for n in range(1, 9)})
    for _ in range(3):
        event.play_round(by_number)
    event.draw()
    assert event.stage.groups == ((8, 7, 6, 4), (5, 3, 2, 1))


def test_matches_against_the_computer_move_the_competition_s_points_alone() -> None:
    """CASES H3. §10.2: they are not rated; the points rating of the competition has them through the start rating."""
    event = Event(8, stages=STAGES).begin()
    event.play_round()
    event.play_round()
    start = start_ratings(event.competition)
    assert points_ratings(event.competition) == start
    event.play_round(by_strength)
    assert sum(points_ratings(event.competition).values()) == sum(start.values())
    assert points_ratings(event.competition) != start


@pytest.mark.parametrize("entrants", [2, 5, 9, 17])
def test_a_round_of_the_qualifying_has_a_table_for_everybody(entrants: int) -> None:
    event = Event(entrants, stages=STAGES).begin()
    assert event.open_round() == [(n, COMPUTER) for n in range(1, entrants + 1)]

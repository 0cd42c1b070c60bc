"""§12.5–12.6 Standings and tie-breaks: worked by hand, explained number by number."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.competition import commands as c
from engine.competition.meeting import Ending
from engine.competition.overview import matches_due, points_ratings
from engine.competition.stages import order_of, tables_of
from engine.competition.standings import Part, Table, cross_table, lines_of
from tests.support.organiser import BOSS, Event, by_strength

SWISS = [{"kind": "swiss", "rounds": 9}]


def table(event: Event) -> Table:
    (found,) = tables_of(event.competition, event.stage)
    return found


def column(event: Event, name: str) -> dict[int, float | None]:
    return {row.entrant: row.value(name).value for row in table(event).rows}


def the_worked_example(**changes: Any) -> Event:
    """Five entrants, three rounds, each round with a bye.

    1 beat 3 by 20 and 2 by 10, lost to 4 by 6. 2 drew with 4, lost to 1, beat 5 by 4; bye: 5, 4, 3. 5 beat 3 by 8.
    """
    event = Event(5, stages=SWISS, **changes).begin()
    event.swiss_round((1, 3, 20), (2, 4, 0), (5, None, 0))
    event.swiss_round((1, 2, 10), (5, 3, 8), (4, None, 0))
    event.swiss_round((4, 1, 6), (2, 5, 4), (3, None, 0))
    return event


@pytest.mark.parametrize(
    ("name", "values"),
    [
        pytest.param(
            "match_points", {1: 4, 2: 3, 3: 2, 4: 5, 5: 4}, id="win 2, draw 1, loss 0; a bye is a win"
        ),
        pytest.param(
            "point_difference", {1: 24, 2: -6, 3: -28, 4: 6, 5: 4}, id="settled points added; a bye is 0"
        ),
        pytest.param("buchholz_cut_1", {1: 8, 2: 9, 3: 8, 4: 9, 5: 7}, id="opponents without the lowest"),
        pytest.param("sonneborn_berger", {1: 5, 2: 6.5, 3: 1, 4: 8, 5: 4}, id="beaten, and half of drawn"),
        pytest.param("wins", {1: 2, 2: 1, 3: 1, 4: 2, 5: 2}, id="a bye is a win"),
        pytest.param(
            "less_time", {1: 300_000, 2: 300_000, 3: 200_000, 4: 200_000, 5: 200_000}, id="time, added"
        ),
    ],
)
def test_numbers_of_the_worked_example(name: str, values: dict[int, float]) -> None:
    """CASES G7. An unplayed round counts as a draw with an opponent of one's own final score (§12.5)."""
    assert column(the_worked_example(), name) == values


@pytest.mark.parametrize(
    ("changes", "order"),
    [
        pytest.param({}, [4, 1, 5, 2, 3], id="match points, then points"),
        pytest.param({"rank_by": "point_difference"}, [1, 4, 5, 2, 3], id="points first"),
        pytest.param({"tie_breaks": ["sonneborn_berger"]}, [4, 1, 5, 2, 3], id="Sonneborn-Berger next"),
        pytest.param({"tie_breaks": ["less_time"]}, [4, 5, 1, 2, 3], id="less time next"),
    ],
)
def test_places_of_the_worked_example(changes: dict[str, Any], order: list[int]) -> None:
    assert list(table(the_worked_example(**changes)).order) == order


def test_every_number_says_from_which_meetings_it_comes() -> None:
    """CASES G7: of the winner's Buchholz the lowest opponent is cut, and the bye counts as his own score."""
    row = table(the_worked_example()).rows[0]
    assert row.entrant == 4
    assert row.value("buchholz_cut_1").parts == (
        Part(1, 2, 3, "cut"),
        Part(2, None, 5, "unplayed"),
        Part(3, 1, 4),
    )
    assert row.value("sonneborn_berger").parts == (
        Part(1, 2, 1.5),
        Part(2, None, 2.5, "unplayed"),
        Part(3, 1, 4),
    )
    assert row.value("match_points").parts == (Part(1, 2, 1), Part(2, None, 2), Part(3, 1, 2))


def test_a_row_says_what_set_it_apart_from_the_one_above() -> None:
    decided = [(row.place, row.entrant, row.decided_by) for row in table(the_worked_example()).rows]
    assert decided == [
        (1, 4, None),
        (2, 1, "match_points"),
        (3, 5, "point_difference"),
        (4, 2, "match_points"),
        (5, 3, "match_points"),
    ]


@pytest.mark.parametrize(
    ("bye_points", "points"),
    [
        pytest.param("zero", 0, id="0 points"),
        pytest.param("median", 20, id="what the winner in the middle has won"),
    ],
)
def test_the_points_of_a_bye(bye_points: str, points: int) -> None:
    """§12.6"""
    event = Event(7, stages=SWISS, bye_points=bye_points).begin()
    event.swiss_round((1, 2, 50), (4, 3, 20), (5, 6, 10), (7, None, 0))
    assert column(event, "point_difference")[7] == points


def test_the_median_of_an_even_number_is_the_lower() -> None:
    event = Event(5, stages=SWISS, bye_points="median").begin()
    event.swiss_round((1, 2, 50), (4, 3, 20), (5, None, 0))
    assert column(event, "point_difference")[5] == 20


# ------------------------------------------------------------------------------------------------ direct encounter


def all_play_all(results: dict[tuple[int, int], int], entrants: int, **changes: Any) -> Event:
    """A round robin with these results; all others are drawn."""
    event = Event(entrants, stages=["round_robin"], **changes).begin()

    while True:
        for one, other in event.open_round():
            assert other is not None
            points = results.get((one, other), -results.get((other, one), 0))
            event.play(one, other, points)
        event.close()
        if len(event.stage.rounds) == entrants - (entrants % 2 == 0):
            return event


DIRECT = ["direct_encounter", "point_difference"]


def test_of_two_who_are_tied_the_one_who_beat_the_other_is_ahead() -> None:
    """1 and 2 have 4 points each; 2 beat 1, though 1 has more points."""
    event = all_play_all(
        {(2, 1): 1, (1, 3): 50, (1, 4): 50, (4, 2): 1, (2, 3): 1, (3, 4): 2}, 4, tie_breaks=DIRECT
    )
    assert list(table(event).order)[:2] == [2, 1]
    row = table(event).rows[0]
    assert row.value("direct_encounter").value == 2
    assert row.value("direct_encounter").parts == (Part(3, 1, 2),)


def test_three_in_a_circle_are_told_apart_by_what_comes_next() -> None:
    results = {(1, 2): 1, (2, 3): 2, (3, 1): 3, (1, 4): 1, (2, 4): 1, (3, 4): 2}
    event = all_play_all(results, 4, tie_breaks=DIRECT)
    rows = table(event).rows[:3]
    assert [row.value("direct_encounter").value for row in rows] == [2, 2, 2]
    assert [(row.entrant, row.decided_by) for row in rows] == [
        (3, None),
        (2, "point_difference"),
        (1, "point_difference"),
    ]


def test_direct_encounter_says_nothing_unless_all_who_are_tied_have_met() -> None:
    """1, 2 and 3 have won one each; 1 beat nobody of them and met only 2."""
    event = Event(6, stages=SWISS, tie_breaks=["direct_encounter", "point_difference"]).begin()
    event.swiss_round((1, 4, 3), (2, 5, 2), (3, 6, 1))
    event.swiss_round((1, 2, 0), (3, 4, 0), (5, 6, 5))
    tied = table(event).rows[:3]
    assert [row.entrant for row in tied] == [1, 2, 3]
    assert {row.value("direct_encounter").why for row in tied} == {"not-all-met"}


def test_who_is_alone_on_his_score_has_no_direct_encounter() -> None:
    event = all_play_all({(1, 2): 1}, 2)
    assert table(event).rows[0].value("direct_encounter").why == "not-tied"


def test_the_lot_leaves_no_tie() -> None:
    """Everything drawn in equal time: only the lot is left, and it is the same each time."""
    event = all_play_all({}, 6)
    rows = table(event).rows
    assert [row.value("lot").value for row in rows] == [1, 2, 3, 4, 5, 6]
    assert {row.decided_by for row in rows[1:]} == {"lot"}
    assert list(table(event).order) == sorted(range(1, 7), key=event.competition.lot)


# --------------------------------------------------------------------------------- absence, leaving, penalties (§12.6)


def test_a_no_show_costs_as_much_as_a_concession_and_gives_it_to_the_other() -> None:
    event = Event(2, stages=SWISS).begin()
    event.open_round()
    event.do(c.ReportAbsence(event.ref(1, 2), (2,), event.now + 300_000))
    assert column(event, "match_points") == {1: 2, 2: 0}
    assert column(event, "point_difference") == {1: 90, 2: -90}


def test_who_never_played_ranks_last() -> None:
    """CASES G10. 3 has lost by much; 2 and 4 stayed away, both, and lost with 0."""
    event = Event(4, stages=SWISS).begin()
    event.open_round()
    event.play(1, 3, 60)
    event.do(c.ReportAbsence(event.ref(2, 4), (2, 4), event.now + 300_000))
    rows = table(event).rows
    assert [row.came for row in rows] == [True, True, False, False]
    assert list(table(event).order)[:2] == [1, 3]
    assert rows[2].decided_by == "never-played"


def test_who_came_in_vain_has_come() -> None:
    event = Event(4, stages=SWISS).begin()
    event.open_round()
    event.play(1, 3, 60)
    event.do(c.ReportAbsence(event.ref(2, 4), (4,), event.now + 300_000))
    assert list(table(event).order) == [2, 1, 3, 4]


def test_leaving_a_swiss_keeps_what_was_won_and_no_more() -> None:
    event = Event(4, stages=SWISS).begin()
    event.swiss_round((1, 3, 20), (2, 4, 10))
    event.do(c.Withdraw(1, "player-1", event.now))
    assert event.draw() == [(2, 3), (4, None)]
    event.let_begin()
    event.play(2, 3, 5)
    event.close()
    assert column(event, "match_points") == {1: 2, 2: 4, 3: 0, 4: 2}
    assert column(event, "buchholz_cut_1")[1] == 2  # the round without him: a draw with himself; 3 is cut


def leaving(played: int) -> Event:
    """A round robin of five: entrant 1 wins so many matches by 7 and leaves; the rest is drawn, round by round."""
    event = Event(5, stages=["round_robin"]).begin()
    while len(event.stage.rounds) < 5:
        for one, other in event.open_round():
            assert other is not None
            if event.verdict(one, other).is_open:
                event.play(one, other, 7 if one == 1 else -7 if other == 1 else 0)
        event.close()
        if sum(line.played for line in lines_of(event.competition, event.stage)[1]) == played:
            event.do(c.Withdraw(1, "player-1", event.now))
    return event


def test_leaving_an_all_play_all_with_under_half_played_annuls_it() -> None:
    """Of four matches one was played: it counts for nobody, and the others met among themselves alone."""
    event = leaving(played=1)
    assert column(event, "match_points") == {1: 0, 2: 3, 3: 3, 4: 3, 5: 3}
    assert column(event, "point_difference") == {1: 0, 2: 0, 3: 0, 4: 0, 5: 0}
    assert {row.entrant: row.played for row in table(event).rows} == {1: 0, 2: 3, 3: 3, 4: 3, 5: 3}
    assert table(event).order[-1] == 1


def test_leaving_an_all_play_all_later_loses_the_rest() -> None:
    """Of four matches two were played: they stand, and the other two are technical losses."""
    event = leaving(played=2)
    lines = lines_of(event.competition, event.stage)
    assert [(line.outcome, line.how, line.points) for line in lines[1]] == [
        ("win", "played", 7),
        ("win", "played", 7),
        ("loss", "forfeit", -90),
        ("loss", "forfeit", -90),
    ]
    beaten = {line.opponent for line in lines[1] if line.how == "played"}
    points = {n: 3 if n in beaten else 5 for n in (2, 3, 4, 5)}
    assert column(event, "match_points") == {1: 4} | points


def test_a_penalty_is_taken_and_shown() -> None:
    event = the_worked_example()
    event.do(c.Penalise(4, BOSS, "stalling", event.now, match_points=1, points=5))
    row = next(row for row in table(event).rows if row.entrant == 4)
    assert (row.value("match_points").value, row.value("point_difference").value) == (4, 1)
    assert row.value("match_points").parts[-1] == Part(None, None, -1, "penalty")
    assert list(table(event).order) == [1, 5, 4, 2, 3]
    assert column(event, "buchholz_cut_1")[1] == 8  # what he had won counts for his opponents


# ------------------------------------------------------------------------------------------------ objective results


def test_ranked_by_objective_result_the_standing_is_provisional_until_all_is_analysed() -> None:
    """§6.4"""
    event = Event(4, stages=SWISS, rank_by="objective_result").begin()
    event.open_round()
    orders = {frozenset((o.entrants.A, o.entrants.B)): o for o in matches_due(event.competition)}
    event.play(1, 3, 50, objective=-0.75)
    event.play(2, 4, -50)
    event.close()
    found = table(event)
    assert (found.provisional, found.analysed, found.analysable) == (True, 1, 2)
    order = orders[frozenset((2, 4))]
    event.do(c.ReportObjective(order.id, 0.5 if order.entrants.A == 2 else -0.5, "bgsage", event.now))
    found = table(event)
    assert (found.provisional, found.analysed, found.analysable) == (False, 2, 2)
    assert list(found.order) == [3, 2, 4, 1]
    assert column(event, "objective_result") == {3: 0.75, 2: 0.5, 4: -0.5, 1: -0.75}


def test_a_missing_analysis_matters_only_where_a_place_hangs_on_it() -> None:
    event = Event(2, stages=SWISS).begin()
    event.swiss_round((1, 2, 5))
    assert not table(event).provisional
    drawn = Event(2, stages=SWISS, tie_breaks=["objective_result"]).begin()
    drawn.swiss_round((1, 2, 0))
    assert table(drawn).provisional


def test_matches_that_were_not_played_need_no_analysis() -> None:
    event = Event(2, stages=SWISS, rank_by="objective_result").begin()
    event.open_round()
    event.do(c.ReportAbsence(event.ref(1, 2), (2,), event.now + 300_000))
    assert (table(event).provisional, table(event).analysable) == (False, 0)


# -------------------------------------------------------------------------------------------------------- the whole


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 12), st.sampled_from(["swiss", "round_robin", "groups"]), st.randoms(use_true_random=False)
)
def test_standings_do_not_hang_on_the_order_of_results(entrants: int, kind: str, rng: random.Random) -> None:
    tables = []
    for shuffled in (False, True):
        event = Event(entrants, stages=[kind]).begin()
        event.open_round()
        due = list(matches_due(event.competition))
        if shuffled:
            rng.shuffle(due)
        for order in due:
            event.do(c.ReportResult(by_strength(event.competition, order), event.now))
        tables.append(tables_of(event.competition, event.stage))
    assert tables[0] == tables[1]


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 10), st.integers(1, 5))
def test_what_one_wins_another_loses(entrants: int, rounds: int) -> None:
    """Points and objective results of a Swiss without byes add up to nothing, match points to two a meeting."""
    event = Event(2 * entrants, stages=[{"kind": "swiss", "rounds": rounds}]).begin()
    event.play_to_the_end()
    assert sum(v or 0 for v in column(event, "point_difference").values()) == 0
    assert abs(sum(v or 0 for v in column(event, "objective_result").values())) < 1e-9
    assert sum(v or 0 for v in column(event, "match_points").values()) == 2 * entrants * rounds


def test_the_cross_table_shows_each_against_each() -> None:
    event = all_play_all({(1, 2): 9, (3, 1): 4}, 3)
    found = table(event)
    cells = cross_table(found, lines_of(event.competition, event.stage))
    assert found.order == (3, 1, 2)
    shown = [[[line.points for line in cell] for cell in row] for row in cells]
    assert shown == [[[], [4], [0]], [[-4], [], [9]], [[0], [-9], []]]


def test_the_points_rating_of_a_competition_is_the_sum_of_rated_matches() -> None:
    """§10.1, §12.6: a no-show counts in the table, and moves no rating."""
    event = Event(4, stages=SWISS).begin()
    event.open_round()
    event.play(1, 3, 25)
    event.do(c.ReportAbsence(event.ref(2, 4), (4,), event.now + 300_000))
    assert points_ratings(event.competition) == {1: 1025, 2: 1000, 3: 975, 4: 1000}


def test_a_void_match_is_in_no_number() -> None:
    event = Event(2, stages=SWISS).begin()
    event.open_round()
    event.play(1, 2, 30, ending=Ending.VOID)
    event.play(1, 2, -3)
    assert column(event, "point_difference") == {1: -3, 2: 3}
    assert order_of(event.competition, event.stage) == (2, 1)

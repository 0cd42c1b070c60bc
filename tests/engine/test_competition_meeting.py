"""§12.3–12.6 What a meeting is worth: series, drawn knock-outs, absence, rulings. Entrants are 1 and 2."""

from __future__ import annotations

import pytest

from engine.competition.competition import terms_of
from engine.competition.meeting import (
    COMPUTER,
    OPEN,
    Ending,
    MatchResult,
    Meeting,
    Pair,
    Ref,
    Ruling,
    Terms,
    judged,
    match_id,
    place_of,
    qualifying_dice_id,
)
from engine.competition.settings import Qualifying, Series, Swiss, competition_ruleset
from engine.dice import is_dice_id
from engine.match import Leave, Tick, VoidMatch
from engine.turn import Seat, Seats
from tests.builders import A, B, a_match, a_phase, rules

REF = Ref(1, 1, 1)
PRICE = 90


def a_meeting(*results: object, b: int | None = 2, **more: object) -> Meeting:
    """Matches one after the other, each as (points of entrant 1, his ms, ms of 2), or an Ending with who is missed."""
    meeting = Meeting(REF, Pair(1, b))
    found = []
    for number, result in enumerate(results, 1):
        seats = meeting.seats(number)
        mine = Seat.A if seats.A == 1 else Seat.B
        name = match_id("cup", REF, number)
        match result:
            case (Ending() as ending, int(missed)):
                found.append(MatchResult(name, ending, by=mine if missed == 1 else mine.other))
            case Ending() as ending:
                found.append(MatchResult(name, ending))
            case (int(points), int(my_ms), int(ms)):
                found.append(
                    MatchResult(
                        name,
                        Ending.PLAYED,
                        Seats(0, 0).with_(mine, points).with_(mine.other, -points),
                        time_ms=Seats(0, 0).with_(mine, my_ms).with_(mine.other, ms),
                    )
                )
            case int(points):
                found.append(
                    MatchResult(
                        name, Ending.PLAYED, Seats(0, 0).with_(mine, points).with_(mine.other, -points)
                    )
                )
    return Meeting(REF, Pair(1, b), tuple(found), **more)  # type: ignore[arg-type]


def terms(*, matches: int = 1, first_to: int | None = None, knock_out: bool = False) -> Terms:
    return Terms(Series(matches, first_to), knock_out, PRICE)


@pytest.mark.parametrize(
    ("results", "how", "match_points", "points", "winner"),
    [
        pytest.param([14], "played", (2, 0), (14, -14), 1, id="a win"),
        pytest.param([-14], "played", (0, 2), (-14, 14), 2, id="a loss"),
        pytest.param([0], "played", (1, 1), (0, 0), None, id="§6.3 net 0 is a draw, whatever the time"),
        pytest.param([], "open", (0, 0), (0, 0), None, id="nothing yet"),
        pytest.param([Ending.VOID], "open", (0, 0), (0, 0), None, id="a void match is played anew"),
        pytest.param([Ending.VOID, 7], "played", (2, 0), (7, -7), 1, id="and the new one counts"),
        pytest.param([(Ending.NO_SHOW, 2)], "forfeit", (2, 0), (90, -90), 1, id="a no-show costs the cap"),
        pytest.param([(Ending.NO_SHOW, 1)], "forfeit", (0, 2), (-90, 90), 2, id="whoever it is"),
        pytest.param(
            [Ending.BOTH_ABSENT], "both-absent", (0, 0), (0, 0), None, id="both absent: both lose with 0"
        ),
    ],
)
def test_one_match(
    results: list[object],
    how: str,
    match_points: tuple[int, int],
    points: tuple[int, int],
    winner: int | None,
) -> None:
    verdict = judged(a_meeting(*results), terms())
    assert (verdict.how, verdict.match_points, verdict.points, verdict.winner) == (
        how,
        match_points,
        points,
        winner,
    )


@pytest.mark.parametrize(
    ("meeting", "how", "match_points"),
    [
        pytest.param(Meeting(REF, Pair(1, None)), "bye", (2, 0), id="a win, 0 points"),
        pytest.param(Meeting(REF, Pair(1, None, zero=True)), "zero-bye", (0, 0), id="of one who had left"),
        pytest.param(a_meeting(absent=(1,)), "forfeit", (0, 2), id="one has not come"),
        pytest.param(a_meeting(absent=(1, 2)), "both-absent", (0, 0), id="nobody has come"),
    ],
)
def test_meetings_without_a_match(meeting: Meeting, how: str, match_points: tuple[int, int]) -> None:
    verdict = judged(meeting, terms())
    assert (verdict.how, verdict.match_points, verdict.played) == (how, match_points, False)


@pytest.mark.parametrize(
    ("results", "series", "how", "points", "winner"),
    [
        pytest.param([20, -5], {"matches": 3}, "open", (15, -15), None, id="two of three"),
        pytest.param([20, -5, -7], {"matches": 3}, "played", (8, -8), 1, id="more points of all three"),
        pytest.param([5, 5, -30], {"matches": 3}, "played", (-20, 20), 2, id="points, not matches won"),
        pytest.param([5, -5], {"matches": 2}, "played", (0, 0), None, id="as many points: a draw"),
        pytest.param(
            [20, -30, 25], {"matches": 9, "first_to": 40}, "played", (15, -15), 1, id="first to 40 won"
        ),
        pytest.param([20, -30, 5], {"matches": 9, "first_to": 40}, "open", (-5, 5), None, id="not there yet"),
        pytest.param(
            [20, -30], {"matches": 2, "first_to": 40}, "played", (-10, 10), 2, id="no match is left"
        ),
        pytest.param(
            [10, (Ending.NO_SHOW, 2)],
            {"matches": 3},
            "forfeit",
            (190, -190),
            1,
            id="every match not played costs the price",
        ),
        pytest.param(
            [-30, (Ending.NO_SHOW, 2)],
            {"matches": 9, "first_to": 100},
            "forfeit",
            (150, -150),
            1,
            id="until the other has won enough",
        ),
    ],
)
def test_a_series(
    results: list[object], series: dict[str, int], how: str, points: tuple[int, int], winner: int | None
) -> None:
    verdict = judged(a_meeting(*results), terms(**series))  # type: ignore[arg-type]
    assert (verdict.how, verdict.points, verdict.winner) == (how, points, winner)


@pytest.mark.parametrize(
    ("results", "winner", "told_apart_by"),
    [
        pytest.param([3], 1, None, id="won at once"),
        pytest.param([0], "open", None, id="drawn: replayed"),
        pytest.param([0, -3], 2, None, id="the replay decides"),
        pytest.param([(0, 100, 90), (0, 80, 95)], 1, "less_time", id="two draws: less time over both"),
        pytest.param([(0, 100, 90), (0, 80, 85)], 2, "less_time", id="also for the worse seed"),
        pytest.param([(0, 100, 90), (0, 80, 90)], 1, "better_seed", id="equal time: the better seed"),
        pytest.param([0, Ending.VOID], "open", None, id="a void replay is played anew"),
        pytest.param([0, (Ending.NO_SHOW, 1)], 2, None, id="no replay without one of them"),
    ],
)
def test_a_drawn_knock_out(results: list[object], winner: int | str, told_apart_by: str | None) -> None:
    """§12.4"""
    verdict = judged(a_meeting(*results), terms(knock_out=True))
    assert ("open" if verdict.is_open else verdict.winner, verdict.told_apart_by) == (winner, told_apart_by)


def test_a_drawn_series_of_a_knock_out_has_one_match_more() -> None:
    assert judged(a_meeting(7, -7), terms(matches=2, knock_out=True)).is_open
    assert judged(a_meeting(7, -7, -1), terms(matches=2, knock_out=True)).winner == 2


@pytest.mark.parametrize(
    ("results", "ruling", "points", "winner"),
    [
        pytest.param([], Ruling(5, 1, "boss", "why"), (5, -5), 1, id="instead of a match"),
        pytest.param([-20], Ruling(0, None, "boss", "why"), (0, 0), None, id="against what was played"),
    ],
)
def test_an_arbiter_s_ruling_stands(
    results: list[object], ruling: Ruling, points: tuple[int, int], winner: int | None
) -> None:
    verdict = judged(a_meeting(*results, ruling=ruling), terms())
    assert (verdict.how, verdict.points, verdict.winner) == ("ruled", points, winner)


def test_what_was_played_is_not_lost_by_leaving_afterwards() -> None:
    assert judged(a_meeting(9, absent=(1,)), terms()).how == "played"


def test_seats_are_exchanged_from_match_to_match_but_not_against_the_computer() -> None:
    meeting = a_meeting()
    assert [meeting.seats(n) for n in (1, 2, 3)] == [Seats(1, 2), Seats(2, 1), Seats(1, 2)]
    assert a_meeting(b=COMPUTER).seats(2) == Seats(1, COMPUTER)


def test_objective_results_are_turned_with_the_seats() -> None:
    results = tuple(
        MatchResult(match_id("cup", REF, n), Ending.PLAYED, objective_for_A=0.5 * n) for n in (1, 2, 3)
    )
    verdict = judged(Meeting(REF, Pair(1, 2), results), terms(matches=4))
    assert verdict.objective_for_a == (0.5, -1.0, 1.5)
    assert (verdict.analysed, verdict.analysable) == (3, 3)


def test_a_match_id_names_its_place_and_is_good_for_the_dice() -> None:
    name = match_id("spring-cup", Ref(2, 3, 17), 1)
    assert (name, place_of(name)) == ("spring-cup-S2R3T17M1", (Ref(2, 3, 17), 1))
    assert is_dice_id(match_id("x" * 32, Ref(6, 99, 9999), 99))
    assert qualifying_dice_id("spring-cup", 2) == "spring-cup-Q2"
    assert place_of("spring-cup-Q2") is None


# -------------------------------------------------------------------------------------- from the match that was played


def test_a_finished_match_is_taken_with_its_numbers() -> None:
    table = a_phase("9K", "6-6", x="1:1 | 6:2", y="6:3 8:12 | 6:3 8:12", ruleset=rules(time="off"))
    table.play_phase()
    score = table.match.score
    assert score is not None
    result = MatchResult.of("cup-S1R1T1M1", score)
    assert (result.ending, result.points, result.net_for_A) == (Ending.PLAYED, score.points, score.net_for_A)
    assert (result.classes, result.time_ms) == (
        (score.games.X.loss_class, score.games.Y.loss_class),
        score.time_ms,
    )


def test_who_leaves_before_a_first_phase_is_played_is_a_no_show() -> None:
    """§8.4"""
    table = a_match()
    table.play(A)
    table.do(Leave(B, table.at(0)))
    table.do(Tick(table.at(10_000_000)))
    assert table.match.score is not None
    result = MatchResult.of("cup-S1R1T1M1", table.match.score)
    assert (result.ending, result.by, result.rated) == (Ending.NO_SHOW, B, False)


def test_two_who_never_come_are_both_absent() -> None:
    table = a_match(present=False)
    table.do(Tick(table.at(10_000_000)))
    assert table.match.score is not None
    assert MatchResult.of("cup-S1R1T1M1", table.match.score).ending is Ending.BOTH_ABSENT


def test_a_void_match_counts_for_nothing() -> None:
    table = a_match()
    table.do(VoidMatch("boss", "a fault", table.at(1)))
    assert table.match.score is not None
    assert MatchResult.of("cup-S1R1T1M1", table.match.score).ending is Ending.VOID


def test_a_board_of_the_qualifying_never_begun_is_a_concession_at_the_start() -> None:
    """§12.1, §8.1: pips to the cap of 90; on the classic basis mars, since nothing is off and nothing is begun."""
    pips, classic = competition_ruleset(), competition_ruleset("classic")
    assert terms_of(Qualifying(), pips).absence_price == 90
    assert terms_of(Qualifying(), classic).absence_price == 2
    assert terms_of(Swiss(), classic).absence_price == 3
    verdict = judged(a_meeting(absent=(1,), b=COMPUTER), terms_of(Qualifying(), pips))
    assert (verdict.how, verdict.points[0]) == ("forfeit", -90)


def test_nothing_is_decided_before_anything_has_happened() -> None:
    assert Meeting(REF, Pair(1, 2)).verdict == OPEN == judged(Meeting(REF, Pair(1, 2)), terms())

"""§8 Ending early: giving up, flags, absence, offers, arbiters, downtime. Times are ms after the dice came to rest."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from engine.errors import BadDecision, CannotResign, MatchIsPaused, NoDrawOffer, PriceChanged
from engine.match import (
    AcceptDraw,
    AddTime,
    GiveBack,
    Match,
    MatchEnded,
    OfferDraw,
    OrderPause,
    Paused,
    PhaseOpened,
    PlayMade,
    Resign,
    Resume,
    Resumed,
    SetResult,
    Tick,
    VoidMatch,
    absence_ends_at,
    awaited_computers,
    next_deadline,
    resign_price,
    zero_shown_at,
)
from engine.scoring import Outcome
from engine.turn import Game, Seat, Seats
from engine.view import view_for
from tests.builders import MADE_AT, A, B, Table, a_match, a_new_match, a_phase, rules

CLOCK = {"type": "simple", "bank_ms": 10_000, "delay_ms": 3_000}  # zero after 13 s
LAG = 1_000  # the flag waits that much longer for a play on its way
DAY = 24 * 3_600_000


def ended(table: Table) -> tuple[str, Seat | None, int]:
    """How a match ended, by whom, and when."""
    end = table.match.ended
    assert end is not None
    return end.outcome.value, end.by, end.at - table.match.shown_at


def points(match: Match) -> tuple[int, int]:
    assert match.score is not None
    return match.score.points.A, match.score.points.B


# ------------------------------------------------------------------------------------------------- §8.1 resignation


@pytest.mark.parametrize(
    ("scoring", "x", "y", "game", "price"),
    [
        pytest.param("pips", "6:5 | 6:5", "6:5 | 6:6", "Y", 36, id="the dearer game: Y"),
        pytest.param("pips", "6:6 | 6:5", "6:5 | 6:5", "X", 36, id="the dearer game: X"),
        pytest.param("pips", "6:5 | 6:5", "6:5 | 6:5", "X", 30, id="equal: X"),
        pytest.param("pips", "bar:1 6:14 | 6:5", "6:5 | 6:5", "X", 109, id="the bar counts 25"),
        pytest.param("checkers", "6:15 | 6:5", "6:5 | 6:5", "X", 15, id="checkers: mars is all of them"),
        pytest.param("classic", "6:15 | 6:15", "6:5 | 6:5", "X", 2, id="classic: mars is never escaped"),
        pytest.param("classic", "24:1 6:14 | 6:14", "6:5 | 6:5", "X", 3, id="classic: koks"),
        pytest.param("classic", "6:5 | 6:5", "6:5 | 6:5", "X", 1, id="classic: one"),
    ],
)
def test_giving_up_costs_what_was_shown(scoring: str, x: str, y: str, game: str, price: int) -> None:
    """A14. A gives up; in X he is White, in Y Black."""
    table = a_phase("5W", "3-1", x=x, y=y, ruleset=rules(scoring=scoring, unfinished="none"))
    mine = view_for(table.match, A).mine
    assert mine is not None
    assert mine.resign == {"game": game, "points": price}
    table.do(Resign(A, table.turn, price, table.at(2_000)))
    assert ended(table) == ("resigned", A, 2_000)
    assert points(table.match) == (-price, price)
    score = table.match.score
    assert score is not None
    assert score.games[Game(game)].outcome == "C"
    assert score.games[Game(game).other].outcome == "-"
    assert score.winner is B
    assert score.rated
    assert score.time_adjustment == 0


def test_the_price_is_the_same_before_and_after_the_opponents_hidden_play() -> None:
    """Whatever he plays, a hit too, and nothing else that the display gets tells of it."""
    prices, views = set(), set()
    for play in (None, "10/7* 10/9", "6/5 6/3"):
        table = a_phase("5W", "3-1", x="6:5 | 18:1 6:5", y="10:2 6:5 | 18:1 6:5")
        if play is not None:
            table.play(B, play, after=500)
        price = resign_price(table.match, A)
        assert price is not None
        prices.add((price.game, price.points))
        if play is not None:
            views.add(msgspec.json.encode(view_for(table.match, A)))
        table.do(Resign(A, table.turn, price.points, table.at(1_000)))
        prices.add((price.game, -points(table.match)[0]))
    assert len(prices) == 1
    assert len(views) == 1


@pytest.mark.parametrize("wrong", [-1, 1])
def test_a_price_that_was_not_shown_is_refused(wrong: int) -> None:
    table = a_phase("5W", "3-1", x="6:5 | 6:5", y="6:5 | 6:5")
    with pytest.raises(PriceChanged) as refused:
        table.do(Resign(A, table.turn, 30 + wrong, table.at(0)))
    assert refused.value.params == {"shown": 30 + wrong, "now": 30}


def test_giving_up_is_only_for_one_who_owes_a_play() -> None:
    table = a_phase("5W", "3-1")
    table.play(A, "8/5 6/5")
    with pytest.raises(CannotResign):
        table.do(Resign(A, table.turn, 130, table.at(100)))
    mine = view_for(table.match, A).mine
    assert mine is not None
    assert mine.resign is None


def test_the_open_phase_counts_for_nobody() -> None:
    table = a_phase("5W", "3-1", x="6:5 | 6:5", y="6:5 | 6:5")
    before = table.match.games
    table.play(B)
    table.do(Resign(A, table.turn, 30, table.at(100)))
    score = table.match.score
    assert score is not None
    assert (score.games.X.position, score.games.Y.position) == (before.X, before.Y)


def test_time_is_not_assessed_after_a_concession() -> None:
    table = a_phase("5W", "3-1", x="6:5 | 6:5", y="6:5 | 6:5", ruleset=rules(time={"threshold_ms": 0}))
    match = table.match
    slow = replace(match.clocks.B, charged_ms=3_000_000)
    table = Table(replace(match, clocks=Seats(match.clocks.A, slow)))
    table.do(Resign(A, table.turn, 30, table.at(100)))
    assert points(table.match) == (-30, 30)


# ------------------------------------------------------------- §8.1, §8.2, §8.4: one table for three ways of leaving


def give_up(table: Table, seat: Seat) -> None:
    price = resign_price(table.match, seat)
    table.do(Resign(seat, table.turn, price.points if price else 0, table.at(2_000)))


def lose_on_time(table: Table, seat: Seat) -> None:
    table.wait(13_000 + LAG)


def stay_away(table: Table, seat: Seat) -> None:
    table.leave(seat, after=1_000)
    table.wait(6_000)


WAYS = [
    pytest.param(give_up, "resigned", 2_000, id="giving up"),
    pytest.param(lose_on_time, "time", 13_000, id="the flag"),
    pytest.param(stay_away, "abandoned", 6_000, id="absence"),
]
HASTE = rules(clock=CLOCK, absence_s=5, grace_s=0)


@pytest.mark.parametrize(("leave", "outcome", "at"), WAYS)
@pytest.mark.parametrize("seat", list(Seat))
def test_giving_up_flag_and_absence_concede_alike(leave: Any, outcome: str, at: int, seat: Seat) -> None:
    table = a_phase("5W", "3-1", x="6:6 | 6:5", y="6:6 | 6:5", ruleset=HASTE)
    table.play(seat.other)
    leave(table, seat)
    assert ended(table) == (outcome, seat, at)
    # both games are 36 or 30 pips for each: White's is the dearer, less or more half of the other's lead
    assert table.match.score is not None
    assert table.match.score.points[seat] == -(36 - 3)
    assert table.match.score.winner is seat.other


@pytest.mark.parametrize(("leave", "outcome", "at"), WAYS)
@pytest.mark.parametrize("seat", list(Seat))
def test_before_both_have_played_a_first_phase_the_match_is_aborted(
    leave: Any, outcome: str, at: int, seat: Seat
) -> None:
    """§8.4: no rating, no points, and the seed is shown."""
    table = a_match(HASTE)
    table.play(seat.other)
    leave(table, seat)
    assert ended(table) == ("aborted", seat, at)
    assert points(table.match) == (0, 0)
    assert table.match.score is not None
    assert not table.match.score.rated
    assert view_for(table.match, None).dice.seed == table.match.server_seed.hex()


@pytest.mark.parametrize(("leave", "outcome", "at"), WAYS)
def test_after_the_first_phase_it_is_a_concession(leave: Any, outcome: str, at: int) -> None:
    table = a_match(HASTE).play_until("1K")
    table.play(B)
    leave(table, A)
    assert ended(table) == (outcome, A, at)
    assert points(table.match)[1] > 150


@pytest.mark.parametrize(("leave", "outcome", "at"), WAYS)
@pytest.mark.parametrize("seat", list(Seat))
def test_once_white_is_off_the_last_move_is_only_passed(
    leave: Any, outcome: str, at: int, seat: Seat
) -> None:
    """§8.2: on either board; the match is settled as it then stands, and nobody has conceded."""
    table = a_phase("9K", "3-1", x="| 6:3", y="6:5 | 6:5", ruleset=HASTE)
    mine = view_for(table.match, seat).mine
    assert mine is not None
    assert mine.resign == {"game": None, "points": 0}
    before = table.match.position_for(seat)
    table.play(seat.other)
    leave(table, seat)
    assert table.match.ended is not None
    assert (table.match.ended.outcome, table.match.ended.by) == (Outcome.FINISHED, None)
    last = table.match.history[-1].plays[seat]
    assert (last.kind, last.text, last.moves, last.charged_ms) == ("missed", "==", (), at)
    score = table.match.score
    assert score is not None
    assert score.games.X.outcome == "W"
    assert score.games.X.winner is A
    assert before.mine in (score.games.X.position.theirs, score.games.Y.position.theirs)
    assert score.winner is A


def test_one_last_move_passed_leaves_the_other_open() -> None:
    table = a_phase("9K", "3-1", x="| 6:3", y="6:5 | 6:5", ruleset=HASTE)
    table.do(Resign(A, table.turn, 0, table.at(100)))
    assert table.match.score is None
    assert table.match.owes(B)
    with pytest.raises(CannotResign):
        table.do(Resign(A, table.turn, 0, table.at(200)))
    table.play(B, after=300)
    assert table.match.score is not None


@pytest.mark.parametrize("turn", ["9W", "9K"])
def test_before_anybody_is_off_every_move_counts(turn: str) -> None:
    table = a_phase(turn, "3-1", x="1:1 | 6:3", y="6:5 | 6:5", ruleset=HASTE)
    table.play(A)
    lose_on_time(table, B)
    assert ended(table) == ("time", B, 13_000)


# ----------------------------------------------------------------------------------------------------- §8.6 flags


@pytest.mark.parametrize(
    ("banks", "by", "at"),
    [
        pytest.param((10_000, 10_001), A, 13_000, id="A's a ms earlier"),
        pytest.param((10_001, 10_000), B, 13_000, id="B's a ms earlier"),
        pytest.param((10_000, 10_000), None, 13_000, id="both in the same ms: nobody's"),
        pytest.param((0, 0), None, 3_000, id="both with an empty bank"),
    ],
)
def test_the_flag_that_falls_first_decides(banks: tuple[int, int], by: Seat | None, at: int) -> None:
    """CASES E11"""
    table = a_phase("5W", "3-1", ruleset=rules(clock=CLOCK), banks=banks)
    table.wait(60_000)
    assert ended(table) == ("time", by, at)
    score = table.match.score
    assert score is not None
    if by is None:
        assert points(table.match) == (0, 0)
        assert (score.winner, score.rated) == (None, False)
        assert score.games.X.outcome == score.games.Y.outcome == "-"
    else:
        assert score.points[by] < 0
        assert score.rated


def with_quota(table: Table, seat: Seat, lag_ms: int) -> Table:
    clock = replace(table.match.clocks[seat], lag_ms=lag_ms)
    return Table(replace(table.match, clocks=table.match.clocks.with_(seat, clock)))


def test_the_first_flag_is_waited_for_before_the_second_decides() -> None:
    """A's may still be saved by a play on its way; B's, a ms later, has no allowance left."""
    start = a_phase("5W", "3-1", ruleset=rules(clock=CLOCK), banks=(10_000, 10_001))
    table = with_quota(start, B, 0)
    assert table.wait(13_999) == []
    table.wait(14_000)
    assert ended(table) == ("time", A, 13_000)

    table = with_quota(start, B, 0)
    table.play(A, "8/5 6/5", after=13_500, trip=600)
    assert ended(table) == ("time", B, 13_001)


def test_two_flags_in_the_first_phase_abort_it_by_nobody_alone() -> None:
    table = a_match(rules(clock=CLOCK))
    table.wait(60_000)
    assert ended(table) == ("aborted", None, 13_000)


def test_two_flags_over_the_last_move_pass_both_moves() -> None:
    table = a_phase("9K", "3-1", x="| 6:3", y="6:5 | 6:5", ruleset=rules(clock=CLOCK))
    table.wait(60_000)
    assert table.match.score is not None
    assert table.match.score.outcome is Outcome.FINISHED
    assert table.match.record[-1][2:] == ("==", "==", 13_000, 13_000)
    assert points(table.match)[0] == 18


def test_a_flag_and_an_absence_in_the_same_ms_are_two_flags() -> None:
    for away, there in ((A, B), (B, A)):
        table = a_phase("5W", "3-1", ruleset=rules(clock=CLOCK, absence_s=12, grace_s=0))
        slow = replace(table.match.clocks[away], bank_ms=60_000)
        table = Table(replace(table.match, clocks=table.match.clocks.with_(away, slow)))
        table.leave(away, after=1_000)
        table.wait(60_000)
        assert ended(table) == ("time", None, 13_000)
        assert there is not away


# --------------------------------------------------------------------------------------------------- §8.3 absence

LONG = {"type": "simple", "bank_ms": 7_200_000, "delay_ms": 0}
SHORT = {"type": "simple", "bank_ms": 10_000, "delay_ms": 0}


def test_a_disconnection_is_never_recorded_as_giving_up() -> None:
    """CASES D13"""
    table = a_phase("5W", "3-1", ruleset=rules(clock=LONG))
    table.leave(A, after=1_000)
    assert view_for(table.match, B).seats.A.away_until == table.at(121_000)
    assert not view_for(table.match, B).seats.A.connected
    assert table.wait(120_999) == []
    table.wait(121_000)
    assert ended(table) == ("abandoned", A, 121_000)


def test_a_short_absence_is_no_forfeit_and_time_runs() -> None:
    """CASES F1, F2: coming back ends the countdown; the time away is charged."""
    table = a_phase("5W", "3-1", ruleset=rules(clock=LONG))
    table.leave(A, after=1_000)
    table.back(A, after=21_000)
    assert view_for(table.match, B).seats.A.away_until is None
    assert table.wait(400_000) == []
    table.play(A, "8/5 6/5", after=400_000)
    assert table.match.clocks.A.charged_ms == 400_000


def test_absences_add_up_over_the_match() -> None:
    table = a_phase("5W", "3-1", ruleset=rules(clock=LONG))
    table.leave(A, after=1_000)
    table.back(A, after=71_000)  # 70 s
    table.leave(A, after=100_000)
    table.back(A, after=130_000)  # 30 s more
    table.play_phase(after=140_000)
    assert str(table.turn) == "5K"
    table.leave(A, after=10_000)
    assert absence_ends_at(table.match, A) == table.at(30_000)  # 20 s are left
    table.wait(30_000)
    assert ended(table) == ("abandoned", A, 30_000)


def test_absence_does_not_count_while_nothing_is_owed() -> None:
    table = a_phase("5W", "3-1", ruleset=rules(clock=LONG))
    table.play(A, "8/5 6/5", after=1_000)
    table.leave(A, after=2_000)
    assert view_for(table.match, B).seats.A.away_until is None
    table.play(B, "8/5 6/5", after=500_000)
    assert str(table.turn) == "5K"
    assert absence_ends_at(table.match, A) == table.at(120_000)  # from the moment the dice rest
    table.wait(120_000)
    assert ended(table) == ("abandoned", A, 120_000)


def test_who_comes_back_before_he_owes_anything_has_used_up_no_patience() -> None:
    table = a_phase("5W", "3-1", ruleset=rules(clock=LONG))
    table.play(A, "8/5 6/5", after=1_000)
    table.leave(A, after=2_000)
    table.back(A, after=102_000)
    assert table.match.presence.A.away_ms == 0


def test_leaving_before_the_dice_rest_counts_from_there() -> None:
    table = a_phase("5W", "3-1", ruleset=rules(clock=LONG))
    table.leave(A, after=-1_000)
    assert absence_ends_at(table.match, A) == table.at(120_000)


def test_a_pass_uses_up_no_patience() -> None:
    shut_out = "bar:1 6:14 | 6:2 5:2 4:2 3:2 2:2 1:5"
    table = a_phase("5W", "3-1", x=shut_out, ruleset=rules(clock=LONG, absence_s=1, auto_pass_ms=5_000))
    table.leave(A, after=0)
    assert view_for(table.match, B).seats.A.away_until is None
    table.wait(5_000)
    assert table.match.score is None
    assert table.match.presence.A.away_ms == 0


def test_both_gone_is_a_draw_that_nobody_is_rated_for() -> None:
    """CASES F4"""
    table = a_phase("5W", "3-1", ruleset=rules(clock=LONG))
    table.leave(A, after=-500)
    table.leave(B, after=-400)
    table.wait(DAY)
    assert ended(table) == ("abandoned", None, 120_000)
    assert points(table.match) == (0, 0)
    assert table.match.score is not None
    assert not table.match.score.rated


def test_both_gone_but_one_earlier_is_his_loss() -> None:
    """CASES F4"""
    table = a_phase("5W", "3-1", ruleset=rules(clock=LONG))
    table.leave(B, after=1_000)
    table.leave(A, after=1_001)
    table.wait(DAY)
    assert ended(table) == ("abandoned", B, 121_000)


def test_nobody_ever_there_aborts_by_nobody_alone() -> None:
    table = a_match(rules(clock=LONG), present=False)
    table.wait(DAY)
    assert ended(table) == ("aborted", None, 120_000)


# The bank of SHORT runs out after 10 s; the flag waits until an absence has lasted a minute, once a match.


@pytest.mark.parametrize(
    ("left", "zero"),
    [
        pytest.param(5_000, 65_000, id="away when the bank runs out: until a minute of it is over"),
        pytest.param(9_999, 69_999, id="a ms before"),
        pytest.param(10_000, 10_000, id="too late: the flag has fallen"),
    ],
)
def test_the_flag_waits_for_one_who_is_away(left: int, zero: int) -> None:
    table = a_phase("5W", "3-1", ruleset=rules(clock=SHORT))
    table.play(B, "8/5 6/5")
    table.leave(A, after=left)
    assert zero_shown_at(table.match, A) == table.at(zero)
    assert table.wait(zero + LAG - 1) == []
    table.wait(zero + LAG)
    assert ended(table) == ("time", A, zero)


def test_who_is_back_within_the_grace_may_play_until_its_end() -> None:
    table = a_phase("5W", "3-1", ruleset=rules(clock=SHORT))
    table.play(B, "8/5 6/5")
    table.leave(A, after=5_000)
    table.back(A, after=30_000)
    assert zero_shown_at(table.match, A) == table.at(65_000)
    table.play(A, "8/5 6/5", after=64_999)
    clock = table.match.clocks.A
    assert (clock.bank_ms, clock.charged_ms) == (0, 64_999)


def test_the_grace_ends_for_one_who_is_back_and_does_not_play() -> None:
    table = a_phase("5W", "3-1", ruleset=rules(clock=SHORT))
    table.play(B, "8/5 6/5")
    table.leave(A, after=5_000)
    table.back(A, after=30_000)
    table.leave(A, after=40_000)
    table.wait(65_000 + LAG)
    assert ended(table) == ("time", A, 65_000)


@pytest.mark.parametrize("returns", [True, False], ids=["back, then plays", "plays without a display"])
def test_the_grace_is_given_once_a_match(returns: bool) -> None:
    table = a_phase("5W", "3-1", ruleset=rules(clock={**SHORT, "delay_ms": 3_000}, absence_s=600))
    table.play(B, "8/5 6/5")
    table.leave(A, after=5_000)
    if returns:
        table.back(A, after=30_000)
    table.play(A, "8/5 6/5", after=40_000)
    assert str(table.turn) == "5K"
    if returns:
        table.leave(A, after=0)
    assert zero_shown_at(table.match, A) == table.at(3_000)


def test_a_second_grace_is_not_had_by_coming_back_while_the_flag_is_waited_for() -> None:
    table = a_phase("5W", "3-1", ruleset=rules(clock={**SHORT, "delay_ms": 3_000}, absence_s=600))
    table.play(B, "8/5 6/5")
    table.leave(A, after=5_000)
    table.back(A, after=30_000)
    table.play(A, "8/5 6/5", after=40_000)
    table.play(B)
    table.leave(A, after=2_000)
    table.back(A, after=3_500)  # the bank ran out at 3 s
    assert zero_shown_at(table.match, A) == table.at(3_000)
    table.wait(3_000 + LAG)
    assert ended(table) == ("time", A, 3_000)


def test_an_absence_that_ends_in_time_uses_no_grace() -> None:
    table = a_phase("5W", "3-1", ruleset=rules(clock=SHORT))
    table.leave(A, after=1_000)
    table.back(A, after=9_000)
    table.leave(A, after=9_500)
    assert zero_shown_at(table.match, A) == table.at(69_500)


def test_the_limit_of_all_absences_comes_before_the_grace() -> None:
    table = a_phase("5W", "3-1", ruleset=rules(clock=SHORT, absence_s=20))
    table.play(B, "8/5 6/5")
    table.leave(A, after=5_000)
    table.wait(DAY)
    assert ended(table) == ("abandoned", A, 25_000)


# ----------------------------------------------------------------------------------- §8.6 a match without a clock


def test_without_a_clock_a_match_is_void_after_a_day_without_a_play() -> None:
    table = a_phase("5W", "3-1", ruleset=rules(clock="none"))
    table.leave(A, after=0)  # nobody is waited for by the second
    table.play(B, "8/5 6/5", after=3_600_000)
    assert next_deadline(table.match) == table.at(3_600_000 + DAY)
    assert table.wait(3_600_000 + DAY - 1) == []
    table.wait(3_600_000 + DAY)
    assert ended(table) == ("void", None, 3_600_000 + DAY)
    assert points(table.match) == (0, 0)
    assert table.match.score is not None
    assert not table.match.score.rated


# ------------------------------------------------------------------------------------------------ §8.5 draw offers


def offer(table: Table, seat: Seat, after: int = 100) -> list[Any]:
    return list(table.do(OfferDraw(seat, table.turn, table.at(after))))


def accept(table: Table, seat: Seat, after: int = 100) -> list[Any]:
    return list(table.do(AcceptDraw(seat, table.turn, table.at(after))))


def offers_seen(table: Table) -> tuple[str | None, str | None, str | None]:
    """What A, B and a spectator see."""
    a, b, x = (view_for(table.match, seat).draw_offer for seat in (A, B, None))
    return a, b, x


DRAWS = rules(draw_offers="draw")


def test_there_are_no_draw_offers_unless_so_set() -> None:
    table = a_phase("5W", "3-1")
    with pytest.raises(NoDrawOffer) as refused:
        offer(table, A)
    assert refused.value.params["because"] == "off"


def test_an_offer_is_delivered_when_the_phase_closes() -> None:
    table = a_phase("5W", "3-1", ruleset=DRAWS)
    before = [msgspec.json.encode(view_for(table.match, seat)) for seat in (B, None)]
    offer(table, A)
    assert [msgspec.json.encode(view_for(table.match, seat)) for seat in (B, None)] == before
    with pytest.raises(NoDrawOffer) as refused:
        accept(table, B)
    assert refused.value.params["because"] == "none"
    assert offers_seen(table) == ("mine", None, None)
    table.play_phase()
    assert offers_seen(table) == ("mine", "theirs", None)
    accept(table, B, after=700)
    assert ended(table) == ("agreed", None, 700)
    assert points(table.match) == (0, 0)
    assert table.match.score is not None
    assert table.match.score.rated


def test_an_offer_lapses_at_the_receivers_next_play() -> None:
    table = a_phase("5W", "3-1", ruleset=DRAWS)
    table.play(B, "8/5 6/5")
    offer(table, A)
    table.play(A, "8/5 6/5")
    table.play(A, after=50)
    assert offers_seen(table) == ("mine", "theirs", None), "his own play ends nothing"
    table.play(B, after=100)
    assert offers_seen(table) == (None, None, None)
    with pytest.raises(NoDrawOffer):
        accept(table, B)
    offer(table, A)
    assert offers_seen(table)[0] == "mine"


def test_an_offer_stands_once() -> None:
    table = a_phase("5W", "3-1", ruleset=DRAWS)
    offer(table, A)
    with pytest.raises(NoDrawOffer) as refused:
        offer(table, A)
    assert refused.value.params["because"] == "standing"


def test_two_offers_that_cross_are_an_agreement_when_the_phase_closes() -> None:
    table = a_phase("5W", "3-1", ruleset=DRAWS)
    offer(table, A)
    offer(table, B)
    assert offers_seen(table) == ("mine", "mine", None)
    table.play(A, "8/5 6/5", after=500)
    assert table.match.score is None
    table.play(B, "8/5 6/5", after=900)
    assert ended(table) == ("agreed", None, 900)


def test_an_offer_does_not_take_away_the_last_move() -> None:
    table = a_phase("9K", "3-1", x="| 6:3", y="6:5 | 6:5", ruleset=DRAWS)
    offer(table, A)
    offer(table, B)
    table.play_phase()
    assert ended(table)[0] == "finished"


@pytest.mark.parametrize(
    ("draw_offers", "scoring", "x", "y", "net"),
    [
        pytest.param("draw", "pips", "6:2 | 6:5", "6:5 | 6:5", 0, id="draw: nothing"),
        pytest.param("settle", "pips", "6:2 | 6:5", "6:5 | 6:5", 9, id="settle: half of both leads"),
        pytest.param(
            "settle", "pips", "6:2 | 6:2 3:1", "6:2 3:1 | 6:2", 3, id="settle: added, then truncated once"
        ),
        pytest.param("settle", "pips", "6:2 3:1 | 6:2", "6:2 | 6:2", -1, id="settle: toward zero"),
        pytest.param("settle", "pips", "6:2 | 6:5", "6:2 | 6:5", 0, id="settle: level"),
        pytest.param("settle", "checkers", "6:2 | 6:5", "6:5 | 6:5", 1, id="settle: checkers"),
        pytest.param("settle", "classic", "6:2 | 6:5", "6:5 | 6:5", 0, id="settle: classic has no unit"),
    ],
)
def test_what_an_agreed_draw_is_worth(draw_offers: str, scoring: str, x: str, y: str, net: int) -> None:
    table = a_phase("5W", "3-1", x=x, y=y, ruleset=rules(draw_offers=draw_offers, scoring=scoring))
    offer(table, A)
    table.play_phase()
    round_end = table.match.round_end  # the phase that has closed since does not count, it is half a round
    assert round_end.X != table.match.games.X
    accept(table, B)
    assert points(table.match) == (net, -net)
    assert table.match.score is not None
    assert table.match.score.time_adjustment == 0


# ---------------------------------------------------------------------------------------------------- §8.5 arbiters


def pause(table: Table, after: int = 100) -> None:
    table.do(OrderPause("Olga", "a fire alarm", table.at(after)))


def paused_table() -> Table:
    """5W is over, and the match is paused from its end, 4 s after the dice came to rest."""
    table = a_phase("5W", "3-1", ruleset=rules(draw_offers="draw"))
    pause(table)
    table.play_phase(after=4_000)
    return table


def test_a_pause_begins_at_the_end_of_the_phase() -> None:
    table = a_phase("5W", "3-1")
    pause(table)
    assert view_for(table.match, A).stage == "playing"
    table.play(A, "8/5 6/5", after=2_000)
    assert table.match.pause is None
    table.play(B, "8/5 6/5", after=4_000)
    assert table.match.pause == Paused(until=table.at(4_000 + 600_000), at=table.at(4_000))
    for seat in (A, B, None):
        view = view_for(table.match, seat)
        assert view.stage == "paused"
        assert view.pause is not None
        assert (view.pause.since, view.pause.until) == (table.at(4_000), table.at(604_000))
        assert (view.pause.by, view.pause.reason) == ("Olga", "a fire alarm")


def test_in_a_pause_nothing_is_played_and_no_clock_runs() -> None:
    table = paused_table()
    charged = table.match.charged
    for wish in (
        table.a_play(A, "", after=5_000),
        Resign(A, table.turn, 130, table.at(5_000)),
        OfferDraw(A, table.turn, table.at(5_000)),
        AcceptDraw(A, table.turn, table.at(5_000)),
    ):
        with pytest.raises(MatchIsPaused) as refused:
            table.do(wish)
        assert refused.value.params == {"until": table.at(604_000)}
    table.leave(A, after=5_000)
    assert table.wait(603_999) == []
    assert table.match.charged == charged
    assert table.match.presence.A.away_ms == 0
    assert view_for(table.match, A).seats.A.flag_at is None


def test_a_pause_ends_by_itself() -> None:
    """CASES E7"""
    table = paused_table()
    end = table.at(604_000)
    assert next_deadline(table.match) == end
    resumed, opened = table.do(Tick(end))
    assert resumed == Resumed(None, None, end)
    assert isinstance(opened, PhaseOpened)
    assert (str(opened.turn), opened.at) == ("5K", end)
    assert table.match.shown_at == end + table.match.ruleset.reveal_ms


def test_an_arbiter_ends_a_pause_earlier() -> None:
    table = paused_table()
    resumed, opened = table.do(Resume("Olga", "false alarm", table.at(9_000)))
    assert (resumed.by, resumed.reason) == ("Olga", "false alarm")  # type: ignore[union-attr]
    assert isinstance(opened, PhaseOpened)
    assert view_for(table.match, A).pause is None


def test_an_ordered_pause_can_be_taken_back() -> None:
    table = a_phase("5W", "3-1")
    pause(table)
    table.do(Resume("Olga", "false alarm", table.at(200)))
    table.play_phase()
    assert str(table.turn) == "5K"


def test_a_pause_of_no_length_is_none() -> None:
    table = a_phase("5W", "3-1", ruleset=rules(pause_max_s=0))
    pause(table)
    table.play_phase(after=4_000)
    assert str(table.turn) == "5K"
    assert table.match.pause is None


def test_a_pause_does_not_hold_up_the_end() -> None:
    table = a_phase("9K", "3-1", x="| 6:3", y="6:5 | 6:5")
    pause(table)
    table.play_phase()
    assert ended(table)[0] == "finished"


def test_time_is_added_to_a_bank() -> None:
    table = a_phase("5W", "3-1", ruleset=rules(clock=CLOCK))
    table.do(AddTime("Olga", A, 7_000, "his mouse broke", table.at(100)))
    assert (table.match.clocks.A.bank_ms, table.match.clocks.B.bank_ms) == (17_000, 10_000)
    assert zero_shown_at(table.match, A) == table.at(20_000)


def test_a_match_is_made_void() -> None:
    table = a_phase("5W", "3-1", x="6:15 | 1:1")
    table.do(VoidMatch("Olga", "wrong pairing", table.at(100)))
    assert table.match.ended == MatchEnded(Outcome.VOID, None, table.at(100), None, "Olga", "wrong pairing")
    assert points(table.match) == (0, 0)
    assert table.match.score is not None
    assert not table.match.score.rated


@pytest.mark.parametrize("net", [-40, 0, 25])
def test_a_result_is_set(net: int) -> None:
    table = a_phase("5W", "3-1")
    table.do(SetResult("Olga", net, "by the rules of the cup", table.at(100)))
    assert ended(table) == ("adjudicated", None, 100)
    assert points(table.match) == (net, -net)
    result = view_for(table.match, B).result
    assert result is not None
    assert (result.arbiter, result.reason) == ("Olga", "by the rules of the cup")
    assert result.winner == ("A" if net > 0 else "B" if net < 0 else None)
    assert result.time_adjustment == 0


DECISIONS: list[Any] = [
    pytest.param(lambda at, reason: OrderPause("Olga", reason, at), id="pause"),
    pytest.param(lambda at, reason: Resume("Olga", reason, at), id="resume"),
    pytest.param(lambda at, reason: AddTime("Olga", A, 1_000, reason, at), id="add time"),
    pytest.param(lambda at, reason: VoidMatch("Olga", reason, at), id="void"),
    pytest.param(lambda at, reason: SetResult("Olga", 5, reason, at), id="result"),
]


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_decision_has_a_reason(decision: Any, reason: str) -> None:
    table = a_phase("5W", "3-1")
    if isinstance(decision(0, ""), Resume):
        pause(table)
    with pytest.raises(BadDecision):
        table.do(decision(table.at(200), reason))


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_decision_is_in_the_log_with_its_author_and_its_reason(decision: Any) -> None:
    table = a_phase("5W", "3-1")
    if isinstance(decision(0, ""), Resume):
        pause(table)
    (event,) = table.do(decision(table.at(200), "for good reason"))
    assert getattr(event, "by", None) == "Olga" or getattr(event, "arbiter", None) == "Olga"
    assert event.reason == "for good reason"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("changes", "wish"),
    [
        pytest.param({}, Resume("Olga", "why not", MADE_AT), id="resuming what is not paused"),
        pytest.param({}, AddTime("Olga", A, 0, "why not", MADE_AT), id="no time"),
        pytest.param({}, AddTime("Olga", A, -5, "why not", MADE_AT), id="taking time away"),
        pytest.param({"clock": "none"}, AddTime("Olga", A, 5, "why not", MADE_AT), id="no clock to add to"),
        pytest.param(
            {"clock": "per_move"}, AddTime("Olga", A, 5, "why not", MADE_AT), id="no bank to add to"
        ),
    ],
)
def test_a_decision_that_the_rules_do_not_know(changes: dict[str, Any], wish: Any) -> None:
    with pytest.raises(BadDecision):
        a_phase("5W", "3-1", ruleset=rules(**changes)).do(wish)


def test_a_pause_is_ordered_once() -> None:
    table = a_phase("5W", "3-1")
    pause(table)
    with pytest.raises(BadDecision):
        pause(table)
    with pytest.raises(BadDecision):
        pause(paused_table(), after=5_000)


# ---------------------------------------------------------------------------------------------------- §8.5 downtime


def test_the_servers_downtime_is_given_back() -> None:
    """Nobody pays for it, even if his flag would have fallen in it."""
    table = a_phase("5W", "3-1", ruleset=rules(clock=CLOCK))
    zero, shown = zero_shown_at(table.match, A), table.match.shown_at
    assert zero is not None
    table.do(GiveBack(600_000, shown + 605_000))  # it was down from 5 s to 605 s
    assert table.match.score is None
    assert table.match.shown_at == shown + 600_000
    assert zero_shown_at(table.match, A) == zero + 600_000
    table.play(A, "8/5 6/5", after=6_000)
    assert table.match.clocks.A.charged_ms == 6_000


def test_every_running_time_begins_that_much_later() -> None:
    away = a_phase("5W", "3-1", ruleset=rules(clock=LONG))
    away.leave(A, after=1_000)
    until = absence_ends_at(away.match, A)
    away.do(GiveBack(50_000, away.at(60_000)))
    assert until is not None
    assert absence_ends_at(away.match, A) == until + 50_000

    in_grace = a_phase("5W", "3-1", ruleset=rules(clock=SHORT))
    in_grace.play(B, "8/5 6/5")
    in_grace.leave(A, after=5_000)
    in_grace.back(A, after=30_000)
    zero = zero_shown_at(in_grace.match, A)
    in_grace.do(GiveBack(50_000, in_grace.at(80_000)))
    assert zero is not None
    assert zero_shown_at(in_grace.match, A) == zero + 50_000

    in_pause = paused_table()
    assert in_pause.match.pause is not None
    end = in_pause.match.pause.until
    in_pause.do(GiveBack(50_000, in_pause.at(60_000)))
    assert in_pause.match.pause is not None
    assert in_pause.match.pause.until == end + 50_000

    clockless = a_phase("5W", "3-1", ruleset=rules(clock="none"))
    void = next_deadline(clockless.match)
    clockless.do(GiveBack(50_000, clockless.at(60_000)))
    assert void is not None
    assert next_deadline(clockless.match) == void + 50_000


def test_seeds_are_waited_for_that_much_longer() -> None:
    table = a_new_match()
    table.do(GiveBack(30_000, MADE_AT + 31_000))
    assert table.match.defaulted == ()
    assert next_deadline(table.match) == MADE_AT + 50_000


# ----------------------------------------------------------------------------------------------- against the computer


def test_a_match_against_the_computer_is_settled_but_not_rated() -> None:
    table = a_phase(
        "9K", "3-1", x="| 6:3", y="6:5 | 6:5", computers=[B], ruleset=rules(time={"threshold_ms": 0})
    )
    slow = replace(table.match.clocks.A, charged_ms=9_000_000)
    table = Table(replace(table.match, clocks=Seats(slow, table.match.clocks.B)))
    table.play_phase()
    score = table.match.score
    assert score is not None
    assert not score.rated
    assert score.time_adjustment == 0
    assert score.winner is A


def test_a_computer_is_there_from_the_start() -> None:
    table = a_match(computers=[B])
    assert table.match.presence.B.connected
    assert view_for(table.match, A).seats.B.connected
    table.play(B)
    assert [event for event in table.events if isinstance(event, PlayMade)]


# ------------------------------------------------------------------------------- a computer that no server has (§8.3)


def a_computers_turn(**ruleset: Any) -> Table:
    """The third round; B is a computer, and A has played."""
    table = a_phase("3W", "6-2", computers=[B], ruleset=rules(clock=CLOCK, **ruleset))
    table.play(A)
    return table


def test_a_computer_is_awaited_while_it_has_something_to_play() -> None:
    table = a_phase("3W", "6-2", computers=[B])
    assert awaited_computers(table.match) == (B,)
    assert awaited_computers(a_new_match(computers=[B]).match) == ()
    table.play(B)
    assert awaited_computers(table.match) == (), "it has played"
    assert awaited_computers(a_phase("3W", "6-2").match) == (), "people are not computers"
    stuck = a_phase("3W", "6-4", y="bar:1 14:1 | 6:2 4:2", computers=[B])
    assert stuck.match.owes(B)
    assert awaited_computers(stuck.match) == (), "a pass is the server's"


@pytest.mark.parametrize(
    ("after", "outcome"),
    [
        pytest.param(4_999, None, id="a millisecond before"),
        pytest.param(5_000, ("abandoned", B, 5_000), id="at the end of the patience"),
    ],
)
def test_a_computer_that_stays_away_concedes_as_a_player_does(after: int, outcome: object) -> None:
    table = a_computers_turn(absence_s=3)
    table.leave(B, after=2_000)
    table.wait(after)
    assert (ended(table) if table.match.ended else None) == outcome
    if outcome:
        assert table.match.score is not None
        assert points(table.match)[0] > 0
        assert not table.match.score.rated


def test_a_computer_that_is_back_in_time_goes_on() -> None:
    table = a_computers_turn(absence_s=3)
    table.leave(B, after=2_000)
    assert view_for(table.match, A).seats.B.away_until == table.at(5_000)
    table.back(B, after=4_000)
    table.play(B, after=4_500)
    assert table.match.ended is None
    assert view_for(table.match, A).seats.B.connected

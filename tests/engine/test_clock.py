"""§7.1–7.2 The clock: what is charged, what is free, when the flag falls. Times in ms."""

from typing import Any

import pytest

from engine.clock import Clock, free_ms, new_clock, zero_after
from engine.errors import MatchIsOver, TimeIsUp
from engine.match import Tick, decide, next_deadline, zero_shown_at
from engine.ruleset import DEFAULT
from engine.scoring import Outcome
from engine.turn import Seat, Seats
from engine.view import view_for
from tests.builders import A, B, a_match, a_phase, hops, rules


def clock_rules(type_: str, bank_ms: int = 10_000, delay_ms: int = 3_000) -> dict[str, Any]:
    return {"clock": {"type": type_, "bank_ms": bank_ms, "delay_ms": delay_ms}}


@pytest.mark.parametrize(
    ("type_", "charged", "bank"),
    [
        pytest.param("simple", 0, 10_000, id="simple: no thinking"),
        pytest.param("simple", 2_999, 10_000, id="simple: a ms inside the delay"),
        pytest.param("simple", 3_000, 10_000, id="simple: the whole delay is free"),
        pytest.param("simple", 3_001, 9_999, id="simple: a ms more"),
        pytest.param("simple", 12_999, 1, id="simple: a ms is left"),
        pytest.param("simple", 13_000, 0, id="simple: nothing is left"),
        pytest.param("simple", 20_000, 0, id="simple: never under zero"),
        pytest.param("bronstein", 0, 10_000, id="bronstein: no thinking"),
        pytest.param("bronstein", 2_999, 10_000, id="bronstein: what was used comes back"),
        pytest.param("bronstein", 3_000, 10_000, id="bronstein: at most the delay"),
        pytest.param("bronstein", 3_001, 9_999, id="bronstein: a ms more"),
        pytest.param("bronstein", 10_000, 3_000, id="bronstein: nothing was left, and comes back"),
        pytest.param("bronstein", 20_000, 3_000, id="bronstein: never under zero"),
        pytest.param("fischer", 0, 13_000, id="fischer: an increment for nothing"),
        pytest.param("fischer", 3_000, 10_000, id="fischer: what was used comes back"),
        pytest.param("fischer", 3_001, 9_999, id="fischer: a ms more"),
        pytest.param("fischer", 10_000, 3_000, id="fischer: nothing was left"),
        pytest.param("fischer", 20_000, 3_000, id="fischer: never under zero"),
        pytest.param("per_move", 2_999, 3_000, id="per move: as if nothing had been"),
        pytest.param("none", 99_999, 0, id="none: there is no bank"),
    ],
)
def test_the_bank_after_a_turn(type_: str, charged: int, bank: int) -> None:
    clock_of = rules(**clock_rules(type_)).clock
    clock = new_clock(clock_of).after_thinking(clock_of, charged, 0)
    assert (clock.bank_ms, clock.charged_ms) == (bank, charged)


@pytest.mark.parametrize(
    ("type_", "bank", "zero", "free"),
    [
        pytest.param("simple", 10_000, 13_000, 3_000, id="simple: bank and delay"),
        pytest.param("bronstein", 10_000, 10_000, 0, id="bronstein: the bank"),
        pytest.param("fischer", 10_000, 10_000, 0, id="fischer: the bank"),
        pytest.param("per_move", 3_000, 3_000, 0, id="per move: the limit of a phase"),
        pytest.param("none", 0, None, 0, id="none: never"),
    ],
)
def test_how_long_one_may_think_in_the_first_turn(type_: str, bank: int, zero: int | None, free: int) -> None:
    clock_of = rules(**clock_rules(type_)).clock
    assert new_clock(clock_of).bank_ms == bank
    assert zero_after(clock_of, new_clock(clock_of)) == zero
    assert free_ms(clock_of) == free


def test_the_default_clock_is_four_minutes_and_twelve_seconds_a_phase() -> None:
    assert (DEFAULT.clock.type, DEFAULT.clock.bank_ms, DEFAULT.clock.delay_ms) == ("simple", 240_000, 12_000)


@pytest.mark.parametrize(
    ("type_", "zero"),
    [("simple", 13_000), ("bronstein", 10_000), ("fischer", 10_000), ("per_move", 3_000)],
)
@pytest.mark.parametrize("seat", list(Seat))
def test_a_play_counts_until_the_last_millisecond(type_: str, zero: int, seat: Seat) -> None:
    """CASES E3, E11: a ms before zero is in time, zero is not, and it is the same for both seats."""
    table = a_phase("5W", "3-1", ruleset=rules(**clock_rules(type_)))
    assert zero_shown_at(table.match, seat) == table.at(zero)
    table.play(seat, "8/5 6/5", after=zero - 1)
    assert table.match.plays[seat] is not None

    late = a_phase("5W", "3-1", ruleset=rules(**clock_rules(type_)))
    with pytest.raises(TimeIsUp):
        late.play(seat, "8/5 6/5", after=zero)
    assert late.match.plays[seat] is None


@pytest.mark.parametrize("seat", list(Seat))
def test_the_flag_falls_with_no_browser_connected(seat: Seat) -> None:
    """CASES E1. By the server's own timer, the lag allowance later, and never with a number under zero."""
    table = a_phase("5W", "3-1", ruleset=rules(**clock_rules("simple"), absence_s=600, grace_s=0))
    table.play(seat.other, "8/5 6/5", after=100)
    table.leave(seat.other, after=200)
    table.leave(seat, after=200)
    assert next_deadline(table.match) == table.at(13_000 + 1_000)
    assert table.wait(13_999) == []
    table.wait(14_000)
    assert table.match.ended is not None
    assert (table.match.ended.outcome, table.match.ended.by) == (Outcome.TIME, seat)
    assert table.match.ended.at == table.at(13_000)  # when it fell, not when the server came to it
    assert all(clock.bank_ms >= 0 for clock in (table.match.clocks.A, table.match.clocks.B))


def test_without_a_clock_no_flag_falls() -> None:
    table = a_phase("5W", "3-1", ruleset=rules(clock="none"))
    assert zero_shown_at(table.match, A) is None
    table.play(A, "8/5 6/5", after=20 * 3_600_000)
    assert table.match.clocks.A.charged_ms == 20 * 3_600_000


@pytest.mark.parametrize(
    ("after", "thought"),
    [
        pytest.param(-1_500, 0, id="as soon as the phase is open"),
        pytest.param(-1, 0, id="a ms before the dice rest"),
        pytest.param(0, 0, id="just then"),
        pytest.param(1, 1, id="a ms later"),
        pytest.param(5_000, 5_000, id="later"),
    ],
)
def test_thinking_is_charged_from_the_moment_the_roll_is_shown(after: int, thought: int) -> None:
    table = a_phase("5W", "3-1", ruleset=rules(**clock_rules("fischer")))
    table.play(A, "8/5 6/5", after=after)
    made = table.match.plays.A
    assert made is not None
    assert made.charged_ms == table.match.clocks.A.charged_ms == thought
    assert table.match.clocks.A.bank_ms == 10_000 - thought + 3_000


def test_the_roll_is_shown_a_moment_after_the_phase_is_opened_to_both_alike() -> None:
    for present in (True, False):
        table = a_match(rules(reveal_ms=1_500), present=present)
        opened = table.events[-1]
        assert table.match.shown_at == opened.at + 1_500


# -------------------------------------------------------------------------------------------------------------- lag


@pytest.mark.parametrize(
    ("quota", "thought", "trip", "allowed"),
    [
        pytest.param(3_000, 5_000, 0, 0, id="no round trip, no allowance"),
        pytest.param(3_000, 5_000, 80, 80, id="the smallest round trip of the turn"),
        pytest.param(3_000, 5_000, 999, 999, id="a ms under the second"),
        pytest.param(3_000, 5_000, 1_000, 1_000, id="a second"),
        pytest.param(3_000, 5_000, 1_001, 1_000, id="at most a second a turn"),
        pytest.param(400, 5_000, 1_000, 400, id="at most what the quota holds"),
        pytest.param(0, 5_000, 1_000, 0, id="an empty quota"),
        pytest.param(3_000, 300, 1_000, 300, id="at most the thinking itself"),
        pytest.param(3_000, 0, 1_000, 0, id="an early play needs none"),
        pytest.param(3_000, 5_000, -50, 0, id="never negative"),
    ],
)
def test_what_is_allowed_for_lag(quota: int, thought: int, trip: int, allowed: int) -> None:
    assert Clock(10_000, 0, quota).lag_allowed(thought, trip) == allowed


@pytest.mark.parametrize(
    ("quota", "allowed", "left"),
    [
        pytest.param(3_000, 0, 4_000, id="fills by a second a turn"),
        pytest.param(3_000, 1_000, 3_000, id="a second used, a second filled"),
        pytest.param(3_000, 250, 3_750, id="a part used"),
        pytest.param(6_500, 0, 7_000, id="up to seven seconds"),
        pytest.param(7_000, 0, 7_000, id="and no more"),
        pytest.param(0, 0, 1_000, id="from empty"),
    ],
)
def test_the_quota_fills_by_a_second_a_turn(quota: int, allowed: int, left: int) -> None:
    clock = Clock(10_000, 0, quota).after_thinking(DEFAULT.clock, 5_000, allowed)
    assert clock.lag_ms == left
    assert clock.charged_ms == 5_000 - allowed


def test_the_quota_starts_at_three_seconds() -> None:
    assert new_clock(DEFAULT.clock).lag_ms == 3_000


@pytest.mark.parametrize(
    ("after", "trip", "in_time"),
    [
        pytest.param(12_999, 0, True, id="in time by itself"),
        pytest.param(13_000, 0, False, id="at zero, no lag to speak of"),
        pytest.param(13_000, 1, True, id="at zero, a ms of lag"),
        pytest.param(13_400, 400, False, id="as late as the lag"),
        pytest.param(13_399, 400, True, id="a ms less"),
        pytest.param(13_999, 5_000, True, id="a ms less than the most"),
        pytest.param(14_000, 5_000, False, id="the most is a second"),
    ],
)
def test_the_flag_waits_for_a_play_on_its_way(after: int, trip: int, in_time: bool) -> None:
    table = a_phase("5W", "3-1", ruleset=rules(**clock_rules("simple")))
    play = table.a_play(A, "8/5 6/5", after=after, trip=trip)
    if in_time:
        table.do(play)
        assert table.match.plays.A is not None
        assert table.match.clocks.A.bank_ms >= 0
    else:
        with pytest.raises((TimeIsUp, MatchIsOver)):
            table.do(play)
        table.wait(14_000)
        assert table.match.ended is not None
        assert table.match.ended.at == table.at(13_000)


def test_lag_is_neither_charged_nor_taken_from_the_bank() -> None:
    table = a_phase("5W", "3-1", ruleset=rules(**clock_rules("simple")))
    table.play(A, "8/5 6/5", after=5_000, trip=700)
    clock = table.match.clocks.A
    assert (clock.charged_ms, clock.bank_ms, clock.lag_ms) == (4_300, 8_700, 3_000 - 700 + 1_000)


# ---------------------------------------------------------------------------------------------------- what is free


def test_waiting_for_the_opponent_is_free() -> None:
    table = a_phase("5W", "3-1", ruleset=rules(**clock_rules("simple", bank_ms=600_000)))
    table.play(A, "8/5 6/5", after=500)
    table.play(B, "8/5 6/5", after=300_000)
    assert (table.match.charged.A, table.match.charged.B) == (500, 300_000)
    assert (table.match.clocks.A.bank_ms, table.match.clocks.B.bank_ms) == (600_000, 303_000)


def test_a_pass_is_free_and_leaves_the_lag_quota_alone() -> None:
    shut_out = "bar:1 6:14 | 6:2 5:2 4:2 3:2 2:2 1:5"
    table = a_phase("5W", "3-1", x=shut_out, ruleset=rules(**clock_rules("fischer")))
    table.wait(5_000)
    clock = table.match.clocks.A
    assert (clock.charged_ms, clock.bank_ms, clock.lag_ms) == (0, 10_000, 3_000)


def test_laying_out_and_taking_back_gives_and_takes_no_time() -> None:
    """CASES E6. A draft is no command at all, so no clock can tell of it."""
    table = a_phase("5W", "3-1")
    plain = view_for(table.match, A)
    drafted = view_for(table.match, A, Seats(hops("8/5"), ()))
    assert drafted.mine is not None
    assert drafted.mine.draft == ((8, 5, 3, 0),)
    assert drafted.seats == plain.seats
    assert decide(table.match, Tick(table.at(3_000))) == ()


def test_the_clock_starts_anew_in_every_phase() -> None:
    table = a_match(rules(**clock_rules("simple")))
    for _ in range(6):
        table.play_phase(after=3_000)
    assert table.match.clocks.A.bank_ms == table.match.clocks.B.bank_ms == 10_000
    table.play_phase(after=3_500)
    assert table.match.clocks.A.bank_ms == 9_500


def test_a_flag_in_one_phase_is_worth_the_same_for_either_player() -> None:
    """The table of prices is symmetric under exchange of the players."""

    def points(seat: Seat) -> tuple[int, int]:
        table = a_phase("5W", "3-1", ruleset=rules(**clock_rules("simple")))
        table.play(seat.other, "8/5 6/5", after=0)
        table.wait(20_000)
        assert table.match.score is not None
        return table.match.score.points[seat], table.match.score.points[seat.other]

    assert points(A) == points(B) == (-130, 130)

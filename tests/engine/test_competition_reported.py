"""CASES G and H: what users of such servers have reported about competitions and ratings, each as it must be here."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.competition import commands as c
from engine.competition.competition import RoundState, State
from engine.competition.decisions import next_deadline
from engine.competition.meeting import COMPUTER
from engine.competition.overview import matches_due, next_for, places, points_ratings
from engine.competition.pairing import couple
from engine.competition.stages import final_order, start_ratings, swiss_field, tables_of
from engine.errors import NotNow
from engine.rating import points_after
from engine.turn import Seat
from tests.support.organiser import MADE_AT, MINUTE, Event

FOUR_ROUNDS = [{"kind": "swiss", "rounds": 4}]


def met_in(event: Event) -> Counter[tuple[int, int]]:
    return Counter(
        couple(meeting.pair.a, meeting.pair.b)
        for round_ in event.stage.rounds
        for meeting in round_.meetings
        if meeting.pair.b is not None
    )


def byes_in(event: Event) -> list[int]:
    return [m.pair.a for round_ in event.stage.rounds for m in round_.meetings if m.pair.b is None]


@pytest.mark.parametrize("strongest", [1, 2, 3, 4, 5])
def test_g1_nobody_has_two_byes_while_another_has_none(strongest: int) -> None:
    """Five players, four rounds: the lowest who has had none has the bye."""
    event = Event(5, stages=FOUR_ROUNDS, strengths={strongest: 2_600.0}).begin()
    for _ in range(4):
        ranking = swiss_field(event.competition, event.stage).ranking
        rested = byes_in(event)
        event.play_round()
        assert byes_in(event)[-1] == [entrant for entrant in ranking if entrant not in rested][-1]
    assert len(set(byes_in(event))) == 4


def test_g1_the_lowest_is_the_one_with_the_fewest_points() -> None:
    event = Event(5, stages=FOUR_ROUNDS).begin()
    event.swiss_round((1, 3, 5), (2, 4, 5), (5, None, 0))
    assert event.draw()[-1] == (4, None)


@pytest.mark.parametrize("last", [True, False])
def test_g2_leaving_and_coming_back_wins_nothing(last: bool) -> None:
    """One leaves and comes back every round so as to have the bye: it is worth what absence is worth."""
    event = Event(5, stages=FOUR_ROUNDS, strengths={5: 1.0 if last else 3_000.0}).begin()
    for number in range(4):
        if number:
            event.do(c.Withdraw(5, "player-5", event.now), c.Rejoin(5, "player-5", event.now))
        event.open_round()
        mine = next((m for m in event.round.meetings if 5 in m.pair.entrants), None)
        if mine is not None and mine.pair.b is not None:
            event.do(c.ReportAbsence(mine.ref, (5,), event.now + 300_000))
        event.play_rest()
        event.close()
    (table,) = tables_of(event.competition, event.stage)
    row = next(row for row in table.rows if row.entrant == 5)
    earned = (
        2 if byes_in(event)[0] == 5 else 0
    )  # the first bye, before he had ever left, is his like anybody's
    assert row.value("match_points").value == earned
    assert (row.place, row.came) == (5, False)


def test_g4_the_same_account_twice_is_one_entrant_and_can_be_paired() -> None:
    event = Event(2, stages=FOUR_ROUNDS)
    event.do(c.Register("player-1", event.now), c.Register("player-1", event.now + 1))
    event.begin()
    assert event.draw() == [(1, 2)]


@pytest.mark.parametrize(("entrants", "rounds"), [(6, 5), (7, 5), (12, 7), (33, 6)])
def test_g6_nobody_meets_twice_while_another_pairing_exists(entrants: int, rounds: int) -> None:
    event = Event(entrants, stages=[{"kind": "swiss", "rounds": rounds}]).begin()
    event.play_to_the_end()
    assert set(met_in(event).values()) == {1}


def test_g7_a_bye_counts_in_tie_breaks_as_the_published_formula_says() -> None:
    """Two rounds of three: 1 beats 2, has the bye; 3 has the bye, beats 2. See also the worked example."""
    event = Event(3, stages=[{"kind": "swiss", "rounds": 2}]).begin()
    event.swiss_round((1, 2, 10), (3, None, 0))
    event.swiss_round((3, 2, 4), (1, None, 0))
    (table,) = tables_of(event.competition, event.stage)
    shown = {
        row.entrant: tuple(
            row.value(name).value for name in ("match_points", "buchholz_cut_1", "sonneborn_berger")
        )
        for row in table.rows
    }
    # 1: opponents 2 (0 points, cut) and himself (4) for the bye; beat 0, drew with his own 4
    assert shown == {1: (4, 4, 2), 3: (4, 4, 2), 2: (0, 4, 0)}
    assert table.order == (1, 3, 2)


def test_g10_no_shows_do_not_stand_above_players() -> None:
    event = Event(6, stages=FOUR_ROUNDS).begin()
    for _ in range(4):
        event.open_round()
        for order in matches_due(event.competition):
            missing = tuple({5, 6} & {order.entrants.A, order.entrants.B})
            if missing:
                event.do(c.ReportAbsence(order.ref, missing, event.now + 300_000))
        event.play_rest()
        event.close()
    assert set(final_order(event.competition)[-2:]) == {5, 6}


def test_g12_an_entrant_needs_no_open_page() -> None:
    """Nothing but his own wish takes an entrant out; who is missing is found out at his table."""
    event = Event(3, stages=[{"kind": "qualifying", "matches": 1}], starts_at=MADE_AT + 9 * MINUTE)
    assert next_for(event.competition, 3, event.now).at == MADE_AT + 9 * MINUTE
    event.begin()
    event.open_round()
    assert next_for(event.competition, 3, event.now).kind == "play"


def test_g14_a_competition_in_which_everybody_has_gone_is_finished() -> None:
    """All sockets closed: absences come due, rounds close, the competition ends; nobody has to be there for it."""
    stages = [
        {"kind": "qualifying", "matches": 1},
        {"kind": "groups", "size": 4},
        {"kind": "single_elimination", "take": 4},
    ]
    event = Event(8, stages=stages, starts_at=MADE_AT + MINUTE, pace={"mode": "auto", "break_ms": MINUTE})
    wakes = 0
    while event.competition.state is not State.FINISHED:
        orders = matches_due(event.competition)
        event.now = (
            min(order.missed_from for order in orders) if orders else next_deadline(event.competition) or 0
        )
        event.do(c.Tick(event.now))
        for order in orders:
            absent = tuple(n for n in (order.entrants.A, order.entrants.B) if n != COMPUTER)
            event.do(c.ReportAbsence(order.ref, absent, event.now))
        wakes += 1
        assert wakes < 50
    assert event.now < MADE_AT + 60 * MINUTE
    assert len(places(event.competition)) == 8


def test_g14_a_round_says_why_it_is_not_closed() -> None:
    event = Event(2, stages=FOUR_ROUNDS).begin()
    event.open_round()
    with pytest.raises(NotNow, match="still something to play at 1"):
        event.close()


def test_g16_a_start_is_an_instant() -> None:
    """29 March 2026, 02:30 in Prague does not exist, 03:00 is 01:00 UTC: the rules know the instant alone."""
    instant = 1_774_746_000_000
    event = Event(2, stages=FOUR_ROUNDS, starts_at=instant, pace={"mode": "auto"})
    assert event.do(c.Tick(instant - 1)) == []
    event.do(c.Tick(instant))
    assert event.round.state is RoundState.STARTED


def test_g18_in_the_qualifying_all_have_the_same_dice_computer_and_start() -> None:
    event = Event(5, stages=[{"kind": "qualifying", "computer": "master"}]).begin()
    event.open_round()
    orders = matches_due(event.competition)
    assert {(order.dice_id, order.number, order.entrants.B, order.due_at) for order in orders} == {
        ("cup-Q1", 1, COMPUTER, event.now)
    }


def test_h3_beating_the_computer_moves_no_public_rating() -> None:
    """Its matches are not rated; they give the start rating of this competition and nothing else."""
    event = Event(2, stages=[{"kind": "qualifying", "matches": 1}]).begin()
    event.open_round()
    event.play(1, COMPUTER, 80)
    event.play(2, COMPUTER, -80)
    event.close()
    assert points_ratings(event.competition) == start_ratings(event.competition) == {1: 1080, 2: 920}


def test_h4_ratings_are_what_the_stored_matches_give() -> None:
    event = Event(9, stages=[{"kind": "swiss", "rounds": 5}]).begin()
    event.play_to_the_end()
    expected = dict.fromkeys(range(1, 10), 1000)
    for round_ in event.stage.rounds:
        for meeting in round_.meetings:
            for number, result in enumerate(meeting.results, 1):
                for seat in Seat:
                    entrant = meeting.seats(number)[seat]
                    assert entrant is not None
                    ruleset = event.competition.settings.ruleset
                    expected[entrant] = points_after(expected[entrant], result.points[seat], ruleset)
    assert points_ratings(event.competition) == points_ratings(event.replayed()) == expected

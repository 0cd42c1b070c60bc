"""§12 Who may enter a competition, until when, and how he leaves it."""

from __future__ import annotations

from typing import Any

import pytest

from engine.competition import commands as c
from engine.competition.competition import State, Status
from engine.competition.facts import EntrantApproved, EntrantRegistered, EntrantReturned, StageJoined
from engine.competition.overview import matches_due
from engine.competition.stages import entry_order
from engine.errors import BadDecision, EntryRefused, NotNow, RuleError
from tests.support.organiser import BOSS, MADE_AT, MINUTE, Event

SWISS = [{"kind": "swiss", "rounds": 5}]
DAY = 24 * 60 * MINUTE


def because(event: Event, *commands: c.Command) -> object:
    """Why these are refused; and then nothing has happened."""
    before = event.competition
    with pytest.raises((EntryRefused, NotNow)) as refused:
        event.do(*commands)
    assert event.competition == before
    return refused.value.params["because"]


def open_event(**entry: Any) -> Event:
    event = Event(entry=entry, stages=SWISS)
    event.do(c.OpenEntry(BOSS, event.now))
    return event


def register(player: str, at: int = MADE_AT, **more: Any) -> c.Register:
    return c.Register(player, at, **more)


@pytest.mark.parametrize(
    ("entry", "before", "wish", "status"),
    [
        pytest.param({}, [], register("anna"), Status.ENTERED, id="open to all"),
        pytest.param({"mode": "approved"}, [], register("anna"), Status.ASKED, id="waits for approval"),
        pytest.param(
            {"mode": "approved"}, [], register("anna", by=BOSS), Status.ENTERED, id="entered by an organiser"
        ),
        pytest.param(
            {"mode": "invited"}, [c.Invite("anna", BOSS, 1)], register("anna"), Status.ENTERED, id="invited"
        ),
        pytest.param(
            {"mode": "code", "code": "spring"},
            [],
            register("anna", code="spring"),
            Status.ENTERED,
            id="by code",
        ),
    ],
)
def test_ways_in(entry: dict[str, Any], before: list[c.Command], wish: c.Register, status: Status) -> None:
    event = open_event(**entry)
    event.do(*before, wish)
    entrant = event.competition.entrant_of("anna")
    assert entrant is not None
    assert entrant.status is status


@pytest.mark.parametrize(
    ("entry", "wish", "why"),
    [
        pytest.param({"mode": "invited"}, register("anna"), "not-invited", id="not invited"),
        pytest.param({"mode": "code", "code": "spring"}, register("anna"), "wrong-code", id="no code"),
        pytest.param(
            {"mode": "code", "code": "spring"}, register("anna", code="x"), "wrong-code", id="wrong code"
        ),
        pytest.param(
            {"closes_at": MADE_AT}, register("anna", MADE_AT + 1), "too-late", id="after the deadline"
        ),
    ],
)
def test_who_is_not_let_in(entry: dict[str, Any], wish: c.Register, why: str) -> None:
    assert because(open_event(**entry), wish) == why


def test_nobody_enters_before_entry_opens_or_after_the_start() -> None:
    event = Event(stages=SWISS)
    assert because(event, register("anna")) == "not-open"
    event = Event(2, stages=SWISS).begin()
    assert because(event, register("anna")) == "too-late"


def test_all_places_taken_until_one_leaves() -> None:
    event = open_event(capacity=2)
    event.do(register("anna"), register("boris"))
    assert because(event, register("vera")) == "full"
    event.do(c.Withdraw(1, "anna", event.now), register("vera"))
    assert because(event, register("anna")) == "full"


def test_the_same_player_is_entered_once() -> None:
    """CASES G4"""
    event = open_event()
    assert [type(fact) for fact in event.do(register("anna"))] == [EntrantRegistered]
    assert event.do(register("anna"), register("anna", by=BOSS)) == []
    assert len(event.competition.entrants) == 1


def test_who_waits_is_let_in_or_not() -> None:
    event = open_event(mode="approved")
    event.do(register("anna"), register("boris"))
    event.do(c.Approve(1, BOSS, event.now), c.Decline(2, BOSS, "unknown to us", event.now))
    assert [entrant.status for entrant in event.competition.entrants] == [Status.ENTERED, Status.DECLINED]
    assert because(event, register("boris")) == "declined"
    assert because(event, c.Approve(2, BOSS, event.now)) == "not-entered"


def test_who_is_let_in_while_it_runs_comes_late_or_not_at_all() -> None:
    event = open_event(mode="approved", late_rounds=2)
    for player in ("anna", "boris", "vera", "gleb"):
        event.do(register(player))
    event.do(*(c.Approve(number, BOSS, event.now) for number in (1, 2)))
    event.begin()
    event.play_round()
    assert [type(fact) for fact in event.do(c.Approve(3, BOSS, event.now))] == [EntrantApproved, StageJoined]
    event.play_round()
    assert because(event, c.Approve(4, BOSS, event.now)) == "too-late"


def test_who_was_thrown_out_stays_out() -> None:
    event = open_event()
    event.do(register("anna"), c.Ban(1, BOSS, "two accounts", event.now))
    assert because(event, register("anna")) == "banned"
    assert because(event, c.Rejoin(1, "anna", event.now)) == "not-entered"
    assert event.do(c.Ban(1, BOSS, "again", event.now)) == []


def test_an_organiser_gives_a_reason() -> None:
    event = Event(2, stages=SWISS)
    with pytest.raises(BadDecision):
        event.do(c.Ban(1, BOSS, "  ", event.now))


@pytest.mark.parametrize(
    "wish",
    [
        c.Withdraw(9, "x", 1),
        c.Ban(9, BOSS, "why", 1),
        c.CheckIn(9, 1),
        c.Seed(9, 1, BOSS, 1),
        c.ForbidPair(1, 9, BOSS, "why", 1),
        pytest.param(c.ForbidPair(1, 1, BOSS, "why", 1), id="one with himself"),
    ],
    ids=lambda wish: type(wish).__name__,
)
def test_there_is_no_such_entrant(wish: c.Command) -> None:
    assert because(Event(2, stages=SWISS), wish) == "no-such-entrant"


# ------------------------------------------------------------------------------------------------------- check-in


def check_in_event() -> Event:
    event = Event(3, stages=SWISS, starts_at=MADE_AT + DAY, entry={"check_in_ms": 30 * MINUTE})
    event.now = MADE_AT + DAY - 10 * MINUTE
    return event


def test_who_has_not_checked_in_is_not_in_the_start() -> None:
    """CASES G12. An entrant needs no open page until the start; there he confirms once."""
    event = check_in_event()
    event.do(c.CheckIn(1, event.now), c.CheckIn(3, event.now))
    assert event.do(c.CheckIn(3, event.now)) == []
    assert entry_order(event.competition) == (1, 3)
    event.begin()
    assert event.stage.seeds == (1, 3)
    assert because(event, c.CheckIn(2, event.now)) == "already-started"


def test_check_in_opens_in_its_time() -> None:
    event = check_in_event()
    assert because(event, c.CheckIn(1, MADE_AT)) == "no-check-in"
    assert because(Event(2, stages=SWISS), c.CheckIn(1, MADE_AT)) == "no-check-in"


# ---------------------------------------------------------------------------------------------------------- seeds


def test_seeds_by_hand_then_strength_then_lot() -> None:
    """§10.2"""
    event = Event(6, stages=SWISS, strengths={1: 1500, 2: 1700, 3: 1500, 4: 1900, 5: 1500, 6: 1500})
    event.do(c.Seed(5, 1, BOSS, event.now), c.Seed(3, 2, BOSS, event.now))
    order = entry_order(event.competition)
    assert order[:4] == (5, 3, 4, 2)
    assert list(order[4:]) == sorted([1, 6], key=event.competition.lot)
    event.do(c.Seed(5, None, BOSS, event.now))
    assert entry_order(event.competition)[:3] == (3, 4, 2)
    event.begin()
    assert because(event, c.Seed(5, 1, BOSS, event.now)) == "already-started"


def test_ratings_of_the_moment_of_the_start_seed() -> None:
    event = Event(3, stages=SWISS)
    event.do(c.Start(event.now, {"player-3": 2_500.0}))
    assert event.stage.seeds == (3, 1, 2)


# ------------------------------------------------------------------------------------------------ late and leaving


def test_a_late_entrant_plays_from_the_next_round_and_has_missed_the_others() -> None:
    """§12.6: missed rounds are zero byes."""
    event = Event(4, stages=SWISS, entry={"late_rounds": 2}).begin()
    event.play_round()
    assert [type(fact) for fact in event.do(register("late"))] == [EntrantRegistered, StageJoined]
    pairs = event.play_round()
    assert 5 in {each for both in pairs for each in both}
    assert because(event, register("later")) == "too-late"


def test_no_late_entrant_while_the_last_round_for_him_is_drafted() -> None:
    event = Event(4, stages=SWISS, entry={"late_rounds": 1}).begin()
    event.draw()
    assert because(event, register("late")) == "too-late"
    event.do(c.UndoRound(BOSS, "one more has come", event.now), register("late"))
    assert len(event.draw()) == 3


def test_leaving_and_coming_back() -> None:
    event = Event(4, stages=SWISS).begin()
    event.play_round()
    event.do(c.Withdraw(2, "player-2", event.now))
    assert event.do(c.Withdraw(2, "player-2", event.now)) == []
    assert 2 not in {each for both in event.play_round() for each in both}
    assert [type(fact) for fact in event.do(c.Rejoin(2, "player-2", event.now))] == [EntrantReturned]
    assert event.do(c.Rejoin(2, "player-2", event.now)) == []
    assert 2 in {each for both in event.draw() for each in both}


def test_nobody_comes_back_into_a_part_he_is_not_in() -> None:
    event = Event(4, stages=["round_robin", {"kind": "single_elimination", "take": 2}]).begin()
    event.do(c.Withdraw(4, "player-4", event.now))
    while len(event.competition.stages) == 1:
        event.play_round()
    assert because(event, c.Rejoin(4, "player-4", event.now)) == "too-late"


def test_another_player_goes_on_in_an_entrant_s_place() -> None:
    event = Event(4, stages=SWISS).begin()
    event.play_round()
    event.do(c.Substitute(2, "vera", BOSS, "ill", event.now))
    assert event.competition.entrant(2).player == "vera"
    assert event.competition.entrant_of("player-2") is None
    assert because(event, c.Substitute(1, "vera", BOSS, "ill", event.now)) == "already-in"
    event.open_round()
    assert because(event, c.Substitute(1, "gleb", BOSS, "ill", event.now)) == "matches-run"


def test_who_is_thrown_out_in_mid_round_loses_what_he_plays() -> None:
    event = Event(4, stages=SWISS).begin()
    event.open_round()
    event.do(c.Ban(1, BOSS, "a program helped him", event.now))
    assert [{order.entrants.A, order.entrants.B} for order in matches_due(event.competition)] == [{2, 4}]
    assert (event.verdict(1, 3).how, event.verdict(1, 3).winner) == ("forfeit", 3)


def test_who_withdraws_in_mid_round_may_play_his_match_to_its_end() -> None:
    event = Event(4, stages=SWISS).begin()
    event.open_round()
    event.now += MINUTE
    event.do(c.Withdraw(1, "player-1", event.now))
    event.play(1, 3, 12)
    assert event.verdict(1, 3).winner == 1


def test_but_the_rest_of_his_series_is_lost() -> None:
    event = Event(2, stages=[{"kind": "swiss", "series": {"matches": 3}}]).begin()
    event.open_round()
    event.now += MINUTE
    event.do(c.Withdraw(1, "player-1", event.now))
    event.play(1, 2, 12)
    assert (event.verdict(1, 2).how, event.verdict(1, 2).points) == ("forfeit", (12 - 180, 180 - 12))


def test_who_has_left_before_the_round_starts_is_not_waited_for() -> None:
    event = Event(4, stages=["round_robin"]).begin()
    event.draw()
    event.do(c.Withdraw(4, "player-4", event.now))
    event.let_begin()
    assert event.verdict(1, 4).how == "forfeit"


def test_nothing_can_be_done_in_a_competition_that_is_over() -> None:
    event = Event(2, stages=SWISS)
    event.do(c.Cancel(BOSS, "nobody came", event.now))
    assert event.competition.state is State.CANCELLED
    for wish in (
        register("anna"),
        c.Start(event.now),
        c.Cancel(BOSS, "again", event.now),
        c.Withdraw(1, "x", 1),
    ):
        with pytest.raises(RuleError):
            event.do(wish)


@pytest.mark.parametrize("taken", [{}, {"points": -5}, {"match_points": 2, "points": -1}])
def test_a_penalty_takes_something(taken: dict[str, int]) -> None:
    assert because(Event(2, stages=SWISS).begin(), c.Penalise(1, BOSS, "why", 1, **taken)) == "nothing-taken"

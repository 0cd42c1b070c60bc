"""§12 Rounds: drafted, edited, published, started, paused, closed, taken back; results that come in and are changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.competition import commands as c
from engine.competition.competition import RoundState, State
from engine.competition.decisions import ANALYSIS_PATIENCE_MS, next_deadline
from engine.competition.facts import Cancelled, Fact, RoundClosed, RoundDrafted, RoundPublished, RoundStarted
from engine.competition.meeting import Ending, MatchResult, Ref, match_id
from engine.competition.overview import matches_due, next_for, overdue, shown_rounds
from engine.errors import BadPairings, BadResult, BadSettings, NotNow, RuleError
from engine.turn import Seats
from tests.support.organiser import BOSS, MADE_AT, MINUTE, Event, result_of, settings

SWISS = [{"kind": "swiss", "rounds": 5}]
CUP = ["single_elimination"]


def because(event: Event, *commands: c.Command) -> object:
    """Why these are refused; and then nothing has happened."""
    before = event.competition
    with pytest.raises((NotNow, BadResult)) as refused:
        event.do(*commands)
    assert event.competition == before
    return refused.value.params["because"]


def kinds(facts: list[Fact]) -> list[type]:
    return [type(fact) for fact in facts]


# ------------------------------------------------------------------------------------------------------ step by step


def test_a_round_from_draft_to_close() -> None:
    event = Event(4, stages=SWISS).begin()
    states = []
    for wish in (c.DraftRound(1), c.PublishRound(1), c.StartRound(1)):
        event.do(wish)
        states.append(event.round.state)
    event.play_rest()
    event.close()
    assert [*states, event.round.state] == [
        RoundState.DRAFTED,
        RoundState.PUBLISHED,
        RoundState.STARTED,
        RoundState.CLOSED,
    ]


def test_only_organisers_see_a_draft_and_nothing_is_played_before_the_start() -> None:
    event = Event(4, stages=SWISS).begin()
    event.draw()
    assert shown_rounds(event.stage) == ()
    assert next_for(event.competition, 1, event.now).kind == "waits"
    event.do(c.PublishRound(event.now, start_at=event.now + MINUTE))
    assert [meeting.pair.b for meeting in shown_rounds(event.stage)[0].meetings] == [3, 4]
    assert matches_due(event.competition) == ()
    found = next_for(event.competition, 1, event.now)
    assert (found.kind, found.opponent, found.at) == ("starts", 3, event.now + MINUTE)


def test_a_round_starts_at_its_time_to_the_millisecond() -> None:
    """CASES G16: times are instants (UTC); no zone and no change of clocks reaches the rules."""
    event = Event(2, stages=SWISS).begin()
    event.draw()
    start_at = event.now + 90 * MINUTE
    event.do(c.PublishRound(event.now, start_at))
    assert next_deadline(event.competition) == start_at
    assert event.do(c.Tick(start_at - 1)) == []
    assert kinds(event.do(c.Tick(start_at))) == [RoundStarted]
    assert next_deadline(event.competition) is None


def test_the_start_is_moved_or_made_by_hand() -> None:
    event = Event(2, stages=SWISS).begin()
    event.draw()
    event.do(c.PublishRound(event.now, event.now + MINUTE), c.ScheduleRound(None, BOSS, event.now))
    assert event.do(c.Tick(event.now + MINUTE)) == []
    event.do(c.StartRound(event.now + MINUTE))
    assert event.round.started_at == event.now + MINUTE


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        pytest.param(c.PublishRound(1), "not-drafted", id="publish what is published"),
        pytest.param(c.DraftRound(1), "round-open", id="draft while a round is open"),
        pytest.param(c.CloseRound(1), "not-started", id="close what has not started"),
        pytest.param(c.PauseRound(BOSS, "why", 1), "not-started", id="pause what has not started"),
        pytest.param(c.ResumeRound(BOSS, 1), "not-paused", id="resume what is not paused"),
        pytest.param(c.ExtendRound(9, BOSS, "why", 1), "not-started", id="extend what has not started"),
        pytest.param(c.Finish(1), "round-open", id="finish with a round open"),
        pytest.param(c.SeedStage((2, 1), BOSS, "why", 1), "round-open", id="seed what is drafted"),
        pytest.param(c.Start(1), "not-running", id="start what has started"),
        pytest.param(
            c.ReportAbsence(Ref(1, 1, 1), (1,), 1), "not-started", id="miss somebody before the start"
        ),
        pytest.param(
            c.RuleMeeting(Ref(1, 1, 1), 1, 1, BOSS, "why", 1), "not-started", id="rule before the start"
        ),
    ],
)
def test_what_cannot_be_done_with_a_published_round(wish: c.Command, why: str) -> None:
    event = Event(2, stages=SWISS).begin()
    event.draw()
    event.do(c.PublishRound(event.now))
    assert because(event, wish) == why


@pytest.mark.parametrize(
    "wish",
    [
        c.PublishRound(1),
        c.StartRound(1),
        c.CloseRound(1),
        c.UndoRound(BOSS, "why", 1),
        c.EditRound((), BOSS, 1),
    ],
)
def test_there_is_no_round(wish: c.Command) -> None:
    assert because(Event(2, stages=SWISS).begin(), wish) == "no-round"


def test_a_competition_needs_two() -> None:
    event = Event(1, stages=SWISS)
    assert because(event, c.Start(event.now)) == "too-few"
    assert because(event, c.DraftRound(event.now)) == "not-running"


def test_a_round_waits_for_its_matches_and_says_for_which() -> None:
    event = Event(6, stages=SWISS).begin()
    event.open_round()
    event.play(2, 5, 9)
    with pytest.raises(NotNow) as refused:
        event.close()
    assert refused.value.params == {"because": "matches-run", "tables": "1, 3"}


def test_a_round_that_has_not_started_is_taken_back() -> None:
    event = Event(4, stages=SWISS).begin()
    event.draw()
    event.do(c.PublishRound(event.now), c.UndoRound(BOSS, "one is ill", event.now))
    assert event.stage.rounds == ()
    event.open_round()
    assert because(event, c.UndoRound(BOSS, "too late", event.now)) == "started"


def test_a_stage_that_has_not_begun_is_taken_back_and_its_results_can_be_changed_again() -> None:
    event = Event(4, stages=["round_robin", {"kind": "single_elimination", "take": 2}]).begin()
    for _ in range(3):
        event.play_round()
    result = event.stage.rounds[0].meetings[0].results[0]
    event.draw()
    fix = c.CorrectResult(result_of_match(result, 99), BOSS, "scored wrong", event.now)
    assert because(event, fix) == "depended-on"
    event.do(c.UndoRound(BOSS, "wrong result", event.now), c.UndoRound(BOSS, "wrong result", event.now), fix)
    assert len(event.competition.stages) == 1
    assert event.stage.rounds[0].meetings[0].results[0].points.A == 99


def result_of_match(result: Any, points: int) -> Any:
    return replace(result, points=Seats(points, -points), net_for_A=points)


# -------------------------------------------------------------------------------------------------- pairings by hand


def a_second_round() -> Event:
    """1 beat 3, 2 beat 4, 5 had the bye; the second round is drafted."""
    event = Event(5, stages=SWISS).begin()
    event.swiss_round((1, 3, 5), (2, 4, 5), (5, None, 0))
    event.do(c.ForbidPair(4, 1, BOSS, "brothers", event.now))
    event.draw()
    return event


@pytest.mark.parametrize(
    ("pairs", "faults"),
    [
        pytest.param(((1, 5), (2, 3), (4, None)), (), id="nothing is wrong"),
        pytest.param(((1, 3), (2, 5), (4, None)), ("repeat:1-3",), id="a repeat"),
        pytest.param(((1, 4), (2, 5), (3, None)), ("forbidden:1-4",), id="a forbidden pair"),
        pytest.param(((1, 2), (3, 4), (5, None)), ("second-bye:5",), id="a second bye"),
        pytest.param(
            ((1, 2), (3, None), (4, None)), ("left-out:5", "two-byes:4"), id="two byes, one left out"
        ),
    ],
)
def test_pairings_by_hand_are_looked_at(pairs: Any, faults: tuple[str, ...]) -> None:
    event = a_second_round()
    if faults:
        with pytest.raises(BadPairings) as refused:
            event.do(c.EditRound(pairs, BOSS, event.now))
        assert refused.value.params["faults"] == " ".join(faults)
    event.do(c.EditRound(pairs, BOSS, event.now, reason="they asked for it"))
    assert event.round.faults == faults
    assert tuple(event.pairs()) == pairs


@pytest.mark.parametrize(
    ("pairs", "fault"),
    [
        pytest.param(((1, 2), (2, 3), (4, None)), "twice:2", id="one at two tables"),
        pytest.param(((1, 2), (3, 9), (4, None)), "stranger:9", id="one who is not in it"),
        pytest.param(((1, 1), (2, 3), (4, None)), "twice:1 alone:1", id="one with himself"),
    ],
)
def test_some_pairings_stand_for_no_reason(pairs: Any, fault: str) -> None:
    event = a_second_round()
    with pytest.raises(BadPairings) as refused:
        event.do(c.EditRound(pairs, BOSS, event.now, reason="I want it"))
    assert refused.value.params["faults"] == fault


def test_who_has_left_cannot_be_paired_by_hand() -> None:
    event = a_second_round()
    event.do(c.Withdraw(4, "player-4", event.now))
    with pytest.raises(BadPairings) as refused:
        event.do(c.EditRound(((1, 5), (2, 3), (4, None)), BOSS, event.now, reason="he is here"))
    assert refused.value.params["faults"] == "stranger:4"


def test_a_round_that_runs_is_not_edited_nor_a_bracket() -> None:
    event = a_second_round()
    event.let_begin()
    assert because(event, c.EditRound(((1, 2),), BOSS, event.now, reason="why")) == "started"
    cup = Event(4, stages=CUP).begin()
    cup.draw()
    assert because(cup, c.EditRound(((1, 2), (3, 4)), BOSS, cup.now, reason="why")) == "not-swiss"


def test_other_stages_are_seeded_by_hand() -> None:
    event = Event(4, stages=CUP).begin()
    event.do(c.SeedStage((4, 3, 2, 1), BOSS, "by last year's places", event.now))
    assert event.draw() == [(4, 1), (3, 2)]
    for seeds in ((1, 2, 3), (1, 2, 3, 9)):
        other = Event(4, stages=CUP).begin()
        with pytest.raises(BadPairings):
            other.do(c.SeedStage(seeds, BOSS, "why", other.now))


def test_a_draft_names_what_could_not_be_helped() -> None:
    event = Event(2, stages=SWISS).begin()
    event.do(c.ForbidPair(1, 2, BOSS, "brothers", event.now))
    event.swiss_round((1, 2, 5))
    event.draw()
    assert event.round.faults == ("repeat:1-2", "forbidden:1-2")


# ----------------------------------------------------------------------------------------------------------- matches


def test_the_server_is_told_which_matches_to_make() -> None:
    event = Event(2, stages=SWISS).begin()
    event.open_round()
    (order,) = matches_due(event.competition)
    assert (order.id, order.dice_id, order.entrants) == ("cup-S1R1T1M1", "cup-S1R1T1M1", Seats(1, 2))
    assert (order.due_at, order.missed_from) == (event.now, event.now + 300_000)


def test_in_a_series_seats_are_exchanged_and_ids_are_new() -> None:
    event = Event(2, stages=[{"kind": "swiss", "series": {"matches": 2}}]).begin()
    event.open_round()
    event.play(1, 2, 5)
    (order,) = matches_due(event.competition)
    assert (order.id, order.entrants) == ("cup-S1R1T1M2", Seats(2, 1))
    event.play(1, 2, 5)
    assert matches_due(event.competition) == ()


def test_the_same_report_again_changes_nothing_and_another_is_refused() -> None:
    event = Event(2, stages=SWISS).begin()
    event.open_round()
    result = event.result(1, 2, 5)
    event.do(c.ReportResult(result, event.now))
    assert event.do(c.ReportResult(result, event.now)) == []
    assert because(event, c.ReportResult(result_of_match(result, 6), event.now)) == "already-reported"


@pytest.mark.parametrize(
    ("match", "why"),
    [
        pytest.param("cup-S1R1T1M2", "not-due", id="not played yet"),
        pytest.param("cup-S1R1T9M1", "no-such-match", id="no such table"),
        pytest.param("cup-S2R1T1M1", "no-such-match", id="no such stage"),
        pytest.param("cup-S1R1T3M1", "no-such-match", id="a bye has no match"),
        pytest.param("cap-S1R1T1M1", "no-such-match", id="of another competition"),
        pytest.param("cup-S01R1T1M1", "no-such-match", id="written otherwise"),
        pytest.param("nonsense", "no-such-match", id="nonsense"),
    ],
)
def test_results_of_matches_that_are_not_played(match: str, why: str) -> None:
    event = Event(5, stages=SWISS).begin()
    event.open_round()
    order = matches_due(event.competition)[0]
    wish = c.ReportResult(replace(result_of(order, 1, 5), match=match), event.now)
    assert because(event, wish) == why


def test_a_meeting_that_is_decided_takes_no_result() -> None:
    event = Event(2, stages=SWISS).begin()
    event.open_round()
    result = event.result(1, 2, 5)
    event.do(c.RuleMeeting(event.ref(1, 2), 0, None, BOSS, "power cut", event.now))
    assert because(event, c.ReportResult(result, event.now)) == "decided"
    assert because(event, c.ReportAbsence(event.ref(1, 2), (1,), event.now + 10**9)) == "decided"


def test_nobody_is_missed_too_early() -> None:
    """§12.6: after `no_show_s`."""
    event = Event(2, stages=SWISS, no_show_s=60).begin()
    event.open_round()
    with pytest.raises(NotNow) as refused:
        event.do(c.ReportAbsence(event.ref(1, 2), (1,), event.now + 59_999))
    assert refused.value.params == {"because": "too-early", "until": event.now + 60_000}
    event.do(c.ReportAbsence(event.ref(1, 2), (1,), event.now + 60_000))
    assert event.verdict(1, 2).winner == 2


@pytest.mark.parametrize("absent", [(), (3,), (1, 9)])
def test_only_those_of_a_meeting_are_missed_in_it(absent: tuple[int, ...]) -> None:
    event = Event(4, stages=SWISS).begin()
    event.open_round()
    wish = c.ReportAbsence(event.ref(2, 4), absent, event.now + 300_000)
    assert because(event, wish) == "no-such-match"


def test_a_result_is_corrected_while_nothing_hangs_on_it() -> None:
    event = Event(4, stages=SWISS).begin()
    event.open_round()
    result = event.result(1, 3, 5, objective=0.5)
    event.play_rest()
    event.do(c.CorrectResult(result_of_match(result, -8), BOSS, "entered wrong", event.now))
    assert event.verdict(1, 3).winner == 3
    assert because(event, c.CorrectResult(event_result("cup-S1R1T1M2"), BOSS, "why", event.now)) == "not-due"
    event.close()
    void = c.CorrectResult(event_result("cup-S1R1T1M1", Ending.VOID), BOSS, "why", event.now)
    assert because(event, void) == "depended-on"


def event_result(match: str, ending: Ending = Ending.PLAYED) -> Any:
    return MatchResult(match, ending)


def test_a_match_made_void_is_played_anew() -> None:
    event = Event(2, stages=SWISS).begin()
    event.open_round()
    event.play(1, 2, 5)
    event.do(c.CorrectResult(event_result("cup-S1R1T1M1", Ending.VOID), BOSS, "wrong dice", event.now))
    assert [order.id for order in matches_due(event.competition)] == ["cup-S1R1T1M2"]


def test_an_analysis_stays_with_a_match_whose_points_are_corrected() -> None:
    event = Event(2, stages=SWISS).begin()
    event.open_round()
    result = event.result(1, 2, 5, objective=0.5)
    event.do(c.ReportResult(result, event.now))
    event.do(c.CorrectResult(event_result(result.match), BOSS, "a draw", event.now))
    assert event.verdict(1, 2).objective_for_a == (0.5,)


def test_in_a_knock_out_the_winner_stays_once_the_next_round_is_there() -> None:
    event = Event(4, stages=CUP).begin()
    event.open_round()
    event.play(1, 4, 5)
    event.play(2, 3, 5)
    event.close()
    event.do(c.RuleMeeting(Ref(1, 1, 1), -5, 4, BOSS, "wrong seats", event.now))
    assert (3, 4) not in event.draw()
    assert because(event, c.RuleMeeting(Ref(1, 1, 1), 5, 1, BOSS, "no", event.now)) == "depended-on"
    event.do(c.RuleMeeting(Ref(1, 1, 1), -9, 4, BOSS, "by more", event.now))
    assert event.pairs()[1] == (2, 4)


def test_a_knock_out_needs_a_winner_and_one_of_the_two() -> None:
    event = Event(2, stages=CUP).begin()
    event.open_round()
    assert because(event, c.RuleMeeting(Ref(1, 1, 1), 0, None, BOSS, "why", 1)) == "needs-winner"
    assert because(event, c.RuleMeeting(Ref(1, 1, 1), 0, 7, BOSS, "why", 1)) == "no-such-match"


def test_only_played_matches_are_analysed() -> None:
    event = Event(2, stages=SWISS).begin()
    event.open_round()
    assert because(event, c.ReportObjective("cup-S1R1T1M1", 0.5, "bgsage", 1)) == "no-such-match"
    event.play(1, 2, 5)
    event.do(c.ReportObjective("cup-S1R1T1M1", 0.5, "bgsage", 1))
    assert event.do(c.ReportObjective("cup-S1R1T1M1", 0.5, "bgsage", 1)) == []


# ------------------------------------------------------------------------------------------------- pauses and limits


def test_a_paused_round_begins_no_match_and_costs_nobody_time() -> None:
    event = Event(2, stages=[{"kind": "swiss", "round_ms": 60 * MINUTE}]).begin()
    event.open_round()
    event.do(c.PauseRound(BOSS, "the hall is cold", event.now + MINUTE))
    assert matches_due(event.competition) == ()
    assert next_for(event.competition, 1, event.now).kind == "paused"
    assert because(event, c.PauseRound(BOSS, "again", event.now)) == "paused"
    assert because(event, c.ReportAbsence(Ref(1, 1, 1), (1,), event.now + 300_000)) == "not-started"
    event.do(c.ResumeRound(BOSS, event.now + 11 * MINUTE))
    (order,) = matches_due(event.competition)
    assert order.missed_from == event.now + 300_000 + 10 * MINUTE
    assert event.round.until == event.now + 70 * MINUTE


def test_a_round_has_a_limit_that_can_be_moved() -> None:
    event = Event(2, stages=[{"kind": "swiss", "round_ms": 60 * MINUTE}]).begin()
    event.open_round()
    until = event.now + 60 * MINUTE
    assert overdue(event.competition, until - 1) == ()
    assert [order.id for order in overdue(event.competition, until)] == ["cup-S1R1T1M1"]
    event.do(c.ExtendRound(until + MINUTE, BOSS, "slow dice", event.now))
    assert overdue(event.competition, until) == ()


# ------------------------------------------------------------------------------------------------------ by themselves


def test_a_competition_runs_by_itself() -> None:
    """Started at its time, round after round with a break, and finished; only results come from outside."""
    event = Event(
        4,
        stages=[{"kind": "swiss", "rounds": 2}],
        starts_at=MADE_AT + MINUTE,
        pace={"mode": "auto", "break_ms": 5 * MINUTE},
    )
    assert next_deadline(event.competition) == MADE_AT + MINUTE
    event.now = MADE_AT + MINUTE
    event.do(c.Tick(event.now))
    assert event.round.state is RoundState.STARTED
    event.now += 30 * MINUTE
    for one, other in event.pairs():
        assert other is not None
        told = event.play(one, other, 5)
    assert kinds(told)[1:] == [RoundClosed, RoundDrafted, RoundPublished]
    assert next_deadline(event.competition) == event.now + 5 * MINUTE
    event.now += 5 * MINUTE
    event.do(c.Tick(event.now))
    event.play_rest()
    assert event.competition.state is State.FINISHED
    assert next_deadline(event.competition) is None


def test_with_too_few_at_its_time_it_is_called_off() -> None:
    event = Event(1, stages=SWISS, starts_at=MADE_AT + MINUTE, pace={"mode": "auto"})
    assert kinds(event.do(c.Tick(MADE_AT + MINUTE))) == [Cancelled]
    assert (event.competition.state, event.competition.over_because) == (State.CANCELLED, "too-few")


def test_where_places_hang_on_analyses_the_next_round_waits_for_them_a_while() -> None:
    event = Event(
        2,
        stages=[{"kind": "swiss", "rounds": 2}],
        rank_by="objective_result",
        pace={"mode": "auto", "break_ms": 0},
    )
    event.begin()
    event.play(1, 2, 5)
    assert event.round.state is RoundState.CLOSED
    assert next_deadline(event.competition) == event.now + ANALYSIS_PATIENCE_MS
    event.do(c.ReportObjective("cup-S1R1T1M1", 0.5, "bgsage", event.now))
    assert event.round.number == 2
    event.play(1, 2, 5)
    event.do(c.Tick(event.now))
    assert event.competition.state is State.FINISHED


def test_an_organiser_may_go_on_without_them() -> None:
    event = Event(2, stages=SWISS, rank_by="objective_result").begin()
    event.swiss_round((1, 2, 5))
    assert because(event, c.DraftRound(event.now)) == "analysis-missing"
    event.do(c.DraftRound(event.now, "no judge here"))
    assert event.round.number == 2


def test_it_goes_on_by_hand_after_a_change_of_pace_but_not_by_other_rules() -> None:
    event = Event(2, stages=SWISS, pace={"mode": "auto"}).begin()
    event.do(c.ChangeSettings(settings(stages=SWISS), BOSS, event.now))
    event.play(1, 2, 5)
    assert event.round.state is RoundState.STARTED
    with pytest.raises(BadSettings):
        event.do(c.ChangeSettings(settings(stages=SWISS, preset="blitz"), BOSS, event.now))


def test_the_settings_are_changed_before_the_start() -> None:
    event = Event(4, stages=SWISS)
    event.do(c.ChangeSettings(settings(stages=CUP, preset="blitz"), BOSS, event.now))
    event.begin()
    assert event.stage.rules.kind == "single_elimination"


def test_entry_opens_once() -> None:
    event = Event(2, stages=SWISS)
    assert because(event, c.OpenEntry(BOSS, event.now)) == "already-open"


def test_finished_is_finished() -> None:
    event = Event(2, stages=CUP).begin()
    event.play_to_the_end()
    assert event.competition.state is State.FINISHED
    for wish in (
        c.DraftRound(1),
        c.Finish(1),
        c.Cancel(BOSS, "why", 1),
        c.ChangeSettings(settings(), BOSS, 1),
    ):
        with pytest.raises(RuleError):
            event.do(wish)


def test_ids_are_the_same_on_every_server() -> None:
    assert match_id("cup", Ref(1, 2, 3), 1) == "cup-S1R2T3M1"

"""Whole competitions from entry to places, by made-up results; what holds in all of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.competition import commands as c
from engine.competition.competition import State, replay
from engine.competition.decisions import next_deadline
from engine.competition.facts import RoundDrafted
from engine.competition.meeting import COMPUTER
from engine.competition.overview import matches_due, next_for, places, points_ratings
from engine.competition.pairing import couple
from engine.competition.recompute import differences
from engine.competition.stages import final_order, tables_of
from engine.errors import RuleError
from engine.turn import Seats
from tests.support.organiser import BOSS, MINUTE, Event, by_strength, chance

QUALIFYING = {"kind": "qualifying", "matches": 2}
FORMATS: dict[str, list[Any]] = {
    "source": [
        QUALIFYING,
        {"kind": "groups", "size": 8},
        {"kind": "single_elimination", "take_per_group": 1},
    ],
    "swiss": [{"kind": "swiss", "rounds": 6}],
    "swiss and final": [{"kind": "swiss", "rounds": 4}, {"kind": "double_elimination", "take": 4}],
    "cup": ["single_elimination"],
    "two lives": ["double_elimination"],
    "groups and cup": [
        {"kind": "groups", "size": 4, "division": "snake"},
        {"kind": "single_elimination", "take_per_group": 2, "series": {"matches": 3}},
    ],
}


def check(event: Event, entrants: int) -> None:
    """What holds at the end of every competition."""
    competition = event.competition
    assert competition.state is State.FINISHED
    assert event.replayed() == competition
    found = [place.entrant for place in places(competition)]
    assert sorted(found) == list(range(1, entrants + 1))
    assert [place.place for place in places(competition)] == list(range(1, entrants + 1))
    assert matches_due(competition) == ()
    assert next_deadline(competition) is None
    assert {next_for(competition, n, event.now).kind for n in found} == {"over"}
    for stage in competition.stages:
        for round_ in stage.rounds:
            named = [n for meeting in round_.meetings for n in meeting.pair.entrants]
            assert len(named) == len(set(named))
            assert all(not meeting.verdict.is_open for meeting in round_.meetings)
        if stage.rules.kind in ("swiss", "groups", "round_robin") and len(stage.seeds) > 12:
            times = Counter(
                couple(m.pair.a, m.pair.b) for r in stage.rounds for m in r.meetings if m.pair.b is not None
            )
            assert set(times.values()) == {1}


@pytest.mark.parametrize("entrants", [5, 64, 200])
@pytest.mark.parametrize("name", ["source", "swiss", "two lives"])
def test_from_first_to_last(name: str, entrants: int) -> None:
    event = Event(entrants, stages=FORMATS[name], pace={"mode": "auto", "break_ms": 0})
    event.begin()
    while event.competition.state is State.RUNNING:
        event.play_rest()
    check(event, entrants)


def test_sixty_four_play_qualifying_eight_groups_and_a_final_of_eight() -> None:
    event = Event(64, stages=FORMATS["source"]).begin()
    event.play_to_the_end()
    qualifying, groups, final = event.competition.stages
    assert [len(round_.meetings) for round_ in qualifying.rounds] == [64, 64]
    assert [len(group) for group in groups.groups] == [8] * 8
    met = {couple(m.pair.a, m.pair.b or 0) for r in groups.rounds for m in r.meetings}
    assert met == {couple(*both) for group in groups.groups for both in combinations(group, 2)}
    assert final.seeds == tuple(table.order[0] for table in tables_of(event.competition, groups))
    assert [len(round_.meetings) for round_ in final.rounds] == [4, 2, 2]
    assert final_order(event.competition)[:8] != final.seeds
    check(event, 64)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(FORMATS)), st.integers(4, 14))
def test_every_format_of_any_size_comes_to_its_end(name: str, entrants: int) -> None:
    event = Event(entrants, stages=FORMATS[name]).begin()
    event.play_to_the_end()
    check(event, entrants)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(FORMATS)), st.integers(4, 9), st.integers(0, 10**6), st.booleans())
def test_whatever_happens_the_facts_alone_give_the_same_competition(
    name: str, entrants: int, seed: int, auto: bool
) -> None:
    """People leave, come back, are thrown out, never come, come late; organisers pause, undo, rule, correct."""
    event = Event(
        entrants,
        stages=FORMATS[name],
        pace={"mode": "auto" if auto else "manual", "break_ms": MINUTE},
        entry={"late_rounds": 2} if "swiss" in name or name == "source" else {},
        rank_by="objective_result" if seed % 3 == 0 else None,
    ).begin()
    for step in range(400):
        if event.competition.state is not State.RUNNING:
            break
        event.now += MINUTE
        try:
            event.do(_something(event, seed, step))
        except RuleError:
            event.do(c.Tick(event.now))
    else:
        pytest.fail("it does not end")
    assert event.replayed() == event.competition
    assert differences(event.start, event.facts) == ()
    half = len(event.facts) // 2
    assert replay(replay(event.start, event.facts[:half]), event.facts[half:]) == event.competition
    places(event.competition)
    points_ratings(event.competition)


def _something(event: Event, seed: int, step: int) -> c.Command:
    """A wish, sensible or not, that hangs on the seed and the step alone."""
    luck, now = chance("what", seed, step), event.now
    number = 1 + int(chance("who", seed, step) * len(event.competition.entrants))
    due = matches_due(event.competition)
    if luck < 0.03:
        return c.Withdraw(number, f"player-{number}", now)
    if luck < 0.05:
        return c.Rejoin(number, f"player-{number}", now)
    if luck < 0.06:
        return c.Ban(number, BOSS, "why not", now)
    if luck < 0.08:
        return c.Register(f"late-{step}", now)
    if luck < 0.1:
        return c.Penalise(number, BOSS, "late", now, match_points=1)
    if luck < 0.12:
        return c.UndoRound(BOSS, "why not", now)
    if luck < 0.16 and due:
        return c.ReportAbsence(
            due[0].ref, tuple(n for n in (due[0].entrants.A,) if n != COMPUTER), now + 10**7
        )
    if luck < 0.18 and due:
        return c.RuleMeeting(due[-1].ref, 3, due[-1].entrants.A, BOSS, "why not", now)
    if luck < 0.2 and event.competition.round is not None:
        results = [result for meeting in event.round.meetings for result in meeting.results]
        if results:
            turned = replace(results[0], points=Seats(results[0].points.B, results[0].points.A))
            return c.CorrectResult(turned, BOSS, "seats mixed up", now)
    if luck < 0.22 and event.competition.round is not None:
        return c.PauseRound(BOSS, "why not", now)
    if event.competition.round is not None and event.round.paused_at is not None:
        return c.ResumeRound(BOSS, now)
    if luck < 0.6 and due:
        return c.ReportResult(by_strength(event.competition, due[int(len(due) * luck)]), now)
    if due:
        return c.ReportResult(by_strength(event.competition, due[0]), now)
    if event.competition.round is None or event.round.closed_at is not None:
        return c.Finish(now) if luck < 0.3 else c.DraftRound(now, "go on")
    return {
        "drafted": c.PublishRound(now),
        "published": c.StartRound(now),
        "started": c.CloseRound(now),
    }[event.round.state.value]


@settings(max_examples=15, deadline=None)
@given(st.integers(4, 40))
def test_nobody_of_a_double_elimination_is_out_before_two_losses(entrants: int) -> None:
    event = Event(entrants, stages=FORMATS["two lives"]).begin()
    event.play_to_the_end()
    lost = Counter(
        meeting.pair.other(meeting.verdict.winner)
        for round_ in event.stage.rounds
        for meeting in round_.meetings
        if meeting.pair.b is not None and meeting.verdict.winner is not None
    )
    champion, *others = final_order(event.competition)
    assert lost[champion] <= 1
    assert {lost[each] for each in others} == {2}


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_seeds_groups_and_pairings_are_proved_from_the_facts(name: str) -> None:
    event = Event(12, stages=FORMATS[name])
    event.do(c.Start(event.now, {"player-12": 3_000.0}))
    event.play_to_the_end()
    assert event.competition.stages[0].seeds[0] == 12
    assert differences(event.start, event.facts) == ()


def test_a_draft_that_was_tampered_with_is_found() -> None:
    event = Event(8, stages=FORMATS["swiss"]).begin()
    event.play_to_the_end()
    where = [type(fact) for fact in event.facts].index(RoundDrafted)
    drafted = event.facts[where]
    assert isinstance(drafted, RoundDrafted)
    stored = [*event.facts]
    stored[where] = replace(drafted, pairs=drafted.pairs[::-1])
    found = differences(event.start, stored)
    assert (found[0].number, found[0].what) == (where, "pairs")

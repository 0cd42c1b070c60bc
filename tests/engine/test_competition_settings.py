"""§12 The settings of a competition: what they may be, what they mean, what is shown of them."""

from __future__ import annotations

from typing import Any

import pytest

from engine.competition.settings import (
    DEFAULT_SETTINGS,
    TIE_BREAKS,
    Groups,
    Qualifying,
    SingleElimination,
    competition_ruleset,
    no_show_price,
)
from engine.errors import BadRuleset, BadSettings

FINAL = {"kind": "single_elimination", "take_per_group": 2}
EVENT = {
    "preset": "blitz",
    "ruleset": {"peek": "off"},
    "stages": [{"kind": "qualifying", "matches": 2}, {"kind": "groups", "size": 4}, FINAL],
    "entry": {"mode": "code", "code": "spring", "capacity": 64},
    "pace": {"mode": "auto", "break_ms": 0},
}


def test_a_whole_event_is_read() -> None:
    settings = DEFAULT_SETTINGS.changed(EVENT)
    assert settings.stages == (
        Qualifying(matches=2),
        Groups(size=4),
        SingleElimination(take_per_group=2),
    )
    assert (settings.ruleset.clock.bank_ms, settings.ruleset.peek) == (60_000, "off")


@pytest.mark.parametrize("changes", [{}, EVENT, {"tie_breaks": ["wins"], "rank_by": "objective_result"}])
def test_what_is_written_is_read_back(changes: dict[str, Any]) -> None:
    settings = DEFAULT_SETTINGS.changed(changes)
    assert DEFAULT_SETTINGS.changed(settings.to_dict()) == settings


def test_another_preset_begins_the_ruleset_anew() -> None:
    settings = DEFAULT_SETTINGS.changed({"ruleset": {"peek": "off"}}).changed({"preset": "classic"})
    assert (settings.ruleset.scoring, settings.ruleset.peek) == ("classic", "live")


def test_the_code_of_entry_is_not_shown() -> None:
    shown = DEFAULT_SETTINGS.changed(EVENT).shown()
    assert "spring" not in repr(shown)
    assert shown["entry"]["mode"] == "code"
    assert shown.keys() == DEFAULT_SETTINGS.to_dict().keys()


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        pytest.param({"speed": 1}, "speed", id="no such key"),
        pytest.param({"no_show_s": -1}, "no_show_s", id="no such value"),
        pytest.param({"no_show_s": True}, "no_show_s", id="a truth is no number"),
        pytest.param({"entry": {"mode": "closed"}}, "entry.mode", id="no such value in a group"),
        pytest.param({"entry": {"mode": "code"}}, "entry.code", id="entry by code without one"),
        pytest.param({"entry": {"code": "spring"}}, "entry.code", id="a code for nothing"),
        pytest.param({"entry": {"check_in_ms": 60_000}}, "entry.check_in_ms", id="check-in without a start"),
        pytest.param(
            {"starts_at": 10, "entry": {"closes_at": 11}},
            "entry.closes_at",
            id="entry closes after the start",
        ),
        pytest.param(
            {"entry": {"late_rounds": 2}, "stages": [{"kind": "round_robin"}]},
            "entry.late_rounds",
            id="late into an all-play-all",
        ),
        pytest.param({"stages": []}, "stages", id="no stage"),
        pytest.param({"stages": [{"kind": "swiss"}] * 7}, "stages", id="seven stages"),
        pytest.param({"stages": ["swiss"]}, "stages", id="a stage without keys"),
        pytest.param({"stages": [{"kind": "ladder"}]}, "stages.1.kind", id="no such stage"),
        pytest.param({"stages": [{"kind": "swiss", "size": 8}]}, "stages.1.size", id="a key of another kind"),
        pytest.param(
            {"stages": [{"kind": "swiss"}, {"kind": "qualifying"}]},
            "stages.2.kind",
            id="a qualifying comes first",
        ),
        pytest.param(
            {"stages": [{"kind": "qualifying", "series": {"matches": 2}}]},
            "stages.1.series",
            id="a qualifying has its own count",
        ),
        pytest.param({"stages": [{"kind": "swiss", "take": 8}]}, "stages.1.take", id="from nothing before"),
        pytest.param(
            {"stages": [{"kind": "swiss"}, FINAL]}, "stages.2.take_per_group", id="of groups that were not"
        ),
        pytest.param(
            {"stages": [{"kind": "swiss"}, {"kind": "groups", "exchange": 1}]},
            "stages.2.exchange",
            id="exchange without groups before",
        ),
        pytest.param({"tie_breaks": ["lot", "lot"]}, "tie_breaks", id="a tie-break twice"),
        pytest.param({"tie_breaks": ["beauty"]}, "tie_breaks", id="no such tie-break"),
        pytest.param({"rank_by": "wins"}, "rank_by", id="not to be ranked by"),
        pytest.param({"ruleset": {"clock": {"type": "none"}}}, "ruleset.clock.type", id="§8.6 no clock"),
        pytest.param({"preset": "training"}, "ruleset.clock.type", id="a preset without a clock"),
        pytest.param({"ruleset": {"forfeit_cap": None}}, "ruleset.forfeit_cap", id="§12.6 no cap"),
        pytest.param({"preset": "fast"}, "preset", id="no such preset"),
    ],
)
def test_what_no_competition_can_be_run_by_is_refused(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(BadSettings) as refused:
        DEFAULT_SETTINGS.changed(changes)
    assert refused.value.params["key"] == key


def test_a_wrong_key_of_the_ruleset_is_named() -> None:
    with pytest.raises(BadRuleset):
        DEFAULT_SETTINGS.changed({"ruleset": {"dice": 3}})


@pytest.mark.parametrize(
    ("changes", "criteria"),
    [
        pytest.param({}, TIE_BREAKS, id="match points first"),
        pytest.param(
            {"stages": [{"kind": "qualifying"}]},
            ("point_difference", "match_points", *TIE_BREAKS[2:]),
            id="§12.2 settled points after a qualifying",
        ),
        pytest.param(
            {"rank_by": "objective_result", "tie_breaks": ["wins"]},
            ("objective_result", "wins", "lot"),
            id="as the competition says, the lot last",
        ),
        pytest.param(
            {"tie_breaks": ["lot", "wins"]}, ("match_points", "wins", "lot"), id="nothing after the lot"
        ),
    ],
)
def test_by_what_places_are_told_apart(changes: dict[str, Any], criteria: tuple[str, ...]) -> None:
    assert DEFAULT_SETTINGS.changed(changes).criteria == criteria


@pytest.mark.parametrize(
    ("preset", "changes", "price"),
    [
        pytest.param("objective", {}, 90, id="pips: the cap of 90, about a koks"),
        pytest.param("objective", {"forfeit_cap": 60}, 60, id="another cap"),
        pytest.param("objective", {"pips_cap": 40}, 40, id="no game is worth more"),
        pytest.param("objective", {"scoring": "checkers"}, 15, id="all checkers"),
        pytest.param("classic", {}, 3, id="koks"),
        pytest.param(
            "long", {"scoring": "classic", "unfinished": {"mode": "none"}}, 2, id="long has no koks"
        ),
    ],
)
def test_staying_away_costs_the_dearest_game(preset: str, changes: dict[str, Any], price: int) -> None:
    """§12.6: so that it never pays."""
    assert no_show_price(competition_ruleset(preset, changes)) == price

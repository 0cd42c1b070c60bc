"""§11 The ruleset: every key, its values and its default; anything else is refused."""

from collections.abc import Mapping
from typing import Any

import pytest

from engine.errors import BadRuleset
from engine.match import new_match
from engine.ruleset import DEFAULT, PRESETS, key_values
from engine.variant import VARIANTS
from tests.builders import MADE_AT, SERVER_SEED, data

PUBLISHED = data("ruleset.json")


def dotted(values: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """`{"time": {"mode": "off"}}` as `{"time.mode": "off"}`."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= dotted(value, f"{path}{key}.") if isinstance(value, Mapping) else {path + key: value}
    return flat


def nested(key: str, value: object) -> dict[str, Any]:
    """`time.mode` and a value as `{"time": {"mode": value}}`."""
    head, _, rest = key.partition(".")
    return {head: nested(rest, value) if rest else value}


def published_keys() -> set[str]:
    """`unfinished.num, den` names two keys of one group, `long.*` all of its group."""
    keys: set[str] = set()
    for names in PUBLISHED["keys"]:
        group = names.partition(".")[0] + "." if "." in names else ""
        for name in names.removeprefix(group).split(", "):
            keys |= {f"long.{key}" for key in PUBLISHED["default"]["long"]} if name == "*" else {group + name}
    return keys


def test_every_default_is_as_published() -> None:
    assert DEFAULT.to_dict() == PUBLISHED["default"]


def test_the_keys_are_those_that_are_published_and_no_others() -> None:
    assert key_values().keys() == published_keys() == dotted(PUBLISHED["default"]).keys()


@pytest.mark.parametrize("key", PUBLISHED["presets"])
def test_every_preset_is_as_published(key: str) -> None:
    published, preset = PUBLISHED["presets"][key], PRESETS[key]
    assert (preset.key, preset.ru, preset.en) == (key, published["ru"], published["en"])
    assert preset.changes == published["changes"]
    assert preset.ruleset.changes() == published["changes"]


def test_there_are_no_other_presets_and_the_first_is_the_default() -> None:
    assert list(PRESETS) == list(PUBLISHED["presets"])
    assert PRESETS["objective"].ruleset == DEFAULT


GOOD: list[tuple[str, list[object]]] = [
    ("variant", ["short", "long"]),
    ("opening_double", ["reroll", "allow"]),
    ("scoring", ["pips", "checkers", "classic"]),
    ("pips_cap", [None, 1, 375]),
    ("tied_game", ["draw", "white"]),
    ("unfinished.mode", ["lead", "none"]),
    ("unfinished.num", [1, 2]),
    ("unfinished.den", [1, 2, 1_000]),
    ("unfinished.may_flip", [True, False]),
    ("time.mode", ["linear", "relative", "off"]),
    ("time.threshold_ms", [0, 3_600_000]),
    ("time.ms_per_point", [1_000, 600_000]),
    ("time.cap_num", [0, 4]),
    ("time.cap_den", [1, 4]),
    ("time.settlement", ["symmetric", "loser_only"]),
    ("clock.type", ["simple", "bronstein", "fischer", "per_move", "none"]),
    ("clock.bank_ms", [0, 7_200_000]),
    ("clock.delay_ms", [0, 120_000]),
    ("reveal_ms", [0, 5_000]),
    ("auto_pass_ms", [0, 5_000]),
    ("peek", ["live", "start", "off"]),
    ("draw_offers", ["off", "draw", "settle"]),
    ("forfeit_min", [1, 375]),
    ("forfeit_cap", [None, 1, 90, 1_000]),
    ("grace_s", [0, 600]),
    ("absence_s", [0, 600]),
    ("pause_max_s", [0, 3_600]),
    ("rated", [True, False]),
    ("rating_num", [1, 10]),
    ("rating_den", [1, 10]),
    ("long.head_rule", ["first_doubles", "any_double", "none", "unlimited"]),
    ("long.head_condition", ["only_if_needed", "always"]),
    ("long.block6", ["ahead", "forbid", "allow", "home"]),
    ("long.block_check", ["each_move", "end_of_turn"]),
    ("long.home_mars", [True, False]),
]


def test_this_table_has_every_key() -> None:
    assert {key for key, _ in GOOD} == published_keys()


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in GOOD for value in values])
def test_a_value_that_exists_is_taken_and_comes_back(key: str, value: object) -> None:
    ruleset = DEFAULT.changed(nested(key, value))
    assert dotted(ruleset.to_dict())[key] == value
    is_default = dotted(PUBLISHED["default"])[key] == value
    assert ruleset.changes() == ({} if is_default else nested(key, value))
    assert DEFAULT.changed(ruleset.changes()) == ruleset


@pytest.mark.parametrize("preset", PRESETS)
def test_for_nothing_is_the_same_match_without_rating_and_time(preset: str) -> None:
    """§7.3, §10.2: as it is played with a computer."""
    ruleset = PRESETS[preset].ruleset
    found, was = dotted(ruleset.for_nothing().to_dict()), dotted(ruleset.to_dict())
    assert (found["rated"], found["time.mode"]) == (False, "off")
    assert {key for key in was if found[key] != was[key]} <= {"rated", "time.mode"}
    assert ruleset.for_nothing().for_nothing() == ruleset.for_nothing()


BAD: list[tuple[str, object]] = [
    ("variant", "gul-bara"),
    ("variant", None),
    ("opening_double", True),
    ("scoring", "PIPS"),
    ("pips_cap", 0),
    ("pips_cap", 376),
    ("pips_cap", "60"),
    ("tied_game", "black"),
    ("unfinished.mode", "off"),
    ("unfinished.num", 0),
    ("unfinished.num", 3),  # more than the whole lead: 3/2
    ("unfinished.den", 0),
    ("unfinished.den", 1.0),
    ("unfinished.may_flip", 1),
    ("time.mode", "none"),
    ("time.threshold_ms", -1),
    ("time.threshold_ms", 3_600_001),
    ("time.ms_per_point", 999),
    ("time.ms_per_point", 600_001),
    ("time.cap_num", 5),  # more than all the points: 5/4
    ("time.cap_num", -1),
    ("time.cap_den", 0),
    ("time.settlement", "winner_only"),
    ("clock.type", "hourglass"),
    ("clock.bank_ms", -1),
    ("clock.bank_ms", 7_200_001),
    ("clock.delay_ms", 120_001),
    ("clock.delay_ms", True),
    ("reveal_ms", -1),
    ("reveal_ms", 5_001),
    ("auto_pass_ms", 5_001),
    ("peek", "always"),
    ("draw_offers", True),
    ("forfeit_min", 0),
    ("forfeit_min", None),
    ("forfeit_cap", 0),
    ("grace_s", 601),
    ("absence_s", -1),
    ("pause_max_s", 3_601),
    ("rated", "yes"),
    ("rating_num", 0),
    ("rating_num", -10),
    ("rating_den", 0),
    ("long.head_rule", "any"),
    ("long.head_condition", True),
    ("long.block6", "never"),
    ("long.block_check", "each"),
    ("long.home_mars", 0),
    ("time.mode", []),
    ("time.mode", {}),
]


def test_the_table_of_bad_values_has_every_key() -> None:
    assert {key for key, _ in BAD} == published_keys()


@pytest.mark.parametrize(("key", "value"), BAD)
def test_a_value_that_does_not_exist_is_refused_and_its_key_named(key: str, value: object) -> None:
    with pytest.raises(BadRuleset) as refused:
        DEFAULT.changed(nested(key, value))
    assert refused.value.params["key"] == key
    assert refused.value.code == "bad-ruleset"


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        pytest.param({"cube": True}, "cube", id="no such key"),
        pytest.param({"time": {"modus": "off"}}, "time.modus", id="no such key in its group"),
        pytest.param({"time": "off"}, "time", id="a group is no value"),
        pytest.param({"time": None}, "time", id="nor nothing"),
        pytest.param({"rated": {"by": "points"}}, "rated", id="a value is no group"),
        pytest.param({"Variant": "short"}, "Variant", id="keys are written small"),
        pytest.param({"forfeit_min": 50, "forfeit_cap": 49}, "forfeit_cap", id="a cap under the least"),
        pytest.param({"clock": {"bank_ms": 0, "delay_ms": 0}}, "clock.bank_ms", id="no time at all"),
        pytest.param(
            {"clock": {"type": "per_move", "delay_ms": 0}}, "clock.bank_ms", id="no time for a phase"
        ),
        pytest.param(
            {"clock": {"type": "fischer", "bank_ms": 0}}, "clock.bank_ms", id="no time before the first"
        ),
        pytest.param(
            {"clock": {"type": "bronstein", "bank_ms": 0}}, "clock.bank_ms", id="nothing to give back"
        ),
    ],
)
def test_what_no_match_could_be_played_by_is_refused(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(BadRuleset) as refused:
        DEFAULT.changed(changes)
    assert refused.value.params["key"] == key


@pytest.mark.parametrize(
    ("changes", "allowed"),
    [
        pytest.param({}, False, id="short: rolled again"),
        pytest.param({"opening_double": "allow"}, True, id="short: allowed if so set"),
        pytest.param({"variant": "long"}, True, id="long: allowed always"),
    ],
)
def test_whether_the_first_roll_may_be_a_double(changes: dict[str, Any], allowed: bool) -> None:
    """§2.5, §3.4"""
    assert DEFAULT.changed(changes).opening_double_allowed is allowed


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_variant_that_cannot_be_played_here_begins_no_match(variant: str) -> None:
    ruleset = DEFAULT.changed({"variant": variant})
    if VARIANTS[variant].rules is not None:
        assert new_match("m-1", ruleset, SERVER_SEED, MADE_AT).ruleset == ruleset
    else:
        with pytest.raises(BadRuleset) as refused:
            new_match("m-1", ruleset, SERVER_SEED, MADE_AT)
        assert refused.value.params["key"] == "variant"

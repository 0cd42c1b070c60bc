"""The settings of a match: every key of §11, its values, and the presets. Frozen into a match when it starts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from engine.errors import BadRuleset

Check = Callable[[object], bool]


def _one_of(*values: str) -> dict[str, Any]:
    return {"check": lambda v: v in values, "values": " | ".join(values)}


def _whole(low: int, high: int, *, or_null: bool = False) -> dict[str, Any]:
    def check(value: object) -> bool:
        return (or_null and value is None) or (type(value) is int and low <= value <= high)

    return {"check": check, "values": f"{'null | ' if or_null else ''}{low}..{high}"}


_YES_NO: dict[str, Any] = {"check": lambda v: type(v) is bool, "values": "true | false"}
_HOUR, _LARGE = 3_600_000, 1_000_000


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What the game that was not played out is worth (§6.2)."""

    mode: str = field(default="lead", metadata=_one_of("lead", "none"))
    num: int = field(default=1, metadata=_whole(1, _LARGE))
    den: int = field(default=2, metadata=_whole(1, _LARGE))
    may_flip: bool = field(default=False, metadata=_YES_NO)


@dataclass(frozen=True, slots=True)
class TimeRules:
    """How the difference in thinking time is assessed (§7.3)."""

    mode: str = field(default="linear", metadata=_one_of("linear", "relative", "off"))
    threshold_ms: int = field(default=60_000, metadata=_whole(0, _HOUR))
    ms_per_point: int = field(default=20_000, metadata=_whole(1_000, 600_000))
    cap_num: int = field(default=1, metadata=_whole(0, _LARGE))
    cap_den: int = field(default=4, metadata=_whole(1, _LARGE))
    settlement: str = field(default="symmetric", metadata=_one_of("symmetric", "loser_only"))


@dataclass(frozen=True, slots=True)
class ClockRules:
    """How much time there is (§7.2)."""

    type: str = field(
        default="simple", metadata=_one_of("simple", "bronstein", "fischer", "per_move", "none")
    )
    bank_ms: int = field(default=240_000, metadata=_whole(0, 2 * _HOUR))
    delay_ms: int = field(default=12_000, metadata=_whole(0, 120_000))


@dataclass(frozen=True, slots=True)
class LongRules:
    """What differs between the rules of long nardy that people play (§3)."""

    head_rule: str = field(
        default="first_doubles", metadata=_one_of("first_doubles", "any_double", "none", "unlimited")
    )
    head_condition: str = field(default="only_if_needed", metadata=_one_of("only_if_needed", "always"))
    block6: str = field(default="ahead", metadata=_one_of("ahead", "forbid", "allow", "home"))
    block_check: str = field(default="each_move", metadata=_one_of("each_move", "end_of_turn"))
    home_mars: bool = field(default=False, metadata=_YES_NO)


@dataclass(frozen=True, slots=True)
class Ruleset:
    """All settings of a match (§11)."""

    variant: str = field(default="short", metadata=_one_of("short", "long"))
    opening_double: str = field(default="reroll", metadata=_one_of("reroll", "allow"))
    scoring: str = field(default="pips", metadata=_one_of("pips", "checkers", "classic"))
    pips_cap: int | None = field(default=None, metadata=_whole(1, 375, or_null=True))
    tied_game: str = field(default="draw", metadata=_one_of("draw", "white"))
    unfinished: Unfinished = Unfinished()
    time: TimeRules = TimeRules()
    clock: ClockRules = ClockRules()
    reveal_ms: int = field(default=1_500, metadata=_whole(0, 5_000))
    auto_pass_ms: int = field(default=1_200, metadata=_whole(0, 5_000))
    peek: str = field(default="live", metadata=_one_of("live", "start", "off"))
    draw_offers: str = field(default="off", metadata=_one_of("off", "draw", "settle"))
    forfeit_min: int = field(default=1, metadata=_whole(1, 375))
    forfeit_cap: int | None = field(default=None, metadata=_whole(1, _LARGE, or_null=True))
    grace_s: int = field(default=60, metadata=_whole(0, 600))
    absence_s: int = field(default=120, metadata=_whole(0, 600))
    pause_max_s: int = field(default=600, metadata=_whole(0, 3_600))
    rated: bool = field(default=True, metadata=_YES_NO)
    rating_num: int = field(default=1, metadata=_whole(1, _LARGE))
    rating_den: int = field(default=1, metadata=_whole(1, _LARGE))
    long: LongRules = LongRules()

    def __post_init__(self) -> None:
        """Refuses combinations that no match could be played by. Raises BadRuleset."""
        if self.unfinished.num > self.unfinished.den:
            raise BadRuleset("unfinished.num", "the weight of the lead is at most 1")
        if self.time.cap_num > self.time.cap_den:
            raise BadRuleset("time.cap_num", "time can take at most all the points")
        if self.forfeit_cap is not None and self.forfeit_cap < self.forfeit_min:
            raise BadRuleset("forfeit_cap", "is less than forfeit_min")
        clock = self.clock
        first = {"simple": clock.bank_ms + clock.delay_ms, "per_move": clock.delay_ms, "none": 1}
        if first.get(clock.type, clock.bank_ms) < 1:
            raise BadRuleset("clock.bank_ms", "leaves no time for the first play")

    @property
    def opening_double_allowed(self) -> bool:
        """Whether the first roll may be a double (§2.5, §3.4)."""
        return self.variant == "long" or self.opening_double == "allow"

    def to_dict(self) -> dict[str, Any]:
        """Every key, nested as on the wire."""
        return dataclasses.asdict(self)

    def changes(self, base: Ruleset | None = None) -> dict[str, Any]:
        """Only what differs from another ruleset, else from the default."""
        return _difference(self.to_dict(), (base or DEFAULT).to_dict())

    def changed(self, changes: Mapping[str, Any]) -> Ruleset:
        """This ruleset with some keys changed. Raises BadRuleset for a key or value that does not exist."""
        changed = _changed(self, changes, "")
        assert isinstance(changed, Ruleset)
        return changed


def _changed(rules: Any, changes: Mapping[str, Any], path: str) -> Any:
    known = {f.name: f for f in fields(rules)}
    values: dict[str, Any] = {}
    for key, value in changes.items():
        name = f"{path}{key}"
        if key not in known:
            raise BadRuleset(name, "there is no such key")
        now = getattr(rules, key)
        if is_dataclass(now):
            if not isinstance(value, Mapping):
                raise BadRuleset(name, "is a group of keys")
            values[key] = _changed(now, value, f"{name}.")
        elif not known[key].metadata["check"](value):
            raise BadRuleset(name, f"is one of {known[key].metadata['values']}")
        else:
            values[key] = value
    return dataclasses.replace(rules, **values)


def _difference(values: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    differing = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            inner = _difference(value, defaults[key])
            if inner:
                differing[key] = inner
        elif value != defaults[key]:
            differing[key] = value
    return differing


def key_values() -> dict[str, str]:
    """Every key, dotted, with the values it may have."""
    found: dict[str, str] = {}

    def note(rules: Any, path: str) -> None:
        for f in fields(rules):
            value = getattr(rules, f.name)
            if is_dataclass(value):
                note(value, f"{path}{f.name}.")
            else:
                found[path + f.name] = f.metadata["values"]

    note(DEFAULT, "")
    return found


DEFAULT = Ruleset()


@dataclass(frozen=True, slots=True)
class Preset:
    """A ruleset with a name, as the default with its changes."""

    key: str
    ru: str
    en: str
    changes: Mapping[str, Any]

    @property
    def ruleset(self) -> Ruleset:
        return DEFAULT.changed(self.changes)


PRESETS = {
    preset.key: preset
    for preset in (
        Preset("objective", "Объективные", "Objective", {}),
        Preset(
            "by_the_text",
            "По тексту",
            "By the text",
            {"unfinished": {"mode": "none"}, "time": {"settlement": "loser_only"}},
        ),
        Preset(
            "classic",
            "Классика 1-2-3",
            "Classic 1-2-3",
            {"scoring": "classic", "unfinished": {"mode": "none"}, "time": {"mode": "off"}, "rating_num": 10},
        ),
        Preset(
            "long",
            "Длинные",
            "Long",
            {"variant": "long", "opening_double": "allow", "clock": {"bank_ms": 360_000}},
        ),
        Preset(
            "blitz",
            "Блиц",
            "Blitz",
            {"clock": {"bank_ms": 60_000, "delay_ms": 6_000}, "time": {"mode": "off"}},
        ),
        Preset(
            "training",
            "Тренировка",
            "Training",
            {"rated": False, "draw_offers": "settle", "clock": {"type": "none"}, "time": {"mode": "off"}},
        ),
    )
}

"""The settings of a match: every key of §11, its values, and the presets. Frozen into a match when it starts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine import keys
from engine.errors import BadRuleset
from engine.keys import YES_NO, one_of, whole

_HOUR, _LARGE = 3_600_000, 1_000_000


@dataclass(frozen=True, slots=True)
class Unfinished:
    """What the game that was not played out is worth (§6.2)."""

    mode: str = field(default="lead", metadata=one_of("lead", "none"))
    num: int = field(default=1, metadata=whole(1, _LARGE))
    den: int = field(default=2, metadata=whole(1, _LARGE))
    may_flip: bool = field(default=False, metadata=YES_NO)


@dataclass(frozen=True, slots=True)
class TimeRules:
    """How the difference in thinking time is assessed (§7.3)."""

    mode: str = field(default="linear", metadata=one_of("linear", "relative", "off"))
    threshold_ms: int = field(default=60_000, metadata=whole(0, _HOUR))
    ms_per_point: int = field(default=20_000, metadata=whole(1_000, 600_000))
    cap_num: int = field(default=1, metadata=whole(0, _LARGE))
    cap_den: int = field(default=4, metadata=whole(1, _LARGE))
    settlement: str = field(default="symmetric", metadata=one_of("symmetric", "loser_only"))


@dataclass(frozen=True, slots=True)
class ClockRules:
    """How much time there is (§7.2)."""

    type: str = field(default="simple", metadata=one_of("simple", "bronstein", "fischer", "per_move", "none"))
    bank_ms: int = field(default=240_000, metadata=whole(0, 2 * _HOUR))
    delay_ms: int = field(default=12_000, metadata=whole(0, 120_000))


@dataclass(frozen=True, slots=True)
class LongRules:
    """What differs between the rules of long nardy that people play (§3)."""

    head_rule: str = field(
        default="first_doubles", metadata=one_of("first_doubles", "any_double", "none", "unlimited")
    )
    head_condition: str = field(default="only_if_needed", metadata=one_of("only_if_needed", "always"))
    block6: str = field(default="ahead", metadata=one_of("ahead", "forbid", "allow", "home"))
    block_check: str = field(default="each_move", metadata=one_of("each_move", "end_of_turn"))
    home_mars: bool = field(default=False, metadata=YES_NO)


@dataclass(frozen=True, slots=True)
class Ruleset:
    """All settings of a match (§11)."""

    variant: str = field(default="short", metadata=one_of("short", "long"))
    opening_double: str = field(default="reroll", metadata=one_of("reroll", "allow"))
    scoring: str = field(default="pips", metadata=one_of("pips", "checkers", "classic"))
    pips_cap: int | None = field(default=None, metadata=whole(1, 375, or_null=True))
    tied_game: str = field(default="draw", metadata=one_of("draw", "white"))
    unfinished: Unfinished = Unfinished()
    time: TimeRules = TimeRules()
    clock: ClockRules = ClockRules()
    reveal_ms: int = field(default=1_500, metadata=whole(0, 5_000))
    auto_pass_ms: int = field(default=1_200, metadata=whole(0, 5_000))
    peek: str = field(default="live", metadata=one_of("live", "start", "off"))
    draw_offers: str = field(default="off", metadata=one_of("off", "draw", "settle"))
    forfeit_min: int = field(default=1, metadata=whole(1, 375))
    forfeit_cap: int | None = field(default=None, metadata=whole(1, _LARGE, or_null=True))
    grace_s: int = field(default=60, metadata=whole(0, 600))
    absence_s: int = field(default=120, metadata=whole(0, 600))
    pause_max_s: int = field(default=600, metadata=whole(0, 3_600))
    rated: bool = field(default=True, metadata=YES_NO)
    rating_num: int = field(default=1, metadata=whole(1, _LARGE))
    rating_den: int = field(default=1, metadata=whole(1, _LARGE))
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
        return keys.difference(self.to_dict(), (base or DEFAULT).to_dict())

    def for_nothing(self) -> Ruleset:
        """The same with nothing at stake, as it is played with a computer: no rating moves, and no time is assessed
        (§7.3, §10.2).
        """
        return self.changed({"rated": False, "time": {"mode": "off"}})

    def changed(self, changes: Mapping[str, Any]) -> Ruleset:
        """This ruleset with some keys changed. Raises BadRuleset for a key or value that does not exist."""
        return keys.changed(self, changes, BadRuleset)


def key_values() -> dict[str, str]:
    """Every key, dotted, with the values it may have."""
    return keys.key_values(DEFAULT)


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

"""The settings of a competition: who may enter, the stages in their order, how places are told apart (§12).

Read strictly from nested mappings, as a ruleset is; what is refused raises BadSettings with the dotted key.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from engine import keys
from engine.errors import BadRuleset, BadSettings
from engine.keys import YES_NO, one_of, text, whole
from engine.position import BAR, CHECKERS
from engine.ruleset import PRESETS, Ruleset
from engine.scoring import CLASS_POINTS

_MINUTE, _DAY, _LONG_AGO, _FAR = 60_000, 86_400_000, 0, 10**14
FORFEIT_CAP = 90  # about a koks (§12.6)

RANK_BY = ("match_points", "point_difference", "objective_result")
TIE_BREAKS = (
    "match_points",
    "point_difference",
    "direct_encounter",
    "objective_result",
    "buchholz_cut_1",
    "sonneborn_berger",
    "wins",
    "less_time",
    "lot",
)


@dataclass(frozen=True, slots=True)
class Series:
    """How many matches two entrants play against each other in a round.

    It is over after `matches` of them, or as soon as one side has won `first_to` points. Whoever has more points then
    has won: of all settled points, or with `first_to` of those won.
    """

    matches: int = field(default=1, metadata=whole(1, 99))
    first_to: int | None = field(default=None, metadata=whole(1, 10_000, or_null=True))


@dataclass(frozen=True, slots=True)
class StageRules:
    """What every kind of stage has. `take` best of the stage before it go on (null: all), or so many of each group."""

    kind: ClassVar[str]
    take: int | None = field(default=None, metadata=whole(2, 10_000, or_null=True))
    take_per_group: int | None = field(default=None, metadata=whole(1, 100, or_null=True))
    series: Series = Series()
    round_ms: int | None = field(default=None, metadata=whole(_MINUTE, 90 * _DAY, or_null=True))

    def to_dict(self) -> dict[str, Any]:
        """Every key, `kind` first."""
        return {"kind": self.kind, **dataclasses.asdict(self)}


@dataclass(frozen=True, slots=True)
class Qualifying(StageRules):
    """All play the computer on the same dice (§12.1); start rating = `base` + Σ settled points over `matches`."""

    kind: ClassVar[str] = "qualifying"
    matches: int = field(default=3, metadata=whole(1, 20))
    base: int = field(default=1_000, metadata=whole(0, 100_000))
    computer: str = field(default="expert", metadata=text(1, 40))


@dataclass(frozen=True, slots=True)
class Groups(StageRules):
    """All-play-all in groups of about `size` (§12.2).

    `tiers`: leaders with leaders, outsiders with outsiders; places go by group. `snake`: groups of like strength;
    places go by the place in the group. After an earlier groups stage so many as `exchange` of each group change
    places with the group above.
    """

    kind: ClassVar[str] = "groups"
    size: int = field(default=8, metadata=whole(2, 64))
    division: str = field(default="tiers", metadata=one_of("tiers", "snake"))
    exchange: int = field(default=0, metadata=whole(0, 32))
    legs: int = field(default=1, metadata=whole(1, 4))


@dataclass(frozen=True, slots=True)
class RoundRobin(StageRules):
    """Everybody meets everybody, `legs` times."""

    kind: ClassVar[str] = "round_robin"
    legs: int = field(default=1, metadata=whole(1, 4))


@dataclass(frozen=True, slots=True)
class Swiss(StageRules):
    """So many rounds, each against an opponent of like score and never met before (§12.3)."""

    kind: ClassVar[str] = "swiss"
    rounds: int = field(default=5, metadata=whole(1, 50))


@dataclass(frozen=True, slots=True)
class SingleElimination(StageRules):
    """Who loses is out; perhaps the losers of the semi-finals meet for the third place."""

    kind: ClassVar[str] = "single_elimination"
    third_place: bool = field(default=True, metadata=YES_NO)


@dataclass(frozen=True, slots=True)
class DoubleElimination(StageRules):
    """Who loses twice is out; with `reset` the final is played again when its loser has lost for the first time."""

    kind: ClassVar[str] = "double_elimination"
    reset: bool = field(default=True, metadata=YES_NO)


KINDS: dict[str, type[StageRules]] = {
    rules.kind: rules
    for rules in (Qualifying, Groups, RoundRobin, Swiss, SingleElimination, DoubleElimination)
}


@dataclass(frozen=True, slots=True)
class Entry:
    """Who may enter, and until when. Times are UTC milliseconds.

    `late_rounds`: entry stays possible until this round of the first stage has begun (§12.6). With `check_in_ms`
    entrants confirm, in so much time before the start, that they are there. `bots`: whether others' programs may play.
    """

    mode: str = field(default="open", metadata=one_of("open", "approved", "invited", "code"))
    code: str | None = field(default=None, metadata=text(4, 64, or_null=True))  # never shown
    capacity: int | None = field(default=None, metadata=whole(2, 10_000, or_null=True))
    closes_at: int | None = field(default=None, metadata=whole(_LONG_AGO, _FAR, or_null=True))
    late_rounds: int = field(default=0, metadata=whole(0, 50))
    check_in_ms: int | None = field(default=None, metadata=whole(_MINUTE, 7 * _DAY, or_null=True))
    bots: bool = field(default=False, metadata=YES_NO)


@dataclass(frozen=True, slots=True)
class Pace:
    """Whether rounds follow one another by themselves, and after which break (ms), or by an organiser's hand."""

    mode: str = field(default="manual", metadata=one_of("manual", "auto"))
    break_ms: int = field(default=5 * _MINUTE, metadata=whole(0, 30 * _DAY))


def competition_ruleset(preset: str = "objective", changes: Mapping[str, Any] | None = None) -> Ruleset:
    """A preset with changes, for matches of a competition: `forfeit_cap` is 90 unless changed (§12.6).

    Raises BadRuleset.
    """
    if preset not in PRESETS:
        raise BadRuleset("preset", f"is one of {' | '.join(PRESETS)}")
    return PRESETS[preset].ruleset.changed({"forfeit_cap": FORFEIT_CAP}).changed(changes or {})


_RULESET = competition_ruleset()


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a competition.

    `rank_by` null is §12.2: settled points in a competition that begins with a qualifying, else match points. The
    criteria that `tie_breaks` names decide after it, in their order, and the lot at the end of all.
    """

    preset: str = field(default="objective", metadata=one_of(*PRESETS))
    ruleset: Ruleset = field(default=_RULESET)
    stages: tuple[StageRules, ...] = (Swiss(),)
    rank_by: str | None = field(
        default=None,
        metadata={"check": lambda v: v is None or v in RANK_BY, "values": "null | " + " | ".join(RANK_BY)},
    )
    tie_breaks: tuple[str, ...] = TIE_BREAKS
    bye_points: str = field(default="zero", metadata=one_of("zero", "median"))
    no_show_s: int = field(default=300, metadata=whole(0, 86_400))
    starts_at: int | None = field(default=None, metadata=whole(_LONG_AGO, _FAR, or_null=True))
    entry: Entry = Entry()
    pace: Pace = Pace()

    def __post_init__(self) -> None:
        """Refuses what no competition can be run by. Raises BadSettings."""
        _check_ruleset(self.ruleset)
        _check_stages(self.stages)
        if not self.tie_breaks or len(set(self.tie_breaks)) < len(self.tie_breaks):
            raise BadSettings("tie_breaks", "is a list of different criteria")
        if not set(self.tie_breaks) <= set(TIE_BREAKS):
            raise BadSettings("tie_breaks", f"has these: {' | '.join(TIE_BREAKS)}")
        entry = self.entry
        if (entry.mode == "code") is not (entry.code is not None):
            raise BadSettings("entry.code", "goes with the mode `code`, and the mode with a code")
        if entry.closes_at is not None and self.starts_at is not None and entry.closes_at > self.starts_at:
            raise BadSettings("entry.closes_at", "is not after the start; `late_rounds` lets in later")
        if entry.check_in_ms is not None and self.starts_at is None:
            raise BadSettings("entry.check_in_ms", "needs `starts_at`")
        if entry.late_rounds and self.stages[0].kind not in ("swiss", "qualifying"):
            raise BadSettings("entry.late_rounds", "a late entrant can join a Swiss or a qualifying only")

    @property
    def ranks_by(self) -> str:
        """The first criterion (§12.2, §12.5)."""
        by_points = self.stages[0].kind == "qualifying"
        return self.rank_by or ("point_difference" if by_points else "match_points")

    @property
    def criteria(self) -> tuple[str, ...]:
        """What places are told apart by, in order; the lot is last and leaves no tie (§12.5)."""
        rest = [name for name in self.tie_breaks if name not in (self.ranks_by, "lot")]
        return (self.ranks_by, *rest, "lot")

    def to_dict(self) -> dict[str, Any]:
        """Every key, nested as on the wire; `entry.code` too, so not for everybody's eyes."""
        stages = [stage.to_dict() for stage in self.stages]
        return {**dataclasses.asdict(self), "stages": stages, "tie_breaks": list(self.tie_breaks)}

    def shown(self) -> dict[str, Any]:
        """What everybody may see of them: all but the code."""
        every = self.to_dict()
        entry = {key: every["entry"][key] for key in _SHOWN_OF_ENTRY}
        return {**{key: every[key] for key in _SHOWN}, "entry": entry}

    def changed(self, changes: Mapping[str, Any]) -> Settings:
        """These settings with some keys changed. Raises BadSettings, and BadRuleset for a key of `ruleset`.

        Another `preset` begins the ruleset anew; `stages` and `tie_breaks` are given whole.
        """
        plain = dict(changes)
        read: dict[str, Any] = {}
        if "ruleset" in changes or "preset" in changes:
            read["ruleset"] = self._ruleset_after(changes)
            plain.pop("ruleset", None)
        if "stages" in changes:
            read["stages"] = _stages_of(plain.pop("stages"))
        if "tie_breaks" in changes:
            read["tie_breaks"] = _names_of(plain.pop("tie_breaks"))
        return keys.changed(self, plain, BadSettings, read=read)

    def _ruleset_after(self, changes: Mapping[str, Any]) -> Ruleset:
        inner = changes.get("ruleset", {})
        if not isinstance(inner, Mapping):
            raise BadSettings("ruleset", "is a group of keys")
        if "preset" not in changes or changes["preset"] == self.preset:
            return self.ruleset.changed(inner)
        if changes["preset"] not in PRESETS:
            raise BadSettings("preset", f"is one of {' | '.join(PRESETS)}")
        return competition_ruleset(changes["preset"], inner)


_SHOWN = (
    "preset", "ruleset", "stages", "rank_by", "tie_breaks", "bye_points", "no_show_s", "starts_at", "pace",
)  # fmt: skip
_SHOWN_OF_ENTRY = ("mode", "capacity", "closes_at", "late_rounds", "check_in_ms", "bots")


def _stages_of(given: object) -> tuple[StageRules, ...]:
    if not isinstance(given, list | tuple) or not all(isinstance(stage, Mapping) for stage in given):
        raise BadSettings("stages", "is a list of stages, each with its keys")
    stages = []
    for number, stage in enumerate(given, 1):
        kind = stage.get("kind")
        if kind not in KINDS:
            raise BadSettings(f"stages.{number}.kind", f"is one of {' | '.join(KINDS)}")
        rest = {key: value for key, value in stage.items() if key != "kind"}
        stages.append(keys.changed(KINDS[kind](), rest, BadSettings, f"stages.{number}."))
    return tuple(stages)


def _names_of(given: object) -> tuple[str, ...]:
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise BadSettings("tie_breaks", "is a list of names")
    return tuple(given)


def _check_ruleset(ruleset: Ruleset) -> None:
    if ruleset.clock.type == "none":
        raise BadSettings("ruleset.clock.type", "a competition has no match without a clock")
    if ruleset.forfeit_cap is None:
        raise BadSettings("ruleset.forfeit_cap", "a competition has one, since a no-show costs as much")


def _check_stages(stages: tuple[StageRules, ...]) -> None:
    if not 1 <= len(stages) <= 6:
        raise BadSettings("stages", "are one to six")
    for number, stage in enumerate(stages, 1):
        before = stages[number - 2] if number > 1 else None
        after_groups = isinstance(before, Groups)
        if stage.kind == "qualifying" and before is not None:
            raise BadSettings(f"stages.{number}.kind", "a qualifying comes first")
        if stage.kind == "qualifying" and stage.series != Series():
            raise BadSettings(f"stages.{number}.series", "a qualifying counts its own `matches`")
        if stage.take is not None and (before is None or stage.take_per_group is not None):
            raise BadSettings(f"stages.{number}.take", "needs a stage before, and excludes `take_per_group`")
        if stage.take_per_group is not None and not after_groups:
            raise BadSettings(f"stages.{number}.take_per_group", "needs groups before")
        if isinstance(stage, Groups) and stage.exchange and not after_groups:
            raise BadSettings(f"stages.{number}.exchange", "needs groups before")


DEFAULT_SETTINGS = Settings()


def no_show_price(ruleset: Ruleset) -> int:
    """What an absent entrant loses and his opponent wins: the dearest game of the basis, at most `forfeit_cap` (§12.6).

    Staying away never pays.
    """
    dearest = {
        "classic": CLASS_POINTS["koks" if ruleset.variant == "short" else "mars"],
        "checkers": CHECKERS,
        "pips": ruleset.pips_cap or CHECKERS * BAR,
    }[ruleset.scoring]
    cap = dearest if ruleset.forfeit_cap is None else ruleset.forfeit_cap
    return max(ruleset.forfeit_min, min(dearest, cap))

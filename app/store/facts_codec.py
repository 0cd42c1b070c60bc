"""The facts of competitions as JSON, and their settings.

Each kind of fact is written out here by its fields, so that a change in the engine cannot change what old competitions
mean. Reading is strict. A new way of writing gets a new FORMAT and its own entry in `_READERS`; old ones stay.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Literal, Union, get_args

import msgspec

from app.store.codec import Unreadable
from engine.competition import facts
from engine.competition.facts import Fact
from engine.competition.meeting import Ending, MatchResult, Pair, Ref
from engine.competition.settings import DEFAULT_SETTINGS, Settings
from engine.errors import RuleError
from engine.turn import Seat, Seats

FORMAT = 1


class _Pair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    a: int
    b: int | None
    group: int | None
    slot: str | None
    zero: bool


class _Result(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    match: str
    ending: Ending
    points: tuple[int, int]
    net_for_A: int
    time_ms: tuple[int, int]
    by: Seat | None
    classes: tuple[str | None, str | None]
    rated: bool
    objective_for_A: float | None


_Seeds = tuple[int, ...]
_Groups = tuple[tuple[int, ...], ...]
_Pairs = tuple[_Pair, ...]
_Names = tuple[str, ...]
_Place = tuple[int, int, int]  # stage, round, table
_Plain = dict[str, Any]
_Numbers = tuple[tuple[int, float], ...]
_Why = Literal["no-show", "withdrawn", "banned"]
_Whose = {"entrant": int}
_Round = {"stage": int, "round": int}
_ByAt = {"by": str, "at": int}
_ByWhyAt = {"by": str, "reason": str, "at": int}
_At = {"at": int}

# What is stored of each fact, field by field.
_FIELDS: dict[type[Any], tuple[str, dict[str, Any]]] = {
    facts.SettingsChanged: ("settings-changed", {"settings": _Plain, **_ByAt}),
    facts.EntryOpened: ("entry-opened", _ByAt),
    facts.Finished: ("finished", _At),
    facts.Cancelled: ("cancelled", {"by": str | None, "reason": str, "at": int}),
    facts.PlayerInvited: ("player-invited", {"player": str, **_ByAt}),
    facts.EntrantRegistered: (
        "entrant-registered",
        {**_Whose, "player": str, "strength": float, "approved": bool, "at": int},
    ),
    facts.EntrantApproved: ("entrant-approved", {**_Whose, **_ByAt}),
    facts.EntrantDeclined: ("entrant-declined", {**_Whose, **_ByWhyAt}),
    facts.EntrantCheckedIn: ("entrant-checked-in", {**_Whose, **_At}),
    facts.EntrantWithdrew: ("entrant-withdrew", {**_Whose, **_ByWhyAt}),
    facts.EntrantReturned: ("entrant-returned", {**_Whose, **_ByAt}),
    facts.EntrantBanned: ("entrant-banned", {**_Whose, **_ByWhyAt}),
    facts.EntrantReplaced: ("entrant-replaced", {**_Whose, "player": str, "strength": float, **_ByWhyAt}),
    facts.EntrantSeeded: ("entrant-seeded", {**_Whose, "seed": int | None, **_ByAt}),
    facts.EntrantsRated: ("entrants-rated", {"strengths": _Numbers, **_At}),
    facts.PairForbidden: (
        "pair-forbidden",
        {"first": int, "second": int, "forbidden": bool, **_ByWhyAt},
    ),
    facts.PenaltyGiven: (
        "penalty-given",
        {**_Whose, "stage": int, "match_points": int, "points": int, **_ByWhyAt},
    ),
    facts.StageOpened: ("stage-opened", {"stage": int, "seeds": _Seeds, "groups": _Groups, **_At}),
    facts.StageSeeded: ("stage-seeded", {"stage": int, "seeds": _Seeds, "groups": _Groups, **_ByWhyAt}),
    facts.StageJoined: ("stage-joined", {"stage": int, **_Whose, **_At}),
    facts.StageUndone: ("stage-undone", {"stage": int, **_ByWhyAt}),
    facts.RoundDrafted: ("round-drafted", {**_Round, "pairs": _Pairs, "faults": _Names, **_At}),
    facts.RoundEdited: ("round-edited", {**_Round, "pairs": _Pairs, "faults": _Names, **_ByWhyAt}),
    facts.RoundPublished: ("round-published", {**_Round, "start_at": int | None, **_At}),
    facts.RoundScheduled: ("round-scheduled", {**_Round, "start_at": int | None, **_ByAt}),
    facts.RoundStarted: ("round-started", {**_Round, "until": int | None, **_At}),
    facts.RoundPaused: ("round-paused", {**_Round, **_ByWhyAt}),
    facts.RoundResumed: ("round-resumed", {**_Round, **_ByAt}),
    facts.RoundExtended: ("round-extended", {**_Round, "until": int, **_ByWhyAt}),
    facts.RoundClosed: ("round-closed", {**_Round, **_At}),
    facts.RoundUndone: ("round-undone", {**_Round, **_ByWhyAt}),
    facts.ResultReported: ("result-reported", {"result": _Result, **_At}),
    facts.ResultCorrected: ("result-corrected", {"result": _Result, **_ByWhyAt}),
    facts.ObjectiveFound: (
        "objective-found",
        {"match": str, "objective_for_A": float, "judge": str, "at": int},
    ),
    facts.MeetingForfeited: (
        "meeting-forfeited",
        {"ref": _Place, "absent": _Seeds, "why": _Why, "at": int},
    ),
    facts.MeetingRuled: (
        "meeting-ruled",
        {"ref": _Place, "points_for_a": int, "winner": int | None, **_ByWhyAt},
    ),
}


def _struct(kind: type[Any], tag: str, fields: dict[str, Any]) -> type[msgspec.Struct]:
    return msgspec.defstruct(
        f"_{kind.__name__}", list(fields.items()), tag_field="type", tag=tag, frozen=True,
        forbid_unknown_fields=True,
    )  # fmt: skip


_STRUCTS = {kind: _struct(kind, tag, fields) for kind, (tag, fields) in _FIELDS.items()}
_KINDS = {struct: kind for kind, struct in _STRUCTS.items()}
assert set(_FIELDS) == set(get_args(Fact))

_TO_PLAIN: dict[Any, Callable[[Any], Any]] = {
    _Plain: lambda settings: settings.to_dict(),
    _Pairs: lambda pairs: tuple(_Pair(p.a, p.b, p.group, p.slot, p.zero) for p in pairs),
    _Result: lambda result: _result(result),
    _Place: tuple,
}
_FROM_PLAIN: dict[Any, Callable[[Any], Any]] = {
    _Plain: lambda plain: settings_from(plain),
    _Pairs: lambda pairs: tuple(Pair(p.a, p.b, p.group, p.slot, p.zero) for p in pairs),
    _Result: lambda result: _match_result(result),
    _Place: lambda place: Ref(*place),
}


def _same(value: Any) -> Any:
    return value


def _result(r: MatchResult) -> _Result:
    return _Result(
        r.match,
        r.ending,
        (r.points.A, r.points.B),
        r.net_for_A,
        (r.time_ms.A, r.time_ms.B),
        r.by,
        r.classes,
        r.rated,
        r.objective_for_A,
    )


def _match_result(r: _Result) -> MatchResult:
    return MatchResult(
        r.match,
        r.ending,
        Seats(*r.points),
        r.net_for_A,
        Seats(*r.time_ms),
        r.by,
        r.classes,
        r.rated,
        r.objective_for_A,
    )


def _stored(fact: Fact) -> msgspec.Struct:
    kind = type(fact)
    fields = _FIELDS[kind][1]
    assert set(fields) == {field.name for field in dataclasses.fields(fact)}
    return _STRUCTS[kind](
        **{name: _TO_PLAIN.get(type_, _same)(getattr(fact, name)) for name, type_ in fields.items()}
    )


def _fact(stored: msgspec.Struct) -> Fact:
    kind = _KINDS[type(stored)]
    fields = _FIELDS[kind][1]
    fact: Fact = kind(
        **{name: _FROM_PLAIN.get(type_, _same)(getattr(stored, name)) for name, type_ in fields.items()}
    )
    return fact


_write = msgspec.json.Encoder().encode
_AnyStored: Any = Union[tuple(_STRUCTS.values())]  # noqa: UP007
_READERS = {1: msgspec.json.Decoder(tuple[_AnyStored, ...]).decode}


def facts_text(happened: Iterable[Fact]) -> str:
    """These facts as they are stored, in FORMAT."""
    return _write([_stored(fact) for fact in happened]).decode()


def facts_of(format_: int, text: str) -> tuple[Fact, ...]:
    """The facts of one stored row. Raises Unreadable."""
    read = _READERS.get(format_)
    if read is None:
        raise Unreadable(f"facts of format {format_} need a newer server")
    try:
        return tuple(map(_fact, read(text)))
    except (msgspec.DecodeError, RuleError) as wrong:
        raise Unreadable(f"no facts of format {format_}: {wrong}") from wrong


def plain_fact(fact: Fact) -> dict[str, Any]:
    """One fact as it is stored: its `type`, and its fields as plain data."""
    plain: dict[str, Any] = msgspec.to_builtins(_stored(fact))
    return plain


def settings_text(settings: Settings) -> str:
    """Settings as they are stored: every key, so that a later default changes no competition."""
    return _write(settings.to_dict()).decode()


def settings_from(plain: dict[str, Any]) -> Settings:
    """Settings from every key of them. Raises RuleError."""
    return DEFAULT_SETTINGS.changed(plain)


@lru_cache(maxsize=64)
def settings_of(text: str) -> Settings:
    """The settings of a stored competition. Raises Unreadable."""
    try:
        return settings_from(msgspec.json.decode(text, type=dict[str, Any]))
    except (msgspec.DecodeError, RuleError) as wrong:
        raise Unreadable(f"no settings: {wrong}") from wrong

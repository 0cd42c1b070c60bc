"""The organisers' log: who has done what, when, before and after, and why.

Nothing is written for it that is not written anyway, in the same transaction as the change itself, and never again: the
facts of the competition, the journals of its matches, and for words and keys a log of their own. So it lacks nothing,
says nothing else, and cannot be edited. Of a qualifying's open round it tells nothing that entrants did (§5.4).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2s
from typing import Any

from app.service import competition_views as views
from app.service.competitions import Competitions
from app.service.organisers import via_of
from app.service.runner import SERVER
from app.store import Store
from app.store.accounts import Account
from app.store.competitions import FactsRow
from app.store.facts_codec import plain_fact
from app.store.organisers import AdminKey, OrderRow
from engine.competition import facts
from engine.competition.competition import Competition, Round, apply, new_competition
from engine.competition.facts import Fact
from engine.competition.meeting import MatchResult, Meeting, Ref
from engine.competition.pairing import couple
from engine.match import Event, MatchEnded, PauseOrdered, Resumed, TimeAdded

_KEPT = 16


@dataclass(frozen=True, slots=True)
class Actor:
    """Who did it."""

    account: str
    name: str
    tag: str | None


@dataclass(frozen=True, slots=True)
class ActorKey:
    """The key by which it came."""

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is otherwise now: what was done, to whom or what, as it was and as it is, why."""

    what: str
    target: str
    before: Any
    after: Any
    reason: str | None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """What one call, or the server itself (`actor` null), has changed. `at` is UTC ms, `time` the same in words.

    `id` says nothing: numbers would tell how much there is that is not shown yet (§5.4).
    """

    id: str
    at: int
    time: str
    actor: Actor | None
    key: ActorKey | None
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class _Raw:
    """An entry before names are looked up; a change has with it the meeting of which it tells."""

    id: str
    order: int
    at: int
    actor: str | None
    key: str | None
    changes: tuple[tuple[Change, Ref | None], ...]


class Audit:
    """The logs of events."""

    def __init__(self, store: Store, competitions: Competitions) -> None:
        self._store = store
        self._competitions = competitions
        self._kept: OrderedDict[str, tuple[int, Competition, tuple[_Raw, ...]]] = OrderedDict()

    async def entries(self, event: str) -> list[AuditEntry]:
        """The whole log of an event, the oldest first. Raises NoSuchCompetition."""
        competition, _ = await self._competitions.competition(event)
        raw = [*await self._of_facts(event), *await self._of_orders(event), *await self._of_log(event)]
        raw.sort(key=lambda one: (one.at, one.order))
        accounts = await self._store.accounts.load_many({one.actor for one in raw if one.actor})
        owner = await self._competitions.owner(event)
        keys = {key.id: key for key in await self._store.organisers.keys_of(owner)}
        found = []
        for one in raw:
            shown = tuple(change for change, ref in one.changes if not _is_hidden(competition, ref))
            if shown:
                found.append(_entry(event, one, shown, accounts, keys))
        return found

    async def _of_facts(self, event: str) -> tuple[_Raw, ...]:
        _, stored = await self._competitions.competition(event)
        start = new_competition(stored.id, stored.settings, stored.lot_seed)
        version, competition, found = self._kept.pop(event, (0, start, ()))
        rows = await self._store.competitions.facts(event, version)
        new = []
        for row in rows:
            told, competition = _told(competition, row)
            new.append(told)
            version = row.version
        self._kept[event] = version, competition, (*found, *new)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return self._kept[event][2]

    async def _of_orders(self, event: str) -> list[_Raw]:
        """What arbiters ordered of running matches; what the server ended itself is in the facts already."""
        found = []
        for row in await self._store.organisers.orders(event):
            ordered = [(by, change) for by, change in map(_order, _of(row)) if by and change]
            if ordered:
                changes = tuple((change, None) for _, change in ordered)
                found.append(
                    _Raw(
                        f"{row.match}.{row.version}",
                        1_000_000_000 + row.version,
                        row.at,
                        ordered[0][0],
                        via_of(row.command_id),
                        changes,
                    )
                )
        return found

    async def _of_log(self, event: str) -> list[_Raw]:
        found = [
            _Raw(
                f"log.{row.number}",
                2_000_000_000 + row.number,
                row.at,
                row.actor,
                row.key,
                ((Change(row.what, row.target, row.before, row.after, row.reason), None),),
            )
            for row in await self._store.organisers.log(event)
        ]
        found += [
            _Raw(
                f"note.{note.number}",
                3_000_000_000 + note.number,
                note.at,
                note.by,
                None,
                ((Change("note-added", note.match or event, None, note.text, None), None),),
            )
            for note in await self._store.competitions.notes(event)
        ]
        return found


def _entry(
    event: str,
    raw: _Raw,
    shown: tuple[Change, ...],
    accounts: Mapping[str, Account],
    keys: Mapping[str, AdminKey],
) -> AuditEntry:
    entry_id = blake2s(f"{event} {raw.id}".encode(), digest_size=8).hexdigest()
    account = accounts.get(raw.actor) if raw.actor else None
    actor = Actor(account.id, account.name, account.tag) if account else None
    if actor is None and raw.actor:
        actor = Actor(raw.actor, raw.actor, None)
    key = keys.get(raw.key) if raw.key else None
    told = ActorKey(key.id, key.label) if key else None
    time = datetime.fromtimestamp(raw.at / 1000, UTC).isoformat(timespec="milliseconds")
    return AuditEntry(entry_id, raw.at, time, actor, told, shown)


def _is_hidden(competition: Competition, ref: Ref | None) -> bool:
    """Whether it tells what an entrant did in a qualifying's round that is open (§5.4)."""
    return ref is not None and views.is_open_qualifying(competition, ref.stage, ref.round)


# ------------------------------------------------------------------------------------------- of a competition's facts


def _told(before: Competition, row: FactsRow) -> tuple[_Raw, Competition]:
    """A row as an entry, and the competition after it."""
    changes = []
    for fact in row.facts:
        after = apply(before, fact)
        changes.append(_change(before, fact, after))
        before = after
    raw = _Raw(
        str(row.version),
        row.version,
        row.at,
        row.actor,
        via_of(row.command_id),
        tuple(changes),
    )
    return raw, before


def _change(before: Competition, fact: Fact, after: Competition) -> tuple[Change, Ref | None]:
    """What a fact has changed, and the meeting of which it tells."""
    plain = plain_fact(fact)
    what = str(plain["type"])
    reason = plain.get("reason") or None
    target, look, ref = _aim(fact)
    was, is_ = look(before), look(after)
    if isinstance(was, dict) and isinstance(is_, dict):
        changed = [name for name in is_ if was.get(name) != is_[name]]
        was, is_ = {name: was.get(name) for name in changed}, {name: is_[name] for name in changed}
    return Change(what, target, was, is_, reason), ref


Look = Callable[[Competition], Any]


def _aim(fact: Fact) -> tuple[str, Look, Ref | None]:
    """What a fact is about, how to look at that, and the meeting of which it tells."""
    match fact:
        case facts.SettingsChanged():
            return "settings", lambda c: c.settings.to_dict(), None
        case facts.PlayerInvited(player):
            return f"player {player}", lambda c: player in c.invited, None
        case facts.EntrantsRated(strengths):
            rated = [entrant for entrant, _ in strengths]
            return "strengths", lambda c: {str(n): c.entrant(n).strength for n in rated}, None
        case facts.PairForbidden(first, second):
            both = couple(first, second)
            return f"entrants {first} and {second}", lambda c: {"forbidden": both in c.forbidden}, None
        case facts.PenaltyGiven(entrant, stage):
            return f"entrant {entrant}", lambda c: _penalties(c, entrant, stage), None
        case facts.StageOpened(stage) | facts.StageSeeded(stage) | facts.StageUndone(stage):
            return f"stage {stage}", lambda c: _stage(c, stage), None
        case facts.StageJoined(stage):
            return f"stage {stage}", lambda c: _stage(c, stage), None
        case facts.ResultReported(result) | facts.ResultCorrected(result):
            return (
                f"match {result.match}",
                lambda c: _result(c.result(result.match)),
                views.ref_of(result.match),
            )
        case facts.ObjectiveFound(match):
            return f"match {match}", lambda c: _result(c.result(match)), views.ref_of(match)
        case facts.MeetingForfeited(ref) | facts.MeetingRuled(ref):
            return f"table {ref.stage}-{ref.round}-{ref.table}", lambda c: _meeting(c.meeting(ref)), ref
        case facts.EntryOpened() | facts.Finished() | facts.Cancelled():
            return "event", lambda c: {"state": c.state.value, "over_because": c.over_because}, None
        case _ if isinstance(fact, facts.RoundFact):
            stage, number = fact.stage, fact.round
            return f"round {stage}-{number}", lambda c: _round(_round_at(c, stage, number)), None
        case _:
            entrant = fact.entrant
            return f"entrant {entrant}", lambda c: _entrant(c, entrant), None


def _penalties(competition: Competition, entrant: int, stage: int) -> dict[str, int]:
    given = [p for p in competition.penalties if (p.entrant, p.stage) == (entrant, stage)]
    return {"match_points": sum(p.match_points for p in given), "points": sum(p.points for p in given)}


def _stage(competition: Competition, number: int) -> dict[str, Any] | None:
    if number > len(competition.stages):
        return None
    stage = competition.stages[number - 1]
    return {"kind": stage.rules.kind, "seeds": stage.seeds, "groups": stage.groups}


def _result(result: MatchResult | None) -> dict[str, Any] | None:
    if result is None:
        return None
    return {
        "ending": result.ending.value,
        "points": {"A": result.points.A, "B": result.points.B},
        "time_ms": {"A": result.time_ms.A, "B": result.time_ms.B},
        "objective_for_A": result.objective_for_A,
    }


def _meeting(meeting: Meeting | None) -> dict[str, Any] | None:
    if meeting is None:
        return None
    verdict = meeting.verdict
    return {
        "how": verdict.how,
        "absent": meeting.absent,
        "winner": verdict.winner,
        "match_points": verdict.match_points,
        "points": verdict.points,
    }


def _round_at(competition: Competition, stage: int, number: int) -> Round | None:
    if stage > len(competition.stages) or number > len(competition.stages[stage - 1].rounds):
        return None
    return competition.stages[stage - 1].rounds[number - 1]


def _round(round_: Round | None) -> dict[str, Any] | None:
    if round_ is None:
        return None
    return {
        "state": round_.state.value,
        "pairs": [(meeting.pair.a, meeting.pair.b) for meeting in round_.meetings],
        "faults": round_.faults,
        "start_at": round_.start_at,
        "until": round_.until,
        "paused": round_.paused_at is not None,
    }


def _entrant(competition: Competition, number: int) -> dict[str, Any] | None:
    if number > len(competition.entrants):
        return None
    entrant = competition.entrant(number)
    return {
        "player": entrant.player,
        "status": entrant.status.value,
        "checked_in": entrant.checked_in,
        "seed": entrant.seed,
    }


# --------------------------------------------------------------------------------------------- of a match's journal


def _of(row: OrderRow) -> Iterator[tuple[str, Event]]:
    for event in row.events:
        yield row.match, event


def _order(found: tuple[str, Event]) -> tuple[str | None, Change | None]:
    """Who ordered this, and what it changed; nothing for what happened by itself, or by the server's order."""
    match_id, event = found
    target = f"match {match_id}"
    match event:
        case PauseOrdered(by, reason):
            change = Change("match-paused", target, {"paused": False}, {"paused": True}, reason)
        case Resumed(by, reason):
            change = Change("match-resumed", target, {"paused": True}, {"paused": False}, reason)
        case TimeAdded(seat, ms, by, reason):
            change = Change("time-added", target, None, {"seat": seat.value, "ms": ms}, reason)
        case MatchEnded(outcome, _, _, net_for_A, by, reason):
            result = {"outcome": outcome.value, "net_for_A": net_for_A}
            change = Change("match-ended", target, None, result, reason)
        case _:
            return None, None
    return (by, change) if by and by != SERVER else (None, None)

"""What organisers read of an event in lists, take in as lists, and take away whole."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import csv
import io
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from app.service.accounts import clean_name
from app.service.audit import Audit, AuditEntry
from app.service.competition_views import (
    CrossTable,
    MatchShown,
    OrganiserEntrant,
    OrganiserView,
    Standings,
    Summary,
)
from app.service.competitions import BoardShown, Competitions
from app.service.entry_list import Fault, ListLine, read_list
from app.service.errors import AppError, BadCursor, NoSuchMatch, NotArbiter, PlaysWith, RoundIsOpen
from app.service.matches import Matches, Standing
from app.service.organisers import Asking, Organisers
from app.service.recompute import Recomputed, recompute
from app.store import Store
from app.store.accounts import Account, folded
from app.store.competitions import Note
from engine.competition import commands
from engine.errors import EntryRefused, RuleError

T = TypeVar("T")
_OVER = ("finished", "cancelled")
_TOGETHER = 100  # matches, and competitions, of one player, the newest
_RISKY = re.compile(r"[=+\-@\t\r]")  # a spreadsheet takes what begins so for a formula


@dataclass(frozen=True, slots=True)
class EventsPage:
    """Events, the newest first; `next` is the cursor of the page after this one, null on the last."""

    events: list[Summary]
    next: str | None


@dataclass(frozen=True, slots=True)
class EntrantsPage:
    """Entrants by their numbers; `next` is the cursor of the page after this one, null on the last."""

    entrants: list[OrganiserEntrant]
    next: str | None


@dataclass(frozen=True, slots=True)
class MatchLine:
    """A match of an event: where it belongs, whose it is, and what it came to."""

    stage: int
    round: int
    table: int
    match: MatchShown


@dataclass(frozen=True, slots=True)
class MatchNow:
    """One match of an event, and how far it is: null before its first phase, and once its result is in."""

    stage: int
    round: int
    table: int
    match: MatchShown
    standing: Standing | None


@dataclass(frozen=True, slots=True)
class MatchesPage:
    """Matches in the order of stages, rounds and tables. Nothing is here of a qualifying's open round (§5.4)."""

    matches: list[MatchLine]
    next: str | None


@dataclass(frozen=True, slots=True)
class AuditPage:
    """The log, the oldest first. `next` is null at its end."""

    entries: list[AuditEntry]
    next: str | None


@dataclass(frozen=True, slots=True)
class LineReport:
    """What came of a line of a list: `entered`, `already` there, or `wrong` and why.

    `link` is an address that opens the account that was made for this player, on any device: send it to him and to
    nobody else.
    """

    line: int
    status: str
    name: str
    entrant: int | None
    account: str | None
    link: str | None
    fault: Fault | None


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What came of a list, line by line."""

    entered: int
    already: int
    wrong: int
    lines: list[LineReport]


@dataclass(frozen=True, slots=True)
class NewLink:
    """An entrant's new personal link; the version of the event for which it was asked."""

    entrant: int
    account: str
    link: str
    version: int


@dataclass(frozen=True, slots=True)
class StageFile:
    """A stage of an event as it stands."""

    standings: Standings
    cross_tables: tuple[CrossTable, ...]


@dataclass(frozen=True, slots=True)
class EventFile:
    """All of an event that an organiser may have, in one file."""

    format: str
    event: OrganiserView
    stages: list[StageFile]
    boards: list[BoardShown]
    notes: list[Note]
    audit: list[AuditEntry]


class EventFiles:
    """Lists of an event. Methods raise NoSuchCompetition where there is none."""

    def __init__(
        self,
        store: Store,
        competitions: Competitions,
        matches: Matches,
        organisers: Organisers,
        audit: Audit,
        now: Callable[[], int],
        open_another: Callable[[], Awaitable[Store]],
    ) -> None:
        """`open_another` opens the same store once more, for work that is done apart."""
        self._store = store
        self._open = open_another
        self._competitions = competitions
        self._matches = matches
        self._organisers = organisers
        self._audit = audit
        self._now = now
        self._recomputing = asyncio.Lock()  # it is much work: one at a time

    # ---------------------------------------------------------------------------------------------------- read

    async def events(
        self, owner: str, only: str | None, *, state: str | None, limit: int, cursor: str | None
    ) -> EventsPage:
        """An owner's events, perhaps one only, perhaps those in one state. Raises BadCursor."""
        before = None if cursor is None else _read_cursor(cursor)[0]
        if not isinstance(before, int | None):
            raise BadCursor
        found: list[Summary] = []
        while len(found) <= limit:
            some = await self._competitions.owned_by(owner, limit=limit + 1, before=before)
            found += [one for one in some if only in (None, one.id) and state in (None, one.state)]
            if len(some) <= limit:
                break
            before = some[-1].created_at
        page = found[:limit]
        return EventsPage(page, _cursor((page[-1].created_at,)) if len(found) > limit else None)

    async def entrant(self, event: str, number: int) -> OrganiserEntrant:
        """One entrant. Raises EntryRefused."""
        entrants = (await self._competitions.organiser_view(event)).entrants
        if not 1 <= number <= len(entrants):
            raise EntryRefused("no-such-entrant", f"There is no entrant {number}.", entrant=number)
        return entrants[number - 1]

    async def entrants(
        self, event: str, *, status: str | None, name: str | None, limit: int, cursor: str | None
    ) -> EntrantsPage:
        """Entrants, perhaps those with this status, or with this in their name. Raises BadCursor."""
        view = await self._competitions.organiser_view(event)
        found = [
            one
            for one in view.entrants
            if (status is None or one.entrant.status == status)
            and (name is None or folded(name) in folded(one.entrant.name))
        ]
        page, following = _page(found, lambda one: (one.entrant.number,), limit, cursor)
        return EntrantsPage(page, following)

    async def matches(
        self,
        event: str,
        *,
        state: str | None,
        stage: int | None,
        round_: int | None,
        entrant: int | None,
        limit: int,
        cursor: str | None,
    ) -> MatchesPage:
        """Matches, perhaps of one state, stage, round or entrant. Raises BadCursor."""
        found = [
            line
            for line in _lines(await self._competitions.organiser_view(event))
            if (state is None or line.match.state == state)
            and (stage is None or line.stage == stage)
            and (round_ is None or line.round == round_)
            and (entrant is None or entrant in (line.match.entrants.A, line.match.entrants.B))
        ]
        page, following = _page(found, _place, limit, cursor)
        return MatchesPage(page, following)

    async def match(self, event: str, match: str) -> MatchNow:
        """One match of an event. Raises NoSuchMatch, RoundIsOpen."""
        await self._require_open(event, match)
        for line in _lines(await self._competitions.organiser_view(event)):
            if line.match.id == match:
                standing = await self._standing(match) if line.match.state == "playing" else None
                return MatchNow(line.stage, line.round, line.table, line.match, standing)
        raise NoSuchMatch

    async def _standing(self, match: str) -> Standing | None:
        with contextlib.suppress(NoSuchMatch):  # it is due, and will be made in a moment
            return await self._matches.standing(match)
        return None

    async def _require_open(self, event: str, match: str) -> None:
        if await self._competitions.is_secret(event, match):
            raise RoundIsOpen

    async def records(self, event: str) -> list[str]:
        """The matches whose records everybody may download."""
        lines = _lines(await self._competitions.organiser_view(event))
        return [line.match.id for line in lines if line.match.ending == "played"]

    async def audit(
        self, event: str, *, actor: str | None, what: str | None, limit: int, cursor: str | None
    ) -> AuditPage:
        """The log, perhaps of one actor (an account, or `server`) or kind. Raises BadCursor."""
        found = [
            entry
            for entry in await self._audit.entries(event)
            if (actor is None or actor == (entry.actor.account if entry.actor else "server"))
            and (what is None or what in (change.what for change in entry.changes))
        ]
        first = 0
        if cursor is not None:
            ids = [entry.id for entry in found]
            if cursor not in ids:
                raise BadCursor
            first = ids.index(cursor) + 1
        page = found[first : first + limit]
        return AuditPage(page, page[-1].id if first + limit < len(found) else None)

    async def audit_csv(self, event: str) -> str:
        """The whole log as CSV, a line for each change."""
        rows = io.StringIO()
        writer = csv.writer(rows)
        writer.writerow(["id", "at", "actor", "name", "key", "what", "target", "before", "after", "reason"])
        for entry in await self._audit.entries(event):
            for change in entry.changes:
                cells = [
                    entry.id,
                    entry.time,
                    entry.actor.account if entry.actor else "server",
                    entry.actor.name if entry.actor else "",
                    entry.key.label if entry.key else "",
                    change.what,
                    change.target,
                    _json(change.before),
                    _json(change.after),
                    change.reason or "",
                ]
                writer.writerow([_harmless(cell) for cell in cells])
        return rows.getvalue()

    async def export(self, event: str) -> EventFile:
        """All of it."""
        view = await self._competitions.organiser_view(event)
        stages = [
            StageFile(
                await self._competitions.standings(event, stage.number),
                await self._competitions.cross_tables(event, stage.number),
            )
            for stage in view.view.stages
        ]
        return EventFile(
            format="nardy-event/1",
            event=view,
            stages=stages,
            boards=await self._competitions.boards(event),
            notes=await self._competitions.notes(event),
            audit=await self._audit.entries(event),
        )

    async def recomputed(self, event: str) -> Recomputed:
        """Whether all that is stored and shown is what the matches and facts give. Raises RoundIsOpen."""
        if await self._competitions.is_hidden(event):
            raise RoundIsOpen
        await self._competitions.owner(event)
        async with self._recomputing:
            return await asyncio.to_thread(asyncio.run, self._recomputed_apart(event))

    async def _recomputed_apart(self, event: str) -> Recomputed:
        """In a loop and with a store of its own: it thinks for seconds, and nobody's play waits for that."""
        store = await self._open()
        try:
            return await recompute(store, event)
        finally:
            await store.close()

    # -------------------------------------------------------------------------------------------------- taken in

    async def take_in(
        self, asking: Asking, event: str, data: bytes, *, site: str, new: bool, name: Callable[[str], str]
    ) -> ImportReport:
        """Enters the players of a list, line by line; a wrong line stops no other.

        With `new`, somebody without a tag is somebody new here: an account is made for him, unless an entrant has that
        name already. `site` is this server's address, for links. `name` names the command of a line. Raises BadList.
        """
        lines = read_list(data)
        maker = await self._competitions.owner(event) if new else None
        reports = []
        for line in lines:
            try:
                reports.append(
                    await self._take_in_line(asking, event, line, site=site, maker=maker, name=name)
                )
            except (RuleError, AppError) as error:
                because = error.params.get("because") or error.code
                fault = Fault(line.columns.get("name", 1), "name", str(because), error.detail)
                reports.append(LineReport(line.line, "wrong", line.name, None, None, None, fault))
        count = [report.status for report in reports].count
        return ImportReport(count("entered"), count("already"), count("wrong"), reports)

    async def _take_in_line(
        self,
        asking: Asking,
        event: str,
        line: ListLine,
        *,
        site: str,
        maker: str | None,
        name: Callable[[str], str],
    ) -> LineReport:
        if line.fault is not None:
            return LineReport(line.line, "wrong", line.name, None, None, None, line.fault)
        there = (await self._competitions.organiser_view(event)).entrants
        player, is_new = await self._player(line, there, maker)
        known = next((one.entrant.number for one in there if one.account == player.id), None)
        number = await self._competitions.register(
            event, player.id, actor=asking.account, key=name(f"{line.line}")
        )
        if line.seed is not None:
            seed = line.seed
            await self._competitions.act(
                event,
                lambda at: commands.Seed(number, seed, asking.account, at),
                actor=asking.account,
                key=name(f"{line.line} seed"),
            )
        status = "entered" if known is None else "already"
        link = self._address(site, player) if is_new else None
        return LineReport(line.line, status, line.name, number, player.id, link, None)

    async def _player(
        self, line: ListLine, there: Sequence[OrganiserEntrant], maker: str | None
    ) -> tuple[Account, bool]:
        """Who is meant by a line, and whether his account was made for it; `maker` is for whom one may be."""
        if maker is None or line.tag is not None:
            return await self._organisers.player(f"{line.name}#{line.tag}" if line.tag else line.name), False
        alike = folded(line.name)
        entered = next((one for one in there if folded(one.entrant.name) == alike), None)
        if entered is not None:
            return await self._organisers.player(entered.account), False
        return await self._store.accounts.create_guest(clean_name(line.name), self._now(), maker), True

    async def renew_link(self, asking: Asking, event: str, number: int, *, site: str, reason: str) -> NewLink:
        """Another personal link for an entrant whose account was made on a list of the event's owner. Raises
        EntryRefused, NoLink; NotArbiter, PlaysWith where the caller plays too, and might open the display of his
        opponent.
        """
        # Whoever has made a key has its secret, in whose name ever it acts.
        callers = {asking.account, asking.key.owner} if asking.key else {asking.account}
        for caller in callers:
            if await self._competitions.plays_in(event, caller):
                raise NotArbiter
        account = (await self.entrant(event, number)).account
        for caller in callers:
            if await self._play_together(account, caller):
                raise PlaysWith
        target = f"entrant {number}"
        player = await self._organisers.renew_link(asking, event, account, target=target, reason=reason)
        await self._matches.check_opened()  # at once here; other servers look every few seconds
        version = await self._competitions.version(event)
        return NewLink(number, account, self._address(site, player), version)

    async def _play_together(self, one: str, other: str) -> bool:
        """Whether both play in a match, or in a competition, that is not over."""
        open_matches = await self._store.matches.of_account(other, ("waiting", "playing"), _TOGETHER)
        if any(match.seat_of(one) is not None for match in open_matches):
            return True
        places = await self._competitions.places_of(one, without=_OVER, limit=_TOGETHER)
        for place, _ in places:
            if await self._competitions.plays_in(place.id, other):
                return True
        return False

    def _address(self, site: str, player: Account) -> str:
        return f"{site}/enter#{self._organisers.link_for(player)}"


def _lines(view: OrganiserView) -> Iterable[MatchLine]:
    for stage in view.view.stages:
        for round_ in stage.rounds:
            for meeting in round_.meetings:
                for match in meeting.matches:
                    yield MatchLine(stage.number, round_.number, meeting.table, match)


def _place(line: MatchLine) -> tuple[int, ...]:
    return line.stage, line.round, line.table, int(line.match.id.rpartition("M")[2])


def _page(
    found: Sequence[T], place: Callable[[T], tuple[Any, ...]], limit: int, cursor: str | None
) -> tuple[list[T], str | None]:
    """So many of these after the place that the cursor names; they are in the order of their places."""
    after = None if cursor is None else _read_cursor(cursor)
    try:
        rest = [one for one in found if after is None or place(one) > after]
    except TypeError:
        raise BadCursor from None
    page = rest[:limit]
    return page, (_cursor(place(page[-1])) if len(rest) > limit else None)


def _cursor(place: tuple[Any, ...]) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def _read_cursor(cursor: str) -> tuple[Any, ...]:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        return tuple(msgspec.json.decode(text, type=list[Any]))
    except (ValueError, binascii.Error, msgspec.DecodeError):
        raise BadCursor from None


def _json(value: Any) -> str:
    return "" if value is None else msgspec.json.encode(value).decode()


def _harmless(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and _RISKY.match(cell) else cell

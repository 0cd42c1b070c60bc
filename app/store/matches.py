"""Matches around their play: made, joined, listed, found again, followed by a rematch.

Each method is one transaction.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
    Row,
    Select,
    and_,
    bindparam,
    exists,
    func,
    insert,
    or_,
    select,
    update,
)

from app.store.accounts import Link, account_of
from app.store.codec import events_of, ruleset_of, ruleset_text
from app.store.database import Database, StoreError, insert_new
from app.store.results import (
    Difference,
    Finish,
    RatingChange,
    change_from,
    day_of,
    pair_of,
    rating_differences,
    result_differences,
)
from app.store.seal import Seal
from app.store.tables import (
    accounts,
    connections,
    idempotency,
    journal,
    matches,
    rating_changes,
    results,
    seat_grants,
)
from engine.dice import commitment
from engine.match import Event, Match, new_match, next_deadline
from engine.ruleset import Ruleset
from engine.scoring import Outcome
from engine.turn import Seat, Seats

_AT_ONCE = 1_000  # ids in one query: databases have a limit
_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")  # an id, or the code of an invitation


class NoSuchMatch(StoreError):
    """There is no match with this id."""


class NotWaiting(StoreError):
    """The match waits for nobody: it has begun, or was cancelled."""


class SeatTaken(StoreError):
    """Somebody else sits there."""


class NotMaker(StoreError):
    """Only who made a waiting match may cancel it."""


class KeyReused(StoreError):
    """The key of an earlier call came with another call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMatch:
    """A match to be made. With both seats taken it begins at once."""

    id: str
    preset: str
    ruleset: Ruleset
    public: bool
    code: str | None  # of the invitation
    maker: str
    players: Seats[str | None]
    created_at: int
    server_seed: bytes = field(repr=False)
    computers: frozenset[Seat] = frozenset()
    dice_id: str | None = None  # None: its own id
    rematch_of: str | None = None
    competition: str | None = None  # None: a casual match
    secret: bool = False  # nothing of it is shown to others until the round is closed (§5.4)
    expires_at: int | None = None  # nobody has come by then: it waits no longer
    # An event says that bots play in it for what its ruleset says, like people (§10.2). Such a match has both seats
    # taken from the start; nothing but an event may say so.
    rates_bots: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMatch:
    """All that is stored of a match but its play, which is in the journal."""

    id: str
    state: str  # waiting, playing, over, cancelled
    version: int  # of its newest journal row; 0: none yet
    deadline: int | None  # while it waits: when it is given up
    preset: str
    ruleset: Ruleset
    public: bool
    code: str | None
    maker: str
    players: Seats[str | None]  # accounts, computers' too
    computers: frozenset[Seat]
    created_at: int
    started_at: int | None
    finished_at: int | None
    cancelled: str | None  # why: maker, expired
    server_seed: bytes = field(repr=False)  # a secret while the match runs (§9.4)
    dice_id: str
    rematch_of: str | None
    rematch_asked: frozenset[Seat]
    rematch_id: str | None
    competition: str | None  # None: a casual match
    secret: bool  # nothing of it is shown to others until the round is closed (§5.4)
    ratings: Seats[RatingChange] | None  # None: moved no rating, or has not yet

    @property
    def commitment(self) -> str:
        """C of §9.1: public from the beginning."""
        return commitment(self.server_seed)

    @property
    def in_step(self) -> bool:
        """Whether it shares its dice with others, and is played in step with them (§12.1)."""
        return self.competition is not None and self.dice_id != self.id

    def seat_of(self, account: str) -> Seat | None:
        """The seat that this account took itself; whoever has both is A."""
        return next((seat for seat in Seat if self.players[seat] == account), None)

    def start(self) -> Match:
        """The match before its first event; its seats must be taken."""
        if self.started_at is None:
            raise NotWaiting(f"match {self.id} has not begun")
        return new_match(
            self.id,
            self.ruleset,
            self.server_seed,
            self.started_at,
            computers=self.computers,
            dice_id=self.dice_id,
            in_step=self.in_step,
            for_both=self.competition is not None and not self.in_step,
        )


@dataclass(frozen=True, slots=True)
class Played:
    """A match of a competition, and whether the competition knows its end."""

    id: str
    state: str
    dice_id: str
    reported: bool
    secret: bool


@dataclass(frozen=True, slots=True)
class JournalRow:
    """One accepted command: what it caused, and the version of the match after it."""

    version: int
    command_id: str | None
    at: int
    events: tuple[Event, ...]


class Matches:
    """The matches of the database."""

    def __init__(self, database: Database, seal: Seal) -> None:
        self._database = database
        self._seal = seal

    # ------------------------------------------------------------------------------------- made, joined, cancelled

    async def create(self, new: NewMatch, *, key: str | None = None, call: str = "") -> StoredMatch:
        """Makes a match. With a `key` that its maker has used before, the match made then.

        `call` says what was asked for; the same key with another call raises KeyReused.
        """

        def work(connection: Connection) -> StoredMatch:
            if key is not None:
                made = self._made_before(connection, new, key, call)
                if made is not None:
                    return self._load(connection, made)
            self._insert(connection, new)
            return self._load(connection, new.id)

        return await self._database.write(work)

    async def create_all(self, news: Sequence[NewMatch]) -> tuple[str, ...]:
        """Makes those of these matches that are not there yet, made by whichever server; the ids of the new ones."""

        def work(connection: Connection) -> tuple[str, ...]:
            there: set[str] = set()
            ids = [new.id for new in news]
            for i in range(0, len(ids), _AT_ONCE):
                known = select(matches.c.id).where(matches.c.id.in_(ids[i : i + _AT_ONCE]))
                there.update(connection.execute(known).scalars())
            missing = [new for new in news if new.id not in there]
            for new in missing:
                self._insert(connection, new)
            return tuple(new.id for new in missing)

        return await self._database.write(work)

    async def of_competition(self, competition: str, *, unreported: bool = False) -> tuple[Played, ...]:
        """The matches of a competition, in the order of their ids; perhaps those alone whose end is not known to it."""
        row = matches.c
        wanted = select(row.id, row.state, row.dice_id, row.reported, row.secret).where(
            row.competition == competition,
            row.reported.in_([False] if unreported else [False, True]),  # so that the index is used
        )
        rows = await self._database.read(lambda connection: connection.execute(wanted.order_by(row.id)).all())
        return tuple(Played(*row) for row in rows)

    async def set_reported(self, match_ids: Collection[str]) -> None:
        """Their ends are known to their competition."""
        ids = sorted(match_ids)

        def work(connection: Connection) -> None:
            for i in range(0, len(ids), _AT_ONCE):
                some = matches.c.id.in_(ids[i : i + _AT_ONCE])
                connection.execute(update(matches).where(some).values(reported=True))

        if ids:
            await self._database.write(work)

    async def has_key(self, account: str, key: str) -> bool:
        """Whether this player has used this key for a call already."""
        used = select(idempotency.c.key).where(idempotency.c.account == account, idempotency.c.key == key)
        return await self._database.read(lambda connection: connection.execute(used).first() is not None)

    async def join(self, match_id: str, seat: Seat, account: str, at: int) -> StoredMatch:
        """Takes the free seat of a waiting match, which begins. Of two who come together one gets it.

        With a bot at it nothing is at stake any longer (§10.2). Raises NoSuchMatch, NotWaiting, SeatTaken.
        """
        column = _seat_column(seat)

        def work(connection: Connection) -> StoredMatch:
            taken = connection.execute(
                update(matches)
                .where(matches.c.id == match_id, matches.c.state == "waiting", column.is_(None))
                .values({column: account, matches.c.state: "playing", matches.c.started_at: at})
            ).rowcount
            stored = self._load(connection, match_id)
            if not taken:
                if stored.state in ("waiting", "playing") and stored.players[seat] is not None:
                    raise SeatTaken(f"seat {seat} of match {match_id} is taken")
                raise NotWaiting(f"match {match_id} is {stored.state}")
            if None in (stored.players.A, stored.players.B):
                raise SeatTaken(f"match {match_id} lacks a player in seat {seat.other}")
            ruleset = _frozen(connection, stored.ruleset, stored.players)
            begun = {"deadline": next_deadline(stored.start()), "ruleset": ruleset_text(ruleset)}
            connection.execute(update(matches).where(matches.c.id == match_id).values(begun))
            return self._load(connection, match_id)

        return await self._database.write(work)

    async def cancel(self, match_id: str, account: str, at: int) -> StoredMatch:
        """Takes back a match that nobody has joined. Raises NoSuchMatch, NotMaker, NotWaiting."""

        def work(connection: Connection) -> StoredMatch:
            cancelled = connection.execute(
                update(matches)
                .where(matches.c.id == match_id, matches.c.state == "waiting", matches.c.maker == account)
                .values(state="cancelled", cancelled="maker", finished_at=at)
            ).rowcount
            stored = self._load(connection, match_id)
            if not cancelled:
                if stored.maker != account:
                    raise NotMaker(f"match {match_id} was made by somebody else")
                if stored.state != "cancelled":  # twice is once
                    raise NotWaiting(f"match {match_id} is {stored.state}")
            return stored

        return await self._database.write(work)

    async def seen(self, match_id: str, until: int) -> None:
        """Its maker is here: a match that waits does so until then at least."""
        waits = and_(matches.c.id == match_id, matches.c.state == "waiting", matches.c.deadline < until)
        longer = update(matches).where(waits).values(deadline=until)
        await self._database.write(lambda connection: connection.execute(longer))

    async def expire(self, now: int, unseen_ms: int) -> tuple[str, ...]:
        """Cancels the matches whose waiting time is over; but one that its maker has open goes on waiting.

        It then does so for `unseen_ms` more, and this must be called more often than twice in that time.
        """
        is_open = exists().where(connections.c.match_id == matches.c.id)
        waits, half = matches.c.state == "waiting", now + unseen_ms // 2
        longer = update(matches).where(waits, matches.c.deadline < half, is_open)
        gone = update(matches).where(waits, matches.c.deadline <= now, ~is_open)
        gone = gone.values(state="cancelled", cancelled="expired", finished_at=now)

        def work(connection: Connection) -> tuple[str, ...]:
            connection.execute(longer.values(deadline=now + unseen_ms))
            return tuple(connection.execute(gone.returning(matches.c.id)).scalars())

        return await self._database.write(work)

    # -------------------------------------------------------------------------------------------------- looked up

    async def load(self, match_id: str) -> StoredMatch | None:
        """The match with this id."""
        return await self._one(_MATCH, match_id)

    async def state(self, match_id: str) -> str | None:
        """waiting, playing, over or cancelled; None where there is no match with this id."""
        wanted = select(matches.c.state).where(matches.c.id == match_id)
        found = await self._database.read(lambda connection: connection.execute(wanted).scalar())
        return None if found is None else str(found)

    async def outcome(self, match_id: str) -> Outcome | None:
        """How a match has ended; None if it has not."""
        wanted = select(results.c.outcome).where(results.c.match_id == match_id)
        found = await self._database.read(lambda connection: connection.execute(wanted).scalar())
        return None if found is None else Outcome(found)

    async def by_code(self, code: str) -> StoredMatch | None:
        """The match of this invitation."""
        return await self._one(_INVITED, code)

    async def waiting(self, limit: int) -> tuple[StoredMatch, ...]:
        """Public matches that wait for an opponent, the newest first."""
        return await self._many(_public("waiting").limit(limit))

    async def playing(self, limit: int) -> tuple[StoredMatch, ...]:
        """Public matches being played, the newest first."""
        return await self._many(_public("playing").limit(limit))

    async def of_account(self, account: str, states: Iterable[str], limit: int) -> tuple[StoredMatch, ...]:
        """Matches in these states in which an account has a seat, its own or granted, the newest first."""
        wanted = {"account": account, "states": list(states), "most": limit}
        return await self._many(_OF_ACCOUNT, wanted)

    async def finished_count(self, account: str) -> int:
        """How many matches of this account are over."""
        sat = or_(results.c.account_a == account, results.c.account_b == account)
        counting = select(func.count()).select_from(results).where(sat)
        return await self._database.read(lambda connection: connection.execute(counting).scalar_one())

    async def finished_of_pair(self, one: str, other: str, at: int) -> tuple[StoredMatch, ...]:
        """Matches of these two that ended on the day (UTC) of `at`, in order; those with `ratings` counted."""
        on_day = and_(results.c.pair == pair_of(one, other), results.c.day == day_of(at))
        finished = _matches().join(results, and_(results.c.match_id == matches.c.id, on_day))
        return await self._many(finished.order_by(results.c.number))

    async def unfinished_ids(self) -> tuple[str, ...]:
        """All matches being played."""
        return await self._ids(select(matches.c.id).where(matches.c.state == "playing"))

    async def versions(self, match_ids: Collection[str]) -> dict[str, int]:
        """The versions of these matches; of what is no match, nothing."""
        wanted = list(match_ids)

        def work(connection: Connection) -> dict[str, int]:
            found: dict[str, int] = {}
            for i in range(0, len(wanted), _AT_ONCE):
                some = {"ids": wanted[i : i + _AT_ONCE]}
                found.update((row.id, row.version) for row in connection.execute(_VERSIONS, some))
            return found

        return await self._database.read(work)

    async def due(self, now: int, limit: int) -> tuple[str, ...]:
        """Matches in which time has something to do, the longest overdue first."""
        late = and_(matches.c.state == "playing", matches.c.deadline <= now)
        return await self._ids(select(matches.c.id).where(late).order_by(matches.c.deadline).limit(limit))

    async def awaiting(
        self, computers: Collection[tuple[str, str]], since: int, limit: int
    ) -> tuple[str, ...]:
        """Matches in which one of these computers (name, version) has had something to play since then or longer."""
        these = [and_(accounts.c.name == name, accounts.c.version == version) for name, version in computers]
        ids = select(accounts.c.id).where(accounts.c.kind == "computer", or_(*these))
        sits = or_(matches.c.seat_a.in_(ids), matches.c.seat_b.in_(ids))
        waits = and_(matches.c.state == "playing", matches.c.computer_since <= since, sits)
        return await self._ids(
            select(matches.c.id).where(waits).order_by(matches.c.computer_since).limit(limit)
        )

    # ----------------------------------------------------------------------------------------------- the journal read

    async def events(self, match_id: str, after_version: int = 0) -> tuple[JournalRow, ...]:
        """What has happened in a match after a version, in order."""
        row = journal.c
        wanted = (
            select(row.version, row.command_id, row.at, row.format, row.events)
            .where(row.match_id == match_id, row.version > after_version)
            .order_by(row.version)
        )
        rows = await self._database.read(lambda connection: connection.execute(wanted).all())
        return tuple(
            JournalRow(version, command_id, at, events_of(format_, events))
            for version, command_id, at, format_, events in rows
        )

    async def answer_of(self, match_id: str, command_id: str) -> int | None:
        """The version that a command made; None if it is not stored."""
        row = journal.c
        wanted = select(row.version).where(row.match_id == match_id, row.command_id == command_id)
        return await self._database.read(lambda connection: connection.execute(wanted).scalar())

    # ---------------------------------------------------------------------------------------------------- rematches

    async def ask_rematch(self, match_id: str, seat: Seat) -> StoredMatch:
        """Notes that a seat wants a rematch. Raises NoSuchMatch."""

        def work(connection: Connection) -> StoredMatch:
            asked = connection.execute(
                select(matches.c.rematch_asked).where(matches.c.id == match_id).with_for_update()
            ).scalar()
            if asked is None:
                raise NoSuchMatch(f"there is no match {match_id}")
            if seat.value not in asked:
                both = "".join(sorted({*asked, seat.value}))
                connection.execute(update(matches).where(matches.c.id == match_id).values(rematch_asked=both))
            return self._load(connection, match_id)

        return await self._database.write(work)

    async def set_rematch(self, match_id: str, new: NewMatch) -> str:
        """Makes the rematch of a match, once: its id, which is that of an earlier call if there was one.

        A player's other devices go with him to the other seat. Raises NoSuchMatch.
        """

        def work(connection: Connection) -> str:
            first = connection.execute(
                update(matches)
                .where(matches.c.id == match_id, matches.c.rematch_id.is_(None))
                .values(rematch_id=new.id)
            ).rowcount
            if not first:
                found = connection.execute(
                    select(matches.c.rematch_id).where(matches.c.id == match_id)
                ).scalar()
                if found is None:
                    raise NoSuchMatch(f"there is no match {match_id}")
                return str(found)
            self._insert(connection, new)
            _hold_links(connection, [player for player in (new.players.A, new.players.B) if player])
            devices = select(seat_grants.c.account, seat_grants.c.seat).where(
                seat_grants.c.match_id == match_id
            )
            for account, seat in connection.execute(devices).all():
                insert_new(connection, seat_grants, _grant(new.id, account, Seat(seat).other))
            return new.id

        return await self._database.write(work)

    # -------------------------------------------------------------------------------------------------------- seats

    async def grant_seat(self, match_id: str, account: str, seat: Seat, *, links: int = 0) -> bool:
        """Lets another account (the player's other device) play a seat too, unless more than `links` personal links of
        the player are void; whether it may.
        """
        player = matches.c.seat_a if seat is Seat.A else matches.c.seat_b

        def work(connection: Connection) -> bool:
            sits = connection.execute(select(player).where(matches.c.id == match_id)).scalar()
            if _hold_links(connection, [sits] if sits else []) not in ([], [links]):
                return False
            insert_new(connection, seat_grants, _grant(match_id, account, seat))
            return True

        return await self._database.write(work)

    async def seats_of(self, match_id: str, account: str) -> dict[Seat, Link | None]:
        """The seats that an account may play, its own or granted, with the links of those who sit there; none for a
        spectator.
        """
        if not _NAME.fullmatch(match_id):
            return {}
        granted = select(seat_grants.c.seat).where(
            seat_grants.c.match_id == match_id, seat_grants.c.account == account
        )

        def work(connection: Connection) -> dict[Seat, Link | None]:
            rows = connection.execute(_SITTING, {"wanted": match_id})
            sits = {Seat.A if row.is_a else Seat.B: account_of(row) for row in rows}
            own = [seat for seat, player in sits.items() if player.id == account]
            seats = [*own, *map(Seat, connection.execute(granted).scalars())]
            return {seat: sits[seat].link if seat in sits else None for seat in seats}

        return await self._database.read(work)

    async def granted_to(self, account: str) -> dict[str, Seat]:
        """The seats that an account may play on another device's behalf, by match."""
        mine = select(seat_grants.c.match_id, seat_grants.c.seat).where(seat_grants.c.account == account)
        rows = await self._database.read(lambda connection: connection.execute(mine).all())
        return {match_id: Seat(seat) for match_id, seat in rows}

    # ------------------------------------------------------------------------------------------------------ ratings

    async def recompute_ratings(self) -> tuple[Difference, ...]:
        """Both ratings computed again from all stored results; where what is stored differs (§10.2)."""
        return await self._database.read(rating_differences)

    async def result_differences(self, match_id: str, at: int, finish: Finish) -> tuple[Difference, ...]:
        """Where the stored result of a match is not this one, which its journal gives; `at` is of its last row."""
        return await self._database.read(
            lambda connection: result_differences(connection, match_id, at, finish)
        )

    # ------------------------------------------------------------------------------------------------------ within

    def _made_before(self, connection: Connection, new: NewMatch, key: str, call: str) -> str | None:
        """The match that this key made before; else the key is noted as used for the new one."""
        noted = {"account": new.maker, "key": key, "call": call, "answer": new.id, "at": new.created_at}
        if insert_new(connection, idempotency, noted):
            return None
        before = connection.execute(
            select(idempotency.c.call, idempotency.c.answer).where(
                idempotency.c.account == new.maker, idempotency.c.key == key
            )
        ).one()
        if before.call != call:
            raise KeyReused(f"key {key} came with another call before")
        return str(before.answer)

    def _insert(self, connection: Connection, new: NewMatch) -> None:
        begins = None not in (new.players.A, new.players.B)
        dice_id = new.dice_id or new.id
        deadline = new.expires_at
        ruleset = new.ruleset if new.rates_bots else _frozen(connection, new.ruleset, new.players)
        if begins:
            start = new_match(
                new.id,
                ruleset,
                new.server_seed,
                new.created_at,
                computers=new.computers,
                dice_id=dice_id,
                in_step=new.competition is not None and dice_id != new.id,
                for_both=new.competition is not None and dice_id == new.id,
            )
            deadline = next_deadline(start)
        connection.execute(
            insert(matches).values(
                id=new.id,
                state="playing" if begins else "waiting",
                version=0,
                deadline=deadline,
                preset=new.preset,
                ruleset=ruleset_text(ruleset),
                public=new.public,
                code=new.code,
                maker=new.maker,
                seat_a=new.players.A,
                seat_b=new.players.B,
                computers="".join(sorted(new.computers)),
                server_seed=self._seal.close(new.id, new.server_seed),
                dice_id=dice_id,
                commitment=commitment(new.server_seed),
                created_at=new.created_at,
                started_at=new.created_at if begins else None,
                rematch_of=new.rematch_of,
                rematch_asked="",
                competition=new.competition,
                reported=None if new.competition is None else False,
                secret=new.secret,
            )
        )

    def _load(self, connection: Connection, match_id: str) -> StoredMatch:
        row = connection.execute(_MATCH, {"wanted": match_id}).one_or_none()
        if row is None:
            raise NoSuchMatch(f"there is no match {match_id}")
        return self._stored(row)

    async def _one(self, query: Select[Any], wanted: str) -> StoredMatch | None:
        found = {"wanted": wanted}
        if not _NAME.fullmatch(wanted):
            return None  # not even a question: databases differ in what they make of odd characters
        row = await self._database.read(lambda connection: connection.execute(query, found).one_or_none())
        return None if row is None else self._stored(row)

    async def _many(
        self, query: Select[Any], given: Mapping[str, Any] | None = None
    ) -> tuple[StoredMatch, ...]:
        rows = await self._database.read(lambda connection: connection.execute(query, given).all())
        return tuple(map(self._stored, rows))

    async def _ids(self, query: Select[str]) -> tuple[str, ...]:
        return await self._database.read(lambda connection: tuple(connection.execute(query).scalars()))

    def _stored(self, row: Row[Any]) -> StoredMatch:
        return StoredMatch(
            id=row.id,
            state=row.state,
            version=row.version,
            deadline=row.deadline,
            preset=row.preset,
            ruleset=ruleset_of(row.ruleset),
            public=row.public,
            code=row.code,
            maker=row.maker,
            players=Seats(row.seat_a, row.seat_b),
            computers=frozenset(map(Seat, row.computers)),
            created_at=row.created_at,
            started_at=row.started_at,
            finished_at=row.finished_at,
            cancelled=row.cancelled,
            server_seed=self._seal.open(row.id, row.server_seed),
            dice_id=row.dice_id,
            rematch_of=row.rematch_of,
            rematch_asked=frozenset(map(Seat, row.rematch_asked)),
            rematch_id=row.rematch_id,
            competition=row.competition,
            secret=row.secret,
            ratings=None if row.a_account is None else Seats(change_from(row, "a_"), change_from(row, "b_")),
        )


def _frozen(connection: Connection, ruleset: Ruleset, players: Seats[str | None]) -> Ruleset:
    """The rules that these accounts play by: with a bot among them, for nothing (§10.2)."""
    taken = [account for account in (players.A, players.B) if account is not None]
    a_bot = exists().where(accounts.c.id.in_(taken), accounts.c.kind == "bot")
    return ruleset.for_nothing() if connection.execute(select(a_bot)).scalar_one() else ruleset


def _grant(match_id: str, account: str, seat: Seat) -> dict[str, str]:
    return {"match_id": match_id, "account": account, "seat": seat.value}


_change_a, _change_b = rating_changes.alias("change_a"), rating_changes.alias("change_b")


def _hold_links(connection: Connection, players: Sequence[str]) -> list[int]:
    """How many personal links of these accounts are void, which does not change before the end of the transaction:
    whoever renews a link takes back the seats that were lent by then.
    """
    ordered = select(accounts.c.links).where(accounts.c.id.in_(players)).order_by(accounts.c.id)
    return list(connection.execute(ordered.with_for_update(read=True)).scalars())


def _matches() -> Select[Any]:
    """Rows that a StoredMatch is made of: the match, and what it did to the ratings of A and B."""
    changes = [c.label(f"a_{c.name}") for c in _change_a.c] + [c.label(f"b_{c.name}") for c in _change_b.c]
    return (
        select(matches, *changes)
        .outerjoin(_change_a, and_(_change_a.c.match_id == matches.c.id, _change_a.c.seat == "A"))
        .outerjoin(_change_b, and_(_change_b.c.match_id == matches.c.id, _change_b.c.seat == "B"))
    )


_MATCH = _matches().where(matches.c.id == bindparam("wanted"))
_INVITED = _matches().where(matches.c.code == bindparam("wanted"))
_SITTING = (
    select(accounts, (accounts.c.id == matches.c.seat_a).label("is_a"))
    .join(matches, accounts.c.id.in_([matches.c.seat_a, matches.c.seat_b]))
    .where(matches.c.id == bindparam("wanted"))
)
_IDS: BindParameter[str] = bindparam("ids", expanding=True)
_STATES: BindParameter[str] = bindparam("states", expanding=True)
_ACCOUNT: BindParameter[str] = bindparam("account")
_GRANTED = select(seat_grants.c.match_id).where(seat_grants.c.account == _ACCOUNT)
_OF_ACCOUNT = (
    _matches()
    .where(
        or_(matches.c.seat_a == _ACCOUNT, matches.c.seat_b == _ACCOUNT, matches.c.id.in_(_GRANTED)),
        matches.c.state.in_(_STATES),
    )
    .order_by(matches.c.created_at.desc(), matches.c.id)
    .limit(bindparam("most"))
)
_VERSIONS = select(matches.c.id, matches.c.version).where(matches.c.id.in_(_IDS))


def _public(state: str) -> Select[Any]:
    listed = _matches().where(matches.c.state == state, matches.c.public)
    return listed.order_by(matches.c.created_at.desc(), matches.c.id)


def _seat_column(seat: Seat) -> Any:
    return matches.c.seat_a if seat is Seat.A else matches.c.seat_b

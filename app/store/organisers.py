"""What organisers need of the store: keys of their programs, their log, calls that came before, players by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from sqlalchemy import Connection, Delete, Row, Update, and_, delete, insert, or_, select, update

from app.store.accounts import Account, account_of, folded
from app.store.accounts import NoSuchAccount as NoSuchAccount
from app.store.codec import events_of
from app.store.competitions import NoSuchCompetition
from app.store.database import Database, StoreError, insert_new
from app.store.matches import KeyReused
from app.store.tables import (
    accounts,
    admin_keys,
    bots,
    competitions,
    idempotency,
    journal,
    matches,
    organisers_log,
    seat_grants,
)
from engine.match import Event

_USED_EVERY_MS = 60_000  # a key's last use is noted no more often
_PENDING = ""  # a call that has begun and has no answer yet
# The events of a match's journal that an arbiter can have caused, as the codec names them.
_ORDERS = ("pause-ordered", "resumed", "time-added", "match-ended")


class NoLink(StoreError):
    """The account was not made on a list of theirs who ask."""


class NoSuchKey(StoreError):
    """There is no key with this id, or it is another owner's."""


@dataclass(frozen=True, slots=True)
class AdminKey:
    """A key: whose competitions it is for, in whose name it acts, and what it may."""

    id: str
    owner: str
    holder: str
    competition: str | None
    role: str  # owner, arbiter, observer
    label: str
    created_at: int
    expires_at: int | None
    revoked_at: int | None
    last_used_at: int | None


@dataclass(frozen=True, slots=True)
class LogRow:
    """What an organiser did that is neither in a competition's facts nor in a match's journal."""

    number: int
    at: int
    actor: str | None
    key: str | None
    what: str
    target: str
    before: Any
    after: Any
    reason: str | None


@dataclass(frozen=True, slots=True)
class OrderRow:
    """One row of a match's journal with an event that an arbiter may have caused."""

    match: str
    version: int
    command_id: str | None
    at: int
    events: tuple[Event, ...]


class Organisers:
    """Keys, log and calls of organisers. Times are Unix ms."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # ------------------------------------------------------------------------------------------------------- keys

    async def create_key(
        self, key: AdminKey, hash_: bytes, call: str, *, by: str | None, via: str | None
    ) -> AdminKey:
        """Stores a key with the hash of its secret; the one that is stored, if this secret's is already.

        `by` and `via` are the account and the key that made it. Raises KeyReused if it was another call's, and
        NoSuchCompetition, NoSuchAccount.
        """

        def work(connection: Connection) -> AdminKey:
            there = connection.execute(select(admin_keys).where(admin_keys.c.hash == hash_)).one_or_none()
            if there is None:
                _check_exists(connection, key)
                insert_new(connection, admin_keys, {**_row(key), "hash": hash_, "call": call})
                there = connection.execute(select(admin_keys).where(admin_keys.c.hash == hash_)).one()
                if there.id == key.id:
                    _log(connection, key, key.created_at, by, via, "key-created", None, _told(key), None)
            if there.call != call:
                raise KeyReused("this secret was made for another call")
            return _key(there)

        return await self._database.write(work)

    async def key_by_hash(self, hash_: bytes, now: int) -> AdminKey | None:
        """The key with this hash that is valid now. Its use is noted, once a minute."""
        wanted = select(admin_keys).where(
            admin_keys.c.hash == hash_,
            admin_keys.c.revoked_at.is_(None),
            or_(admin_keys.c.expires_at.is_(None), admin_keys.c.expires_at > now),
        )
        row = await self._database.read(lambda connection: connection.execute(wanted).one_or_none())
        if row is None:
            return None
        if row.last_used_at is None or now - row.last_used_at >= _USED_EVERY_MS:
            used = update(admin_keys).where(admin_keys.c.id == row.id).values(last_used_at=now)
            await self._database.write(lambda connection: connection.execute(used))
        return _key(row)

    async def keys_of(self, owner: str | None) -> tuple[AdminKey, ...]:
        """An owner's keys, the oldest first, revoked ones too; of None, all that there are."""
        wanted = select(admin_keys).order_by(admin_keys.c.created_at, admin_keys.c.id)
        if owner is not None:
            wanted = wanted.where(admin_keys.c.owner == owner)
        rows = await self._database.read(lambda connection: connection.execute(wanted).all())
        return tuple(map(_key, rows))

    async def revoke_key(
        self,
        key_id: str,
        owner: str | None,
        competition: str | None,
        now: int,
        *,
        by: str | None,
        via: str | None,
    ) -> AdminKey:
        """It opens nothing any more. `owner` None may revoke any; `competition` only one that is for it alone.

        Raises NoSuchKey.
        """

        def work(connection: Connection) -> AdminKey:
            row = connection.execute(select(admin_keys).where(admin_keys.c.id == key_id)).one_or_none()
            if (
                row is None
                or (owner is not None and row.owner != owner)
                or (competition is not None and row.competition != competition)
            ):
                raise NoSuchKey(f"there is no key {key_id}")
            _revoke(connection, row, now, by, via)
            return _key(connection.execute(select(admin_keys).where(admin_keys.c.id == key_id)).one())

        return await self._database.write(work)

    # ------------------------------------------------------------------------------------------------ personal links

    async def renew_link(
        self,
        account: str,
        maker: str,
        competition: str,
        at: int,
        *,
        target: str,
        reason: str | None,
        by: str,
        via: str | None,
    ) -> Account:
        """Makes the links void that an account on a list of `maker` has, its seats on other devices, its keys and the
        tokens of its bots. The log of the competition says so of `target`. Raises NoLink if it was not made on a list
        of his.
        """
        his = and_(accounts.c.id == account, accounts.c.maker == maker)

        def work(connection: Connection) -> Account:
            one_more = update(accounts).where(his).values(links=accounts.c.links + 1)
            if not connection.execute(one_more).rowcount:
                raise NoLink(f"account {account} was made on no list of {maker}")
            for seat, player in (("A", matches.c.seat_a), ("B", matches.c.seat_b)):
                plays = select(matches.c.id).where(player == account)
                lent = and_(seat_grants.c.seat == seat, seat_grants.c.match_id.in_(plays))
                connection.execute(delete(seat_grants).where(lent))
            connection.execute(update(bots).where(bots.c.owner == account).values(token=None, token_at=None))
            living = and_(admin_keys.c.owner == account, admin_keys.c.revoked_at.is_(None))
            for row in connection.execute(select(admin_keys).where(living)).all():
                _revoke(connection, row, at, by, None)
            connection.execute(
                insert(organisers_log).values(
                    owner=maker,
                    competition=competition,
                    at=at,
                    actor=by,
                    key=via,
                    what="link-renewed",
                    target=target,
                    reason=reason,
                )
            )
            return account_of(connection.execute(select(accounts).where(his)).one())

        return await self._database.write(work)

    # -------------------------------------------------------------------------------------- calls that came before

    async def begin_call(self, account: str, key: str, call: str, now: int, stale_ms: int) -> str | None:
        """Whether this call, so named by its caller, has been made: None, and then it is the caller's to make.

        Else its answer, or "" while another makes it; one that has made it for longer than `stale_ms` is thought
        dead. Raises KeyReused for another call under the same name.
        """
        row = idempotency.c
        this = and_(row.account == account, row.key == key)

        def work(connection: Connection) -> str | None:
            noted = {"account": account, "key": key, "call": call, "answer": _PENDING, "at": now}
            if insert_new(connection, idempotency, noted):
                return None
            there = connection.execute(select(row.call, row.answer, row.at).where(this)).one()
            if there.call != call:
                raise KeyReused(f"key {key} came with another call before")
            if there.answer == _PENDING and now - there.at >= stale_ms:
                mine = update(idempotency).where(this, row.at == there.at, row.answer == _PENDING)
                if connection.execute(mine.values(at=now)).rowcount:
                    return None
            return str(there.answer)

        return await self._database.write(work)

    async def end_call(self, account: str, key: str, answer: str | None) -> None:
        """The call has this answer; None: it was refused, nothing has happened, and it may be made again."""
        this = and_(idempotency.c.account == account, idempotency.c.key == key)
        if answer is None:
            done: Delete | Update = delete(idempotency).where(this, idempotency.c.answer == _PENDING)
        else:
            done = update(idempotency).where(this).values(answer=answer)
        await self._database.write(lambda connection: connection.execute(done))

    # --------------------------------------------------------------------------------------------------- the log

    async def log(self, competition_id: str) -> tuple[LogRow, ...]:
        """The rows about a competition, and those about all of its owner's, in order."""
        owner = select(competitions.c.owner).where(competitions.c.id == competition_id).scalar_subquery()
        row = organisers_log.c
        about = or_(row.competition == competition_id, and_(row.competition.is_(None), row.owner == owner))
        wanted = select(organisers_log).where(about).order_by(row.number)
        rows = await self._database.read(lambda connection: connection.execute(wanted).all())
        return tuple(
            LogRow(
                r.number, r.at, r.actor, r.key, r.what, r.target, _plain(r.before), _plain(r.after), r.reason
            )
            for r in rows
        )

    async def orders(self, competition_id: str) -> tuple[OrderRow, ...]:
        """What arbiters may have caused in the matches of a competition, in order of time."""
        row = journal.c
        named = or_(*(row.events.contains(f'"type":"{name}"') for name in _ORDERS))
        wanted = (
            select(row.match_id, row.version, row.command_id, row.at, row.format, row.events)
            .join(matches, matches.c.id == row.match_id)
            .where(matches.c.competition == competition_id, named)
            .order_by(row.at, row.match_id, row.version)
        )
        rows = await self._database.read(lambda connection: connection.execute(wanted).all())
        return tuple(
            OrderRow(r.match_id, r.version, r.command_id, r.at, events_of(r.format, r.events)) for r in rows
        )

    # -------------------------------------------------------------------------------------------- players by name

    async def player(self, name: str, tag: str | None) -> Account | None:
        """The person or bot of this name and tag, however it is written."""
        row = accounts.c
        wanted = select(accounts).where(
            row.folded == folded(name), row.tag == (tag or ""), row.kind != "computer"
        )
        found = await self._database.read(lambda connection: connection.execute(wanted).one_or_none())
        return None if found is None else account_of(found)


def _revoke(connection: Connection, row: Row[Any], now: int, by: str | None, via: str | None) -> None:
    """Once; the log says so."""
    living = and_(admin_keys.c.id == row.id, admin_keys.c.revoked_at.is_(None))
    if connection.execute(update(admin_keys).where(living).values(revoked_at=now)).rowcount:
        key = _key(row)
        _log(connection, key, now, by, via, "key-revoked", _told(key), None, None)


def _check_exists(connection: Connection, key: AdminKey) -> None:
    for account in {key.owner, key.holder}:
        if connection.execute(select(accounts.c.id).where(accounts.c.id == account)).scalar() is None:
            raise NoSuchAccount(f"there is no account {account}")
    if key.competition is not None:
        of = select(competitions.c.owner).where(competitions.c.id == key.competition)
        if connection.execute(of).scalar() != key.owner:
            raise NoSuchCompetition(f"there is no competition {key.competition} of {key.owner}")


def _log(
    connection: Connection,
    key: AdminKey,
    at: int,
    actor: str | None,
    via: str | None,
    what: str,
    before: Any,
    after: Any,
    reason: str | None,
) -> None:
    connection.execute(
        insert(organisers_log).values(
            owner=key.owner,
            competition=key.competition,
            at=at,
            actor=actor,
            key=via,
            what=what,
            target=key.id,
            before=_json(before),
            after=_json(after),
            reason=reason,
        )
    )


def _told(key: AdminKey) -> dict[str, Any]:
    """What of a key goes into the log."""
    return {
        "label": key.label,
        "role": key.role,
        "holder": key.holder,
        "competition": key.competition,
        "expires_at": key.expires_at,
    }


def _json(value: Any) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


def _plain(text: str | None) -> Any:
    return None if text is None else msgspec.json.decode(text)


def _row(key: AdminKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "owner": key.owner,
        "holder": key.holder,
        "competition": key.competition,
        "role": key.role,
        "label": key.label,
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "revoked_at": key.revoked_at,
        "last_used_at": key.last_used_at,
    }


def _key(row: Row[Any]) -> AdminKey:
    return AdminKey(
        row.id,
        row.owner,
        row.holder,
        row.competition,
        row.role,
        row.label,
        row.created_at,
        row.expires_at,
        row.revoked_at,
        row.last_used_at,
    )

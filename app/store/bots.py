"""Bots: accounts that programs of others play by. A bot comes in by its token, of which only the hash is stored."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Select, and_, func, insert, select, update

from app.store.accounts import new_account
from app.store.database import Database, StoreError
from app.store.matches import KeyReused
from app.store.tables import accounts, bots, idempotency, matches

_AT_ONCE = 1_000  # tokens in one query: databases have a limit


class NoSuchBot(StoreError):
    """There is no bot with this id, or it is somebody else's."""


class TooManyBots(StoreError):
    """Its owner has as many as he may have."""


@dataclass(frozen=True, slots=True)
class Bot:
    """A program that plays here, and whose it is (None: made on the command line)."""

    id: str
    name: str
    tag: str | None
    owner: str | None
    created_at: int
    token_at: int | None  # when its token was made; None: it has none


class Bots:
    """The bots of the database. `owner` is who asks; None is whoever runs the server, to whom all are his own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(
        self, name: str, owner: str | None, token: bytes, at: int, *, most: int, key: str | None = None
    ) -> Bot:
        """A new bot with this token hash, for an owner who has fewer than `most`.

        With a `key` that the owner has used for this before, the bot made then, with this token in place of the one
        that got lost on the way. Raises TooManyBots, and KeyReused for a key of another call.
        """

        def work(connection: Connection) -> Bot:
            if owner is not None:
                # Of two calls at once the second sees what the first one made.
                mine = select(accounts.c.id).where(accounts.c.id == owner)
                connection.execute(mine.with_for_update(key_share=True))
                made = _made_before(connection, owner, key, name)
                if made is not None:
                    return _changed(connection, made, owner, token=token, token_at=at)
                living = select(func.count()).where(bots.c.owner == owner, bots.c.retired_at.is_(None))
                if connection.execute(living).scalar_one() >= most:
                    raise TooManyBots(f"account {owner} has {most} bots")
            account = new_account(connection, name, "bot", at)
            row = {"account": account.id, "owner": owner, "token": token, "token_at": at}
            connection.execute(insert(bots).values(row))
            if owner is not None and key is not None:
                used = {"account": owner, "key": key, "call": _call(name), "answer": account.id, "at": at}
                connection.execute(insert(idempotency).values(used))
            return _one(connection, account.id, owner)

        return await self._database.write(work)

    async def of_owner(self, owner: str | None) -> tuple[Bot, ...]:
        """Somebody's bots, the oldest first; of None, all that there are."""
        mine = _bots(owner).order_by(accounts.c.created_at, accounts.c.id)
        rows = await self._database.read(lambda connection: connection.execute(mine).all())
        return tuple(map(_bot, rows))

    async def renew(self, bot: str, owner: str | None, token: bytes, at: int) -> Bot:
        """Another token; the old one opens nothing any more. Raises NoSuchBot."""
        return await self._database.write(
            lambda connection: _changed(connection, bot, owner, token=token, token_at=at)
        )

    async def revoke(self, bot: str, owner: str | None) -> Bot:
        """No token, until there is another one. Raises NoSuchBot."""
        return await self._database.write(
            lambda connection: _changed(connection, bot, owner, token=None, token_at=None)
        )

    async def retire(self, bot: str, owner: str | None, at: int) -> tuple[str, ...]:
        """Deletes a bot: the ids of the matches of its own that waited and are cancelled with it.

        What it has played stays. Raises NoSuchBot.
        """

        def work(connection: Connection) -> tuple[str, ...]:
            _changed(connection, bot, owner, token=None, token_at=None)
            connection.execute(update(bots).where(bots.c.account == bot).values(retired_at=at))
            waiting = and_(matches.c.maker == bot, matches.c.state == "waiting")
            gone = update(matches).where(waiting).values(state="cancelled", cancelled="maker", finished_at=at)
            return tuple(connection.execute(gone.returning(matches.c.id)).scalars())

        return await self._database.write(work)

    async def by_token(self, token: bytes) -> str | None:
        """The account that this token hash opens."""
        wanted = select(bots.c.account).where(bots.c.token == token)
        return await self._database.read(lambda connection: connection.execute(wanted).scalar())

    async def valid(self, tokens: Collection[bytes]) -> frozenset[bytes]:
        """Those of these token hashes that still open something."""
        asked = list(tokens)

        def work(connection: Connection) -> frozenset[bytes]:
            found: set[bytes] = set()
            for i in range(0, len(asked), _AT_ONCE):
                some = select(bots.c.token).where(bots.c.token.in_(asked[i : i + _AT_ONCE]))
                found.update(connection.execute(some).scalars())
            return frozenset(found)

        return await self._database.read(work)


def _bots(owner: str | None) -> Select[Any]:
    mine: list[ColumnElement[bool]] = [bots.c.retired_at.is_(None)]
    if owner is not None:
        mine.append(bots.c.owner == owner)
    found = select(accounts, bots.c.owner, bots.c.token_at).join(bots, bots.c.account == accounts.c.id)
    return found.where(*mine)


def _one(connection: Connection, bot: str, owner: str | None) -> Bot:
    row = connection.execute(_bots(owner).where(accounts.c.id == bot)).one_or_none()
    if row is None:
        raise NoSuchBot(f"there is no bot {bot}")
    return _bot(row)


def _changed(connection: Connection, bot: str, owner: str | None, **values: Any) -> Bot:
    _one(connection, bot, owner)
    connection.execute(update(bots).where(bots.c.account == bot).values(**values))
    return _one(connection, bot, owner)


def _bot(row: Row[Any]) -> Bot:
    return Bot(row.id, row.name, row.tag or None, row.owner, row.created_at, row.token_at)


def _call(name: str) -> str:
    return f"bot {name}"


def _made_before(connection: Connection, owner: str, key: str | None, name: str) -> str | None:
    """The bot that this key made before."""
    used = select(idempotency.c.call, idempotency.c.answer).where(
        idempotency.c.account == owner, idempotency.c.key == key
    )
    before = None if key is None else connection.execute(used).one_or_none()
    if before is not None and before.call != _call(name):
        raise KeyReused(f"key {key} came with another call before")
    return None if before is None else str(before.answer)

"""Who plays: people and computer players, their names, tags and ratings."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from types import MappingProxyType
from typing import Any

from sqlalchemy import BindParameter, Connection, Row, bindparam, select, update
from sqlalchemy.exc import IntegrityError

from app.store.database import Database, StoreError, insert_new
from app.store.ids import new_id, new_tag
from app.store.results import OPEN, season_of
from app.store.tables import accounts, points_ratings, strengths
from engine.rating import POINTS_START, Strength

_AT_ONCE = 1_000  # ids in one query: databases have a limit


class NoSuchAccount(StoreError):
    """There is no account with this id."""


@dataclass(frozen=True, slots=True)
class Link:
    """The personal link of an account; those with smaller numbers, and what they opened, are void."""

    account: str
    number: int


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who plays. `tag` tells those with the same name apart: `Вера #k3f`."""

    id: str
    name: str
    tag: str | None
    kind: str  # guest, computer, bot
    created_at: int
    version: str | None = None  # a computer's
    maker: str | None = None  # on whose list of entrants it was made
    links: int = 0  # of its personal links, those that are void

    @property
    def link(self) -> Link | None:
        """The personal link that opens it; None if it was made on no list."""
        return Link(self.id, self.links) if self.maker else None


@dataclass(frozen=True, slots=True)
class Ratings:
    """Both ratings of an account as they stand: points of the season of `open`, strength in each variant (§10)."""

    points: int = POINTS_START
    strength: Mapping[str, Strength] = field(default_factory=lambda: MappingProxyType({}))

    def strength_in(self, variant: str) -> Strength:
        """The strength in a variant; whoever has played no rated match in it has the start value."""
        return self.strength.get(variant, Strength())


class Accounts:
    """The accounts of the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create_guest(self, name: str, at: int, maker: str | None = None) -> Account:
        """A new account of a person, with a tag if the name is somebody's already; perhaps on somebody's list."""
        return await self._database.write(
            lambda connection: new_account(connection, name, "guest", at, maker)
        )

    async def rename(self, account_id: str, name: str) -> Account:
        """Gives an account another name; the tag stays with a name that only looks different.

        Raises NoSuchAccount.
        """

        def work(connection: Connection) -> Account:
            now = _one(connection, account_id)
            tag = now.tag
            if folded(name) != folded(now.name):
                tag = _free_tag(connection, name)
            connection.execute(
                update(accounts)
                .where(accounts.c.id == account_id)
                .values(name=name, folded=folded(name), tag=tag or "")
            )
            return _one(connection, account_id)

        while True:
            try:
                return await self._database.write(work)
            except IntegrityError:  # somebody else has just taken this name and tag
                continue

    async def ensure_computer(self, name: str, version: str, at: int = 0) -> Account:
        """The account of a computer player; each version is a player of its own."""
        known = select(accounts).where(accounts.c.folded == folded(name), accounts.c.version == version)

        def work(connection: Connection) -> Account:
            insert_new(connection, accounts, _row(Account(new_id(), name, None, "computer", at, version)))
            return account_of(connection.execute(known).one())

        found = await self._database.read(lambda connection: connection.execute(known).one_or_none())
        return await self._database.write(work) if found is None else account_of(found)

    async def load(self, account_id: str) -> Account | None:
        """The account with this id."""
        return (await self.load_many([account_id])).get(account_id)

    async def load_many(self, account_ids: Iterable[str]) -> dict[str, Account]:
        """The accounts with these ids, by id; those that do not exist are missing."""
        ids = {"ids": sorted(set(account_ids))}
        rows = await self._database.read(lambda connection: connection.execute(_THESE, ids).all())
        return {row.id: account_of(row) for row in rows}

    async def void(self, links: Collection[Link]) -> frozenset[Link]:
        """Those of these links that open nothing any more."""
        asked = sorted({link.account for link in links})

        def work(connection: Connection) -> dict[str, int]:
            found: dict[str, int] = {}
            for i in range(0, len(asked), _AT_ONCE):
                rows = connection.execute(_RENEWED, {"ids": asked[i : i + _AT_ONCE]})
                found.update({row.id: row.links for row in rows})
            return found

        now = await self._database.read(work)
        return frozenset(link for link in links if link.number != now.get(link.account, 0))

    async def ratings(self, account_ids: Iterable[str], at: int) -> dict[str, Ratings]:
        """Both ratings of each of these accounts, points being those of the season of `at`."""
        ids = sorted(set(account_ids))
        of_season = {"ids": ids, "at_season": season_of(at)}

        def work(connection: Connection) -> tuple[dict[str, int], list[Row[Any]]]:
            points = connection.execute(_POINTS, of_season)
            return dict(points.all()), list(connection.execute(_STRENGTHS, {"ids": ids}))

        found, rows = await self._database.read(work)
        by_variant: dict[str, dict[str, Strength]] = {account: {} for account in ids}
        for row in rows:
            by_variant[row.account][row.variant] = Strength(row.r, row.rd, row.vol)
        return {
            account: Ratings(found.get(account, POINTS_START), MappingProxyType(by_variant[account]))
            for account in ids
        }


def new_account(connection: Connection, name: str, kind: str, at: int, maker: str | None = None) -> Account:
    """A new account of a person or a bot, with a tag if the name is somebody's already."""
    while True:
        made = Account(new_id(), name, _free_tag(connection, name), kind, at, maker=maker)
        if insert_new(connection, accounts, _row(made)):  # else the tag, or the name, was just taken
            return made


def _free_tag(connection: Connection, name: str) -> str | None:
    """A tag that nobody of this name has; None if the name is free."""
    alike = folded(name)
    if connection.execute(_ALIKE, {"alike": alike}).first() is None:
        return None
    for tries in count():
        tag = new_tag(3 + tries // 4)  # a name that very many have gets longer ones
        if connection.execute(_TAGGED, {"alike": alike, "tagged": tag}).first() is None:
            return tag
    raise AssertionError  # it counts on


_ALIKE = select(accounts.c.id).where(accounts.c.folded == bindparam("alike")).limit(1)
_TAGGED = _ALIKE.where(accounts.c.tag == bindparam("tagged"))

# Made once: a query made for each call would leave cycles behind.
_IDS: BindParameter[str] = bindparam("ids", expanding=True)
_THESE = select(accounts).where(accounts.c.id.in_(_IDS))
_RENEWED = select(accounts.c.id, accounts.c.links).where(accounts.c.id.in_(_IDS), accounts.c.links > 0)
_POINTS = select(points_ratings.c.account, points_ratings.c.points).where(
    points_ratings.c.account.in_(_IDS),
    points_ratings.c.competition == OPEN,
    points_ratings.c.season == bindparam("at_season"),
)
_STRENGTHS = select(strengths).where(strengths.c.account.in_(_IDS))

# Letters that nobody can tell apart on a screen: Cyrillic ones and the Latin ones they look like.
_LOOKS_LIKE = str.maketrans("авекмнорстухісјѕ", "abekmhopctyxicjs")


def folded(name: str) -> str:
    """A name as it is compared: what looks alike is alike, and so are capital and small letters."""
    small = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return small.translate(_LOOKS_LIKE)


def _one(connection: Connection, account_id: str) -> Account:
    row = connection.execute(select(accounts).where(accounts.c.id == account_id)).one_or_none()
    if row is None:
        raise NoSuchAccount(f"there is no account {account_id}")
    return account_of(row)


def account_of(row: Row[Any]) -> Account:
    """An account as its row has it."""
    return Account(
        row.id,
        row.name,
        row.tag or None,
        row.kind,
        row.created_at,
        row.version or None,
        row.maker,
        row.links,
    )


def _row(account: Account) -> dict[str, Any]:
    return {
        "id": account.id,
        "name": account.name,
        "folded": folded(account.name),
        "tag": account.tag or "",
        "kind": account.kind,
        "version": account.version or "",
        "created_at": account.created_at,
        "maker": account.maker,
        "links": account.links,
    }

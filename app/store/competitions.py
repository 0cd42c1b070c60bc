"""Competitions: what they are called, the facts of each in their order, the dice of its boards.

Each method is one transaction. Nothing that can be computed from facts is stored, but for what lists and sweeps need.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, Select, and_, bindparam, exists, func, insert, or_, select, update

from app.store.database import Database, StoreError, insert_new
from app.store.facts_codec import FORMAT, facts_of, facts_text, settings_of, settings_text
from app.store.matches import KeyReused
from app.store.seal import Seal
from app.store.tables import (
    competition_boards,
    competition_entries,
    competition_facts,
    competition_notes,
    competitions,
    idempotency,
    matches,
    organisers_log,
)
from engine.competition.competition import State
from engine.competition.facts import Fact
from engine.competition.settings import Settings
from engine.dice import commitment

_ID = re.compile(r"[A-Za-z0-9-]{1,32}")
MOST_OPEN = 50  # competitions of one owner that are not over
_OPEN_OF = (
    select(func.count())
    .select_from(competitions)
    .where(
        competitions.c.owner == bindparam("owner"),
        competitions.c.state.not_in([State.FINISHED.value, State.CANCELLED.value]),
    )
)


# How often the words about a competition have been changed: each time stands in the organisers' log.
_WORDS = (
    select(func.count())
    .select_from(organisers_log)
    .where(organisers_log.c.competition == competitions.c.id, organisers_log.c.what == "described")
    .scalar_subquery()
    .correlate(competitions)
    .label("words")
)
_WHOLE = select(competitions, _WORDS)


class NoSuchCompetition(StoreError):
    """There is no competition with this id."""


class NameTaken(StoreError):
    """There is a competition with this id already."""


class TooManyOpen(StoreError):
    """An owner has as many competitions that are not over as one may have."""


class CompetitionMoved(StoreError):
    """Somebody else has written the next version: load what is new and decide again."""


class Newest(NamedTuple):
    """How far a competition is: the number of its newest facts, and how often its words have been changed."""

    version: int
    words: int


class WishSeen(StoreError):
    """This command is stored already, as `version`: answer as the first time."""

    def __init__(self, version: int) -> None:
        super().__init__(f"stored already, as version {version}")
        self.version = version


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCompetition:
    """A competition to be announced."""

    id: str
    owner: str
    title: Mapping[str, str]  # ru, en
    about: Mapping[str, str]
    visibility: str  # public, unlisted
    settings: Settings
    lot_seed: str = field(repr=False)  # 64 hex digits
    created_at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCompetition:
    """All that is stored of a competition but its facts. `settings` are those that it was made with."""

    id: str
    owner: str
    title: Mapping[str, str]
    about: Mapping[str, str]
    visibility: str
    settings: Settings
    lot_seed: str = field(repr=False)
    created_at: int
    version: int
    words: int  # how often its words have been changed
    state: str
    due_at: int | None
    starts_at: int | None
    entrants: int
    computer: str | None  # the account of whom all play in its qualifying, once one has begun


@dataclass(frozen=True, slots=True)
class FactsRow:
    """One accepted command: what it caused, who wished it (None: the server), the version after it."""

    version: int
    command_id: str | None
    actor: str | None
    at: int
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """What lists and sweeps need to know, computed from the competition as it is after its newest facts."""

    state: str
    due_at: int | None
    watched: bool
    starts_at: int | None
    players: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Board:
    """The dice of one board of a qualifying (§12.1); `seeds` is what each entrant showed, by his match."""

    dice_id: str
    competition: str
    server_seed: bytes = field(repr=False)
    commitment: str
    seeds: Mapping[str, str] | None
    shared_seed: str | None
    disclosed_at: int | None


@dataclass(frozen=True, slots=True)
class Note:
    """What an arbiter has written down."""

    number: int
    match: str | None
    by: str
    at: int
    text: str


class Competitions:
    """The competitions of the database. Times are Unix ms."""

    def __init__(self, database: Database, seal: Seal) -> None:
        self._database = database
        self._seal = seal

    # ------------------------------------------------------------------------------------------------ made, changed

    async def create(
        self, new: NewCompetition, standing: Standing, *, key: str | None = None, call: str = ""
    ) -> StoredCompetition:
        """Makes a competition. With a `key` that its owner has used before, the competition made then.

        Raises NameTaken, TooManyOpen, and KeyReused if the key came with another call.
        """

        def work(connection: Connection) -> StoredCompetition:
            if key is not None:
                noted = {"account": new.owner, "key": key, "call": call, "answer": new.id}
                if not insert_new(connection, idempotency, {**noted, "at": new.created_at}):
                    row = idempotency.c
                    used = select(row.call, row.answer).where(row.account == new.owner, row.key == key)
                    before = connection.execute(used).one()
                    if before.call != call:
                        raise KeyReused(f"key {key} came with another call before")
                    return self._load(connection, before.answer)
            if connection.execute(_OPEN_OF, {"owner": new.owner}).scalar_one() >= MOST_OPEN:
                raise TooManyOpen(f"{new.owner} has {MOST_OPEN} competitions that are not over")
            made = insert_new(
                connection,
                competitions,
                {
                    "id": new.id,
                    "owner": new.owner,
                    **_texts(new.title, new.about),
                    "visibility": new.visibility,
                    "settings": settings_text(new.settings),
                    "lot_seed": self._seal.close(new.id, bytes.fromhex(new.lot_seed)),
                    "created_at": new.created_at,
                    "version": 0,
                    "entrants": 0,
                    "state": standing.state,
                    "due_at": standing.due_at,
                    "watched": standing.watched,
                    "starts_at": standing.starts_at,
                },
            )
            if not made:
                raise NameTaken(f"there is a competition {new.id}")
            return self._load(connection, new.id)

        return await self._database.write(work)

    async def describe(
        self,
        competition_id: str,
        title: Mapping[str, str],
        about: Mapping[str, str],
        visibility: str,
        *,
        after: Newest,
        actor: str,
        key: str | None,
        at: int,
    ) -> StoredCompetition:
        """Other words about it, by an account, perhaps by a key of it; the organisers' log says what has changed.

        Raises NoSuchCompetition, and CompetitionMoved if it is not at `after`; then nothing has changed.
        """
        words = {**_texts(title, about), "visibility": visibility}

        def work(connection: Connection) -> StoredCompetition:
            this = competitions.c.id == competition_id
            # Locked first and read then: words that somebody else is writing are waited for, and seen.
            connection.execute(select(competitions.c.id).where(this).with_for_update())
            before = connection.execute(_WHOLE.where(this)).one_or_none()
            if before is None:
                raise NoSuchCompetition(f"there is no competition {competition_id}")
            if (before.version, before.words) != after:
                raise CompetitionMoved(f"competition {competition_id} is no longer at {after}")
            changed = {name: value for name, value in words.items() if getattr(before, name) != value}
            if changed:
                connection.execute(update(competitions).where(this).values(**changed))
                was = {name: getattr(before, name) for name in changed}
                connection.execute(
                    insert(organisers_log).values(
                        owner=before.owner,
                        competition=competition_id,
                        at=at,
                        actor=actor,
                        key=key,
                        what="described",
                        target=competition_id,
                        before=msgspec.json.encode(was).decode(),
                        after=msgspec.json.encode(changed).decode(),
                    )
                )
            return self._load(connection, competition_id)

        return await self._database.write(work, notice=_notice(competition_id, None))

    async def append(
        self,
        competition_id: str,
        *,
        after: int,
        command_id: str | None,
        actor: str | None,
        at: int,
        facts: tuple[Fact, ...],
        standing: Standing,
    ) -> None:
        """Stores what a command caused, as version `after` + 1; on return it is on disk.

        Raises CompetitionMoved if the competition is not at `after`, and WishSeen if this command is stored already;
        then nothing has changed. Any other exception: look up what is stored before trying again.
        """
        row = competition_facts.c
        this = competitions.c.id == competition_id
        same_command = and_(row.competition == competition_id, row.command_id == command_id)

        def work(connection: Connection) -> None:
            is_next = and_(this, competitions.c.version == after)
            if command_id is not None:
                is_next = and_(is_next, ~exists().where(same_command))
            moved = connection.execute(
                update(competitions)
                .where(is_next)
                .values(
                    version=after + 1,
                    state=standing.state,
                    due_at=standing.due_at,
                    watched=standing.watched,
                    starts_at=standing.starts_at,
                    entrants=len(standing.players),
                )
            )
            if not moved.rowcount:
                seen = None
                if command_id is not None:
                    seen = connection.execute(select(row.version).where(same_command)).scalar()
                if seen is not None:
                    raise WishSeen(seen)
                raise CompetitionMoved(f"competition {competition_id} is no longer at version {after}")
            connection.execute(
                insert(competition_facts).values(
                    competition=competition_id,
                    version=after + 1,
                    command_id=command_id,
                    actor=actor,
                    at=at,
                    format=FORMAT,
                    facts=facts_text(facts),
                )
            )
            if standing.players:
                rows = [{"account": p, "competition": competition_id} for p in sorted(standing.players)]
                insert_new(connection, competition_entries, *rows)

        await self._database.write(work, notice=_notice(competition_id, after + 1))

    # -------------------------------------------------------------------------------------------------- looked up

    async def load(self, competition_id: str) -> StoredCompetition | None:
        """The competition with this id."""
        if not _ID.fullmatch(competition_id):
            return None
        wanted = _WHOLE.where(competitions.c.id == competition_id)
        row = await self._database.read(lambda connection: connection.execute(wanted).one_or_none())
        return None if row is None else self._stored(row)

    async def newest(self, competition_id: str) -> Newest | None:
        """How far it is; None if there is no such competition."""
        if not _ID.fullmatch(competition_id):
            return None
        wanted = select(competitions.c.version, _WORDS).where(competitions.c.id == competition_id)
        row = await self._database.read(lambda connection: connection.execute(wanted).one_or_none())
        return None if row is None else Newest(*row)

    async def facts(self, competition_id: str, after_version: int = 0) -> tuple[FactsRow, ...]:
        """What has happened after a version, in order."""
        row = competition_facts.c
        wanted = (
            select(row.version, row.command_id, row.actor, row.at, row.format, row.facts)
            .where(row.competition == competition_id, row.version > after_version)
            .order_by(row.version)
        )
        rows = await self._database.read(lambda connection: connection.execute(wanted).all())
        return tuple(
            FactsRow(version, command_id, actor, at, facts_of(format_, text))
            for version, command_id, actor, at, format_, text in rows
        )

    async def answer_of(self, competition_id: str, command_id: str) -> int | None:
        """The version that a command made; None if it is not stored."""
        row = competition_facts.c
        wanted = select(row.version).where(row.competition == competition_id, row.command_id == command_id)
        return await self._database.read(lambda connection: connection.execute(wanted).scalar())

    async def public(
        self, states: Iterable[str], limit: int, before: int | None = None
    ) -> tuple[StoredCompetition, ...]:
        """Public competitions in these states, the newest first; `before`: made earlier than then."""
        row = competitions.c
        wanted = _WHOLE.where(row.visibility == "public", row.state.in_(tuple(states)))
        return await self._many(wanted, limit, before)

    async def of_owner(
        self, account: str, limit: int, before: int | None = None
    ) -> tuple[StoredCompetition, ...]:
        """The competitions that an account has made, the newest first."""
        return await self._many(_WHOLE.where(competitions.c.owner == account), limit, before)

    async def of_player(
        self, account: str, limit: int, before: int | None = None
    ) -> tuple[StoredCompetition, ...]:
        """The competitions that an account has entered, the newest first."""
        entered = select(competition_entries.c.competition).where(competition_entries.c.account == account)
        return await self._many(_WHOLE.where(competitions.c.id.in_(entered)), limit, before)

    # ---------------------------------------------------------------------------------------- what has to be done

    async def claim(self, node: str, now: int, until: int, without: Collection[str] = ()) -> tuple[str, ...]:
        """The competitions in which something is, or may soon be, to do, and which are this server's until then.

        One that no other server looks after becomes this one's; `without` are those that it cannot look after.
        """
        row = competitions.c
        able = row.id.not_in(tuple(without))
        unreported = select(matches.c.competition).where(matches.c.reported.in_([False]))
        undisclosed = select(competition_boards.c.competition).where(
            competition_boards.c.disclosed_at.is_(None)
        )
        busy = or_(row.watched, row.due_at <= now, row.id.in_(unreported), row.id.in_(undisclosed))
        free = or_(row.claim.is_(None), row.claim == node, row.claimed_until <= now)

        def work(connection: Connection) -> tuple[str, ...]:
            mine = connection.execute(
                select(row.id).where(busy, free, able).order_by(row.id).with_for_update(skip_locked=True)
            ).scalars()
            ids = tuple(mine)
            if ids:
                connection.execute(
                    update(competitions).where(row.id.in_(ids)).values(claim=node, claimed_until=until)
                )
            return ids

        wanted = select(row.id).where(busy, free, able).limit(1)
        if await self._database.read(lambda connection: connection.execute(wanted).first()) is None:
            return ()  # most of the time, and then nothing is written
        return await self._database.write(work)

    async def let_go(self, node: str) -> None:
        """This server looks after nothing any more."""
        row = competitions.c
        mine = update(competitions).where(row.claim == node).values(claim=None, claimed_until=None)
        await self._database.write(lambda connection: connection.execute(mine).rowcount)

    # ------------------------------------------------------------------------------------------------- shared dice

    async def keep_computer(self, competition_id: str, account: str) -> str:
        """The computer that all play in the qualifying: the one that is stored, or else this one (§12.1)."""
        row = competitions.c

        def work(connection: Connection) -> str:
            this = row.id == competition_id
            connection.execute(
                update(competitions).where(this, row.computer.is_(None)).values(computer=account)
            )
            return str(connection.execute(select(row.computer).where(this)).scalar_one())

        return await self._database.write(work)

    async def board(self, competition_id: str, dice_id: str, server_seed: bytes, at: int) -> Board:
        """The dice of a board: those that are stored, or else these."""

        def work(connection: Connection) -> Board:
            insert_new(
                connection,
                competition_boards,
                {
                    "dice_id": dice_id,
                    "competition": competition_id,
                    "server_seed": self._seal.close(dice_id, server_seed),
                    "commitment": commitment(server_seed),
                    "made_at": at,
                },
            )
            wanted = select(competition_boards).where(competition_boards.c.dice_id == dice_id)
            return self._board(connection.execute(wanted).one())

        return await self._database.write(work)

    async def boards(self, competition_id: str) -> tuple[Board, ...]:
        """All boards of a competition that have dice, the first made first."""
        row = competition_boards.c
        wanted = select(competition_boards).where(row.competition == competition_id).order_by(row.made_at)
        rows = await self._database.read(lambda connection: connection.execute(wanted).all())
        return tuple(map(self._board, rows))

    async def combine(self, dice_id: str, seeds: Mapping[str, str], shared_seed: str) -> Board:
        """The entrants' seeds of a board are in: those that are stored, or else these."""
        row = competition_boards.c

        def work(connection: Connection) -> Board:
            connection.execute(
                update(competition_boards)
                .where(row.dice_id == dice_id, row.shared_seed.is_(None))
                .values(seeds=msgspec.json.encode(dict(seeds)).decode(), shared_seed=shared_seed)
            )
            wanted = select(competition_boards).where(row.dice_id == dice_id)
            return self._board(connection.execute(wanted).one())

        return await self._database.write(work)

    async def disclose(self, dice_id: str, at: int) -> tuple[str, ...]:
        """The round of a board is closed: nothing of its matches is secret any more; those for which this is new."""
        row, match = competition_boards.c, matches.c

        def work(connection: Connection) -> tuple[str, ...]:
            connection.execute(
                update(competition_boards)
                .where(row.dice_id == dice_id, row.disclosed_at.is_(None))
                .values(disclosed_at=at)
            )
            of_board = and_(match.dice_id == dice_id, match.secret)
            found = connection.execute(select(match.id).where(of_board).order_by(match.id)).scalars().all()
            connection.execute(update(matches).where(of_board).values(secret=False))
            return tuple(found)

        return await self._database.write(work)

    # ------------------------------------------------------------------------------------------------------- notes

    async def add_note(self, competition_id: str, match: str | None, by: str, text: str, at: int) -> Note:
        """Writes something down."""
        values = {"competition": competition_id, "match_id": match, "by": by, "at": at, "text": text}

        def work(connection: Connection) -> Note:
            key = connection.execute(insert(competition_notes).values(values)).inserted_primary_key
            assert key is not None
            return Note(int(key[0]), match, by, at, text)

        return await self._database.write(work)

    async def notes(self, competition_id: str) -> tuple[Note, ...]:
        """All that was written down, the oldest first."""
        row = competition_notes.c
        wanted = select(competition_notes).where(row.competition == competition_id).order_by(row.number)
        rows = await self._database.read(lambda connection: connection.execute(wanted).all())
        return tuple(Note(r.number, r.match_id, r.by, r.at, r.text) for r in rows)

    # ------------------------------------------------------------------------------------------------------- within

    async def _many(
        self, wanted: Select[Any], limit: int, before: int | None
    ) -> tuple[StoredCompetition, ...]:
        row = competitions.c
        if before is not None:
            wanted = wanted.where(row.created_at < before)
        wanted = wanted.order_by(row.created_at.desc(), row.id).limit(limit)
        rows = await self._database.read(lambda connection: connection.execute(wanted).all())
        return tuple(map(self._stored, rows))

    def _load(self, connection: Connection, competition_id: str) -> StoredCompetition:
        wanted = _WHOLE.where(competitions.c.id == competition_id)
        row = connection.execute(wanted).one_or_none()
        if row is None:
            raise NoSuchCompetition(f"there is no competition {competition_id}")
        return self._stored(row)

    def _stored(self, row: Row[Any]) -> StoredCompetition:
        return StoredCompetition(
            id=row.id,
            owner=row.owner,
            title={"ru": row.title_ru, "en": row.title_en},
            about={"ru": row.about_ru, "en": row.about_en},
            visibility=row.visibility,
            settings=settings_of(row.settings),
            lot_seed=self._seal.open(row.id, row.lot_seed).hex(),
            created_at=row.created_at,
            version=row.version,
            words=row.words,
            state=row.state,
            due_at=row.due_at,
            starts_at=row.starts_at,
            entrants=row.entrants,
            computer=row.computer,
        )

    def _board(self, row: Row[Any]) -> Board:
        return Board(
            row.dice_id,
            row.competition,
            self._seal.open(row.dice_id, row.server_seed),
            row.commitment,
            None if row.seeds is None else msgspec.json.decode(row.seeds, type=dict[str, str]),
            row.shared_seed,
            row.disclosed_at,
        )


def _texts(title: Mapping[str, str], about: Mapping[str, str]) -> dict[str, str]:
    return {
        "title_ru": title["ru"],
        "title_en": title["en"],
        "about_ru": about["ru"],
        "about_en": about["en"],
    }


def _notice(competition_id: str, version: int | None) -> str:
    return f"competition:{competition_id}:{'' if version is None else version}"

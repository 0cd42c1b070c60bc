"""Who may organise what: a person by his session, a program by a key; and calls that are made once.

A key is shown once, when it is made; only its hash is stored. It acts in the name of its holder, on one event or on all
of an owner's, in a role: an observer reads what organisers may read, an arbiter settles matches too, an owner does all.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, get_args

from app.service.accounts import clean_name
from app.service.competitions import Competitions
from app.service.errors import (
    BadCompetition,
    BadKey,
    CallRuns,
    KeyUsed,
    NoLink,
    NoRight,
    NoSuchCompetition,
    NoSuchKey,
)
from app.service.instants import instant
from app.store import Store
from app.store.accounts import Account
from app.store.competitions import NoSuchCompetition as StoreNoSuchCompetition
from app.store.ids import new_id
from app.store.matches import KeyReused
from app.store.organisers import AdminKey, NoSuchAccount
from app.store.organisers import NoLink as StoreNoLink
from app.store.organisers import NoSuchKey as StoreNoSuchKey
from engine.errors import EntryRefused

Role = Literal["observer", "arbiter", "owner"]  # each may what those before it may
ROLES: tuple[Role, ...] = get_args(Role)
SECRET = re.compile(r"nk_[A-Za-z0-9_-]{43}")
LINK = re.compile(r"[A-Za-z0-9]+\.[A-Za-z0-9_-]{43}")
LABEL_LENGTH = 100
_LONGEST_MS = 5 * 366 * 86_400_000
_STALE_MS = 30_000  # a call that has not ended by then was made by a server that died
_LOOK_AGAIN_S = 0.05
_PATIENCE_S = 10.0


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks: an account, and the key by which it came if not by a session."""

    account: str
    key: AdminKey | None = None

    @property
    def via(self) -> str | None:
        """The id of the key."""
        return self.key.id if self.key else None


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """A key as organisers see it: never the key itself. `holder` is in whose name it acts. Times are UTC ms."""

    id: str
    label: str
    role: Role
    event: str | None  # null: all events of its owner
    owner: str
    holder: str
    created_at: int
    expires_at: int | None
    revoked_at: int | None
    last_used_at: int | None


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was made, with the secret that is shown here and never again."""

    key: KeyInfo
    secret: str


@dataclass(frozen=True, slots=True)
class KeysView:
    """The keys that the caller may see, the oldest first."""

    keys: list[KeyInfo]


class Organisers:
    """Keys and rights. `asking` is the caller; None is whoever runs the server, who may all."""

    def __init__(
        self, store: Store, competitions: Competitions | None, secret: bytes, now: Callable[[], int]
    ) -> None:
        """`secret` is the server's; without competitions (on the command line) keys alone can be asked for."""
        self._store = store
        self._competitions = competitions
        self._secret = secret
        self._now = now

    # ------------------------------------------------------------------------------------------------- who may what

    async def by_secret(self, secret: str) -> Asking:
        """Who comes with this key. Raises BadKey."""
        if not SECRET.fullmatch(secret):
            raise BadKey
        key = await self._store.organisers.key_by_hash(_hash(secret), self._now())
        if key is None:
            raise BadKey
        return Asking(key.holder, key)

    async def role(self, asking: Asking, event: str) -> Role | None:
        """What the caller may do with an event. Raises NoSuchCompetition."""
        assert self._competitions is not None
        owner = await self._competitions.owner(event)
        key = asking.key
        if key is None:
            return "owner" if owner == asking.account else None
        reaches = key.owner == owner and key.competition in (None, event)
        return _role(key.role) if reaches else None

    async def require(self, asking: Asking, event: str, needs: Role) -> None:
        """Raises NoRight unless the caller has this role, or a higher one, and NoSuchCompetition."""
        has = await self.role(asking, event)
        if has is None or ROLES.index(has) < ROLES.index(needs):
            raise NoRight(needs, has)

    def owner_for_new(self, asking: Asking) -> str:
        """Whose an event is that the caller makes. Raises NoRight for a key that is not for all of an owner's."""
        key = asking.key
        if key is None:
            return asking.account
        if key.role != "owner" or key.competition is not None:
            raise NoRight("owner", key.role)
        return key.owner

    def events_of(self, asking: Asking) -> tuple[str, str | None]:
        """Whose events the caller may list, and the one that he may only."""
        key = asking.key
        return (asking.account, None) if key is None else (key.owner, key.competition)

    # --------------------------------------------------------------------------------------------------------- keys

    async def create_key(
        self,
        asking: Asking | None,
        *,
        label: str,
        role: Role,
        event: str | None = None,
        owner: str | None = None,
        holder: str | None = None,
        expires_at: str | None = None,
        name: str | None = None,
    ) -> NewKey:
        """A key for one event, or for all of the owner's. `holder` is an account's id, or a player's name and tag.

        With `name`, the caller's idempotency key, a call that is made again gives the same key and secret.
        Raises NoRight, BadCompetition, BadTime, EntryRefused for no such holder, NoSuchCompetition, KeyUsed.
        """
        if asking is not None:
            owner, only = self._reach(asking)
            if only not in (None, event):
                raise NoRight("owner")
        assert owner is not None
        now = self._now()
        label = " ".join(label.split())
        if not 1 <= len(label) <= LABEL_LENGTH or not label.isprintable():
            raise BadCompetition("label", f"is 1 to {LABEL_LENGTH} visible characters")
        until = None if expires_at is None else instant(expires_at)
        if until is not None and not now < until <= now + _LONGEST_MS:
            raise BadCompetition("expires_at", "is later than now, and in five years at most")
        mine = asking.key.expires_at if asking and asking.key else None
        if mine is not None and (until is None or until > mine):
            raise BadCompetition("expires_at", "is not later than that of the key by which it is made")
        whose = owner if holder is None else (await self.player(holder)).id
        secret = self._new_secret(owner, asking, name)
        key = AdminKey(new_id(), owner, whose, event, role, label, now, until, None, None)
        call = "|".join(map(str, (role, event, whose, until, label)))
        try:
            made = await self._store.organisers.create_key(
                key,
                _hash(secret),
                call,
                by=asking.account if asking else None,
                via=asking.via if asking else None,
            )
        except KeyReused:
            raise KeyUsed from None
        except NoSuchAccount:
            raise EntryRefused("no-such-player", "There is no such player.") from None
        except StoreNoSuchCompetition:
            raise NoSuchCompetition from None
        return NewKey(_info(made), secret)

    async def owner_of_keys(self, owner: str | None, name: str, event: str | None) -> str:
        """On the command line: the account whose events a new key is for. The owner of the event, or who is named, or
        else a new account of this name. Raises EntryRefused, NoSuchCompetition, BadName.
        """
        if owner is not None:
            return (await self.player(owner)).id
        if event is not None:
            stored = await self._store.competitions.load(event)
            if stored is None:
                raise NoSuchCompetition
            return stored.owner
        return (await self._store.accounts.create_guest(clean_name(name), self._now())).id

    async def keys(self, asking: Asking | None) -> KeysView:
        """The keys of the caller's events, revoked ones too. Raises NoRight."""
        owner, event = (None, None) if asking is None else self._reach(asking)
        keys = await self._store.organisers.keys_of(owner)
        return KeysView([_info(key) for key in keys if event is None or key.competition == event])

    async def revoke_key(self, asking: Asking | None, key_id: str) -> KeyInfo:
        """It opens nothing any more. Raises NoRight, NoSuchKey."""
        owner, event = (None, None) if asking is None else self._reach(asking)
        try:
            key = await self._store.organisers.revoke_key(
                key_id,
                owner,
                event,
                self._now(),
                by=asking.account if asking else None,
                via=asking.via if asking else None,
            )
        except StoreNoSuchKey:
            raise NoSuchKey from None
        return _info(key)

    async def player(self, written: str) -> Account:
        """A player by his account's id, or by his name, with his tag if he has one: `Вера #k3f`.

        Raises EntryRefused.
        """
        by_id = await self._store.accounts.load(written)
        if by_id is not None and by_id.kind != "computer":
            return by_id
        name, _, tag = written.partition("#")
        found = await self._store.organisers.player(name.strip(), tag.strip() or None)
        if found is None:
            raise EntryRefused("no-such-player", f"There is no player '{written[:60]}'.")
        return found

    def link_for(self, account: Account) -> str:
        """What opens the account that was made for a player. It hangs on the server's secret key, and on how many
        links of this account are void.
        """
        numbered = (str(account.links),) if account.links else ()
        return f"{account.id}.{self._mac('player', account.id, *numbered)}"

    async def by_link(self, link: str) -> Account:
        """Whose link this is, given as a whole address or as what follows its `#`. Raises BadKey."""
        secret = link.rpartition("#")[2].strip()
        if not LINK.fullmatch(secret):
            raise BadKey
        found = await self._store.accounts.load(secret.partition(".")[0])
        if found is None or not hmac.compare_digest(secret, self.link_for(found)):
            raise BadKey
        return found

    async def renew_link(
        self, asking: Asking, event: str, account: str, *, target: str, reason: str
    ) -> Account:
        """The account has another link; the one before, and all that it opened, is void. Raises NoLink."""
        assert self._competitions is not None
        owner = await self._competitions.owner(event)
        try:
            return await self._store.organisers.renew_link(
                account,
                owner,
                event,
                self._now(),
                target=target,
                reason=reason or None,
                by=asking.account,
                via=asking.via,
            )
        except StoreNoLink:
            raise NoLink from None

    def _mac(self, *what: str) -> str:
        made = hmac.digest(self._secret, "|".join(what).encode(errors="replace"), "sha256")
        return base64.urlsafe_b64encode(made).decode().rstrip("=")

    def _reach(self, asking: Asking) -> tuple[str, str | None]:
        """Whose keys the caller may make and see, and of which event alone. Raises NoRight."""
        if asking.key is not None and asking.key.role != "owner":
            raise NoRight("owner", asking.key.role)
        return self.events_of(asking)

    def _new_secret(self, owner: str, asking: Asking | None, name: str | None) -> str:
        if name is None or asking is None:
            return f"nk_{secrets.token_urlsafe(32)}"
        return f"nk_{self._mac('admin key', owner, asking.account, asking.via or '', name)}"

    # ------------------------------------------------------------------------------------------------ calls made once

    async def once(
        self, asking: Asking, name: str | None, call: str, make: Callable[[], Awaitable[str]]
    ) -> tuple[str, bool]:
        """The answer of a call, and whether it was made before. `name` is the caller's idempotency key for it.

        What is refused may be made again under the same name. Raises KeyUsed, CallRuns, and what `make` raises.
        """
        if name is None:
            return await make(), False
        account, key = asking.account, f"admin {asking.via or ''} {name}"
        waited = 0.0
        while True:
            try:
                before = await self._store.organisers.begin_call(
                    account, key, _digest(call), self._now(), _STALE_MS
                )
            except KeyReused:
                raise KeyUsed from None
            if before is None:
                break
            if before:
                return before, True
            if waited >= _PATIENCE_S:
                raise CallRuns
            await asyncio.sleep(_LOOK_AGAIN_S)
            waited += _LOOK_AGAIN_S
        try:
            answer = await make()
        except BaseException:
            await asyncio.shield(self._store.organisers.end_call(account, key, None))
            raise
        await self._store.organisers.end_call(account, key, answer)
        return answer, False


def command_key(asking: Asking, name: str | None) -> str:
    """What a command of this caller is called where it is stored; it tells the key by which it came."""
    return f"{asking.via or 'site'}/{name or secrets.token_hex(8)}"


def via_of(command_id: str | None) -> str | None:
    """The key by which a stored command came; None if by none."""
    parts = (command_id or "").split(":", 2)
    via = parts[1].partition("/")[0] if len(parts) > 1 else "site"
    return None if via == "site" else via


def _role(text: str) -> Role:
    return next(role for role in ROLES if role == text)


def _hash(secret: str) -> bytes:
    """What is stored of a secret; of so long a random text nothing more is needed."""
    return hashlib.sha256(secret.encode(errors="replace")).digest()


def _digest(call: str) -> str:
    return hashlib.sha256(call.encode()).hexdigest()


def _info(key: AdminKey) -> KeyInfo:
    return KeyInfo(
        id=key.id,
        label=key.label,
        role=_role(key.role),
        event=key.competition,
        owner=key.owner,
        holder=key.holder,
        created_at=key.created_at,
        expires_at=key.expires_at,
        revoked_at=key.revoked_at,
        last_used_at=key.last_used_at,
    )

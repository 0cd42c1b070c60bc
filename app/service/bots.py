"""Bots: anybody's programs that play here, by a token in place of a cookie.

A token is shown once, when it is made. Whoever has it is the bot; its owner can replace it or take it away at any time.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass

from app.service.accounts import clean_name
from app.service.errors import BadToken, KeyUsed, NoSuchBot, TooManyBots
from app.service.matches import Matches
from app.service.pace import Pace, household
from app.store import Store
from app.store.bots import Bot
from app.store.bots import NoSuchBot as StoreNoSuchBot
from app.store.bots import TooManyBots as StoreTooManyBots
from app.store.matches import KeyReused

BOTS_OF_ONE = 5
TOKEN = re.compile(r"nardy_bot_[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, slots=True)
class BotInfo:
    """A bot as its owner sees it; `token_at` is when its token was made, null if it has none."""

    id: str
    name: str
    tag: str | None
    created_at: int
    token_at: int | None


@dataclass(frozen=True, slots=True)
class NewToken:
    """A bot with its new token, which is shown here and never again."""

    bot: BotInfo
    token: str


@dataclass(frozen=True, slots=True)
class BotsView:
    """The caller's bots, the oldest first, and how many there may be."""

    bots: list[BotInfo]
    limit: int


def new_token() -> str:
    """256 bits that nobody guesses, with a beginning by which a token is known for one."""
    return f"nardy_bot_{secrets.token_urlsafe(32)}"


def hash_of(token: str) -> bytes:
    """What is stored of a token; of so long a random text nothing more is needed."""
    return hashlib.sha256(token.encode(errors="replace")).digest()


class Bots:
    """Makes bots and their tokens. `owner` is the caller's account; None is whoever runs the server."""

    def __init__(
        self,
        store: Store,
        now: Callable[[], int],
        matches: Matches | None = None,
        newcomers: Pace | None = None,
    ) -> None:
        """Of a server: the displays that it has, and how many new accounts one address may make."""
        self._store = store
        self._now = now
        self._matches = matches
        self._newcomers = newcomers

    async def create(
        self, owner: str | None, name: str, key: str | None = None, address: str | None = None
    ) -> NewToken:
        """A new bot; the same idempotency key gives the same bot, with another token.

        Raises BadName, TooManyBots, TooOften, KeyUsed.
        """
        name, token = clean_name(name), new_token()
        if self._newcomers is not None and address is not None:
            self._newcomers.take(household(address))
        try:
            bot = await self._store.bots.create(
                name, owner, hash_of(token), self._now(), most=BOTS_OF_ONE, key=key
            )
        except StoreTooManyBots:
            raise TooManyBots(BOTS_OF_ONE) from None
        except KeyReused:
            raise KeyUsed from None
        except StoreNoSuchBot:
            raise NoSuchBot from None
        return NewToken(_info(bot), token)

    async def mine(self, owner: str | None) -> BotsView:
        """The bots of this owner."""
        return BotsView([_info(bot) for bot in await self._store.bots.of_owner(owner)], BOTS_OF_ONE)

    async def renew(self, owner: str | None, bot_id: str) -> NewToken:
        """Another token; whoever came by the old one is sent away. Raises NoSuchBot."""
        token = new_token()
        try:
            bot = await self._store.bots.renew(bot_id, owner, hash_of(token), self._now())
        except StoreNoSuchBot:
            raise NoSuchBot from None
        await self._send_away()
        return NewToken(_info(bot), token)

    async def revoke(self, owner: str | None, bot_id: str) -> BotInfo:
        """No token, until there is another one. Raises NoSuchBot."""
        try:
            bot = await self._store.bots.revoke(bot_id, owner)
        except StoreNoSuchBot:
            raise NoSuchBot from None
        await self._send_away()
        return _info(bot)

    async def retire(self, owner: str | None, bot_id: str) -> BotsView:
        """Deletes a bot; what it has played stays. The bots that are left. Raises NoSuchBot."""
        try:
            cancelled = await self._store.bots.retire(bot_id, owner, self._now())
        except StoreNoSuchBot:
            raise NoSuchBot from None
        await self._send_away()
        for match_id in cancelled:
            if self._matches is not None:
                await self._matches.refresh(match_id)
        return await self.mine(owner)

    async def by_token(self, token: str) -> tuple[str, bytes]:
        """The account that a token opens, and the hash that stands for the token. Raises BadToken."""
        if not TOKEN.fullmatch(token):
            raise BadToken
        hash_ = hash_of(token)
        account_id = await self._store.bots.by_token(hash_)
        if account_id is None:
            raise BadToken
        return account_id, hash_

    async def _send_away(self) -> None:
        """At once here; other servers look every few seconds."""
        if self._matches is not None:
            await self._matches.check_opened()


def _info(bot: Bot) -> BotInfo:
    return BotInfo(bot.id, bot.name, bot.tag, bot.created_at, bot.token_at)

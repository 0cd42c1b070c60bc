"""Guests: a player is a name and a cookie (§10.2). The names of people and bots."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from app.engines.levels import computer_names
from app.service.errors import BadName
from app.service.pace import Pace, household
from app.store import Store
from app.store.accounts import Account as Account
from app.store.accounts import Link as Link
from app.store.accounts import folded

NAME_LENGTH = 24
# Letters by their category, and yet nothing is seen: fillers of Hangul, vowel marks that stand for nothing, the blank
# pattern of braille, and what chooses between variants.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | frozenset(
    map(chr, [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])
)
_COMPUTERS = frozenset({"computer", "компьютер"})  # what the pages call one
_BOTS = ("bot", "бот")  # what stands behind the name of one: `Зарик · бот`


def clean_name(name: str) -> str:
    """The name as it is kept: one line, no invisible or direction-changing characters. Raises BadName."""
    composed = unicodedata.normalize("NFC", name)
    visible = "".join(" " if unicodedata.category(char) in ("Zs", "Cc") else char for char in composed)
    cleaned = " ".join(visible.split())
    if not cleaned:
        raise BadName("empty", "A name needs at least one letter.")
    if len(cleaned) > NAME_LENGTH:
        raise BadName("long", f"A name has at most {NAME_LENGTH} characters.", limit=NAME_LENGTH)
    if _BLANK.intersection(cleaned) or any(
        unicodedata.category(char) in ("Cf", "Co", "Cs", "Cn", "Zl", "Zp") for char in cleaned
    ):
        raise BadName("invisible", "A name has only visible characters.")
    if not any(unicodedata.category(char)[0] in "LN" for char in cleaned):
        raise BadName("empty", "A name needs at least one letter.")
    if sum(unicodedata.category(char)[0] == "M" for char in cleaned) > len(cleaned) // 2:
        raise BadName("invisible", "A name has more marks than letters.")
    if "#" in cleaned:
        raise BadName("hash", "The sign # marks players of one name; no name has it.")
    alike = folded(cleaned)
    first = re.match(r"\w*", alike)
    if (
        (first and first[0] in map(folded, _COMPUTERS))  # `Компьютер · мастер`, too
        or alike in map(folded, computer_names())
        or re.search(rf"·\s*({'|'.join(map(folded, _BOTS))})$", alike)
    ):
        raise BadName("computer", "That is what computer players are called.")
    return cleaned


class Accounts:
    """Who plays here."""

    def __init__(self, store: Store, now: Callable[[], int], newcomers: Pace | None = None) -> None:
        """`newcomers`: how many new accounts one address may make."""
        self._store = store
        self._now = now
        self._newcomers = newcomers

    async def by_id(self, account_id: str | None) -> Account | None:
        """The player with this id, if there is one."""
        if account_id is None:
            return None
        return await self._store.accounts.load(account_id)

    async def of_session(self, account_id: str | None, link: int) -> Account | None:
        """The player of a session, if there is one; one that began with a link which is void opens nothing."""
        found = await self.by_id(account_id)
        return found if found is not None and found.links == link else None

    async def is_void(self, account_id: str | None, link: int) -> bool:
        """Whether a session began with a personal link that is void."""
        found = await self.by_id(account_id)
        return found is not None and found.links != link

    async def sign_in(self, account_id: str | None, name: str, address: str | None = None) -> Account:
        """A new guest with this name, or the guest of this session renamed. Raises BadName, TooOften."""
        cleaned = clean_name(name)
        known = await self.by_id(account_id)
        if known is None:
            if self._newcomers is not None and address is not None:
                self._newcomers.take(household(address))
            return await self._store.accounts.create_guest(cleaned, self._now())
        if known.name == cleaned:
            return known
        return await self._store.accounts.rename(known.id, cleaned)

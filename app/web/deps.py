"""Who is asking, by the session cookie or a bot's token, and the services of this application."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends
from itsdangerous import BadSignature, URLSafeSerializer
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from app.service.accounts import Account, Accounts, Link
from app.service.allowance import Allowance
from app.service.analysis import Analyses
from app.service.arbiter import Arbiter
from app.service.bots import Bots
from app.service.cards import Cards
from app.service.competitions import Competitions
from app.service.errors import NoName, NotForBots
from app.service.event_file import EventFiles
from app.service.health import Health
from app.service.lobby import Lobby
from app.service.matches import Matches
from app.service.organisers import Organisers
from app.service.pace import Pace
from app.service.readings import Readings

COOKIE = "nardy"
_KEPT_S = 400 * 24 * 3600  # the longest that browsers keep a cookie


class Sessions:
    """Signs into a cookie who somebody is, and by which of his personal links he came; and reads it back."""

    def __init__(self, secret_key: bytes, *, secure: bool = False) -> None:
        """`secure`: players reach this server by https, whatever a proxy says of a request."""
        self._secure = secure
        self._serializer = URLSafeSerializer(secret_key, salt="session")

    def read(self, connection: HTTPConnection) -> tuple[str | None, int]:
        """The account id of this session, and the number of its link; None without one, or with a forged one."""
        cookie = connection.cookies.get(COOKIE)
        if not cookie:
            return None, 0
        try:
            signed = self._serializer.loads(cookie)
        except BadSignature:
            return None, 0
        match signed:
            case str():
                return signed, 0
            case [str() as account_id, int() as number]:
                return account_id, number
        return None, 0

    def write(self, request: Request, response: Response, account_id: str, link: Link | None) -> None:
        """Keep this account in the caller's browser, until his link is void."""
        number = link.number if link else 0
        response.set_cookie(
            COOKIE,
            str(self._serializer.dumps([account_id, number] if number else account_id)),
            max_age=_KEPT_S,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https" or self._secure,
        )


@dataclass(frozen=True, slots=True)
class Services:
    """All that the web needs of the rest."""

    sessions: Sessions
    accounts: Accounts
    bots: Bots
    bot_pace: Pace  # of requests with one token
    lobby: Lobby
    matches: Matches
    competitions: Competitions
    arbiter: Arbiter
    organisers: Organisers
    organisers_allowance: Allowance
    event_files: EventFiles
    cards: Cards
    analyses: Analyses
    health: Health
    readings: Readings
    now: Callable[[], int]  # the clock of all servers, ms
    base_url: str | None


def services(connection: HTTPConnection) -> Services:
    """The services of the running application."""
    found = connection.app.state.services
    assert isinstance(found, Services)
    return found


@dataclass(frozen=True, slots=True)
class Identity:
    """Whose request it is; of a bot, with the hash of the token that it came with, of who came by a personal link,
    with this.
    """

    account: str | None
    token: bytes | None = None
    link: Link | None = None


async def identity(connection: HTTPConnection) -> Identity:
    """By the token if there is one, and then by nothing else. Raises BadToken, TooOften."""
    of = services(connection)
    token = _bearer(connection)
    if token is not None:
        account_id, hash_ = await of.bots.by_token(token)
        of.bot_pace.take(hash_.hex())
        return Identity(account_id, hash_)
    account = await of_session(connection)
    return Identity(account.id, link=account.link) if account else Identity(None)


async def of_session(connection: HTTPConnection) -> Account | None:
    """The account of this session; None if there is none, or the link by which it came is void."""
    of = services(connection)
    return await of.accounts.of_session(*of.sessions.read(connection))


async def began_with_void_link(connection: HTTPConnection) -> bool:
    """Whether this session is nobody's since its personal link was renewed."""
    of = services(connection)
    return await of.accounts.is_void(*of.sessions.read(connection))


def _bearer(connection: HTTPConnection) -> str | None:
    """What follows `Bearer`; a proxy may have a password of its own in the same header."""
    scheme, _, token = connection.headers.get("authorization", "").strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


async def caller(who: Annotated[Identity, Depends(identity)]) -> str | None:
    """The caller's account id, if the account exists."""
    return who.account


async def player(who: Annotated[Identity, Depends(identity)]) -> str:
    """The caller's account id. Raises NoName."""
    if who.account is None:
        raise NoName
    return who.account


async def someone(who: Annotated[Identity, Depends(identity)]) -> str | None:
    """The caller's account id, if he is known, and no bot. Raises NotForBots."""
    if who.token is not None:
        raise NotForBots
    return who.account


async def person(who: Annotated[str | None, Depends(someone)]) -> str:
    """The account id of a caller who is no bot. Raises NoName, NotForBots."""
    if who is None:
        raise NoName
    return who


def address_of(connection: HTTPConnection) -> str | None:
    """Where the caller is: of a request that came through a believed proxy, what the proxy says."""
    return connection.client.host if connection.client else None


def site_of(of: Services, request: Request) -> str:
    """The address of this server as players know it."""
    return of.base_url or str(request.base_url).rstrip("/")


def is_own_origin(connection: HTTPConnection) -> bool:
    """Whether a page of this server made the request; programs send no Origin at all."""
    origin = connection.headers.get("origin")
    if origin is None:
        return True
    base_url = services(connection).base_url
    hosts = {connection.headers.get("host")}
    if base_url:
        hosts.add(urlsplit(base_url).netloc)
    return urlsplit(origin).netloc in hosts


Served = Annotated[Services, Depends(services)]
Caller = Annotated[str | None, Depends(caller)]
Who = Annotated[Identity, Depends(identity)]
Player = Annotated[str, Depends(player)]
Someone = Annotated[str | None, Depends(someone)]
Person = Annotated[str, Depends(person)]

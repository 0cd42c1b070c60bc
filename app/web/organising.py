"""A call of an organiser: who makes it, what he may, that it is made once, and how many more he may make."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from fastapi import Depends, Header, Request, Response
from fastapi.security import HTTPBearer
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.service.allowance import Left, refuse_if_spent
from app.service.errors import BadKey, BadVersion, StaleVersion
from app.service.organisers import Asking, Role, command_key
from app.web.deps import Services, of_session, services
from app.web.messages import write_json
from engine.competition import commands

_VERSION = re.compile(r'(?:W/)?"?([0-9]{1,9})"?')
_bearer = HTTPBearer(
    auto_error=False, scheme_name="key", description="A key: `nk_…`; else the site's session."
)
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=100,
        pattern=r"^[\x21-\x7e]+$",
        description="A name for this call, chosen by the caller. The same call with the same name is carried out once.",
    ),
]
IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        max_length=20,
        description="The version (`ETag`) for which the call is meant; else `stale-version` (412).",
    ),
]


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it came: of whom, in which words, under which name, for which version."""

    of: Services
    asking: Asking
    words: str
    name: str | None
    expect: int | None

    @property
    def actor(self) -> str:
        """In whose name things are done."""
        return self.asking.account

    @property
    def via(self) -> str | None:
        """The id of the key by which it came."""
        return self.asking.via

    def key(self, part: str = "") -> str:
        """What its command is called where it is stored; of several commands each has its part."""
        name = f"{self.name} {part}" if self.name and part else self.name
        return command_key(self.asking, name)

    async def make(self, do: Callable[[], Awaitable[Any]], status: int = 200) -> Response:
        """Carries it out, or answers as the first time. Raises KeyUsed, CallRuns and what `do` raises."""

        async def answered() -> str:
            answer = await do()
            body = write_json(answer).decode()
            return msgspec.json.encode([status, _version_of(answer), body]).decode()

        text, again = await self.of.organisers.once(self.asking, self.name, self.words, answered)
        code, version, body = msgspec.json.decode(text, type=tuple[int, int | None, str])
        answer = Response(body, code, media_type="application/json")
        if version is not None:
            answer.headers["ETag"] = f'"{version}"'
        if again:
            answer.headers["Idempotent-Replayed"] = "true"
        return answer

    async def order(self, event: str, do: Callable[[], Awaitable[Any]], status: int = 200) -> Response:
        """The same for what is no command of the competition, and does not look at its version by itself."""

        async def checked() -> Any:
            version = await self.of.competitions.version(event)
            if self.expect not in (None, version):
                raise StaleVersion(version)
            return await do()

        return await self.make(checked, status)

    async def act(self, event: str, wish: Callable[[int], commands.Command], status: int = 200) -> Response:
        """Carries out a command of the competition, once it is known when."""
        return await self.make(
            lambda: self.of.competitions.act(
                event, wish, actor=self.actor, key=self.key(), expect=self.expect
            ),
            status,
        )


def _version_of(answer: Any) -> int | None:
    version = getattr(answer, "version", None)
    return version if isinstance(version, int) else None


async def anybody(
    request: Request,
    of: Annotated[Services, Depends(services)],
    _: Annotated[Any, Depends(_bearer)],
    name: IdempotencyKey = None,
    if_match: IfMatch = None,
) -> Call:
    """A call of somebody who has a key or a session. Raises BadKey, TooOften, BadVersion."""
    asking = await _asking(request, of)
    left = of.organisers_allowance.take(asking.via or asking.account)
    request.state.allowance = left
    refuse_if_spent(left)
    body = await request.body()
    words = f"{request.method} {request.url.path}?{request.url.query} {hashlib.sha256(body).hexdigest()}"
    return Call(of, asking, words, name, _expected(if_match))


async def _asking(request: Request, of: Services) -> Asking:
    """By the key if there is one, and then by nothing else."""
    scheme, _, secret = request.headers.get("authorization", "").strip().partition(" ")
    if scheme.lower() == "bearer":
        return await of.organisers.by_secret(secret.strip())
    account = await of_session(request)
    if account is None:
        raise BadKey
    return Asking(account.id)


def _expected(if_match: str | None) -> int | None:
    if if_match is None or if_match.strip() == "*":
        return None
    found = _VERSION.fullmatch(if_match.strip())
    if found is None:
        raise BadVersion
    return int(found[1])


def _of_role(needs: Role) -> Callable[..., Awaitable[Call]]:
    async def allowed(event: str, call: Annotated[Call, Depends(anybody)]) -> Call:
        await call.of.organisers.require(call.asking, event, needs)
        return call

    return allowed


Somebody = Annotated[Call, Depends(anybody)]
Observer = Annotated[Call, Depends(_of_role("observer"))]
Arbiter = Annotated[Call, Depends(_of_role("arbiter"))]
Owner = Annotated[Call, Depends(_of_role("owner"))]


class Allowances:
    """Every answer to an organiser says how many calls are left, also one that is refused."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})

        async def told(message: Message) -> None:
            left = state.get("allowance")
            if message["type"] == "http.response.start" and isinstance(left, Left):
                headers = MutableHeaders(scope=message)
                headers["RateLimit-Policy"] = f'"organiser";q={left.limit};w={left.window_s}'
                headers["RateLimit"] = f'"organiser";r={max(0, left.remaining)};t={left.reset_s}'
            await send(message)

        await self._app(scope, receive, told)

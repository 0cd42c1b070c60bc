"""Each request has an id and one line in the log, and no secret is in that line."""

from __future__ import annotations

import logging
import re
import secrets
import time

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.logs import about
from app.web.problems import problem_response

log = logging.getLogger(__name__)

_HEADER = b"x-request-id"
_SANE = re.compile(rb"[A-Za-z0-9._-]{8,64}")
_OF_MATCH = re.compile(r"/(?:match|replay|api/matches|ws/matches)/([A-Za-z0-9]{10,12})(?![A-Za-z0-9])")
_HEALTH = ("/healthz", "/readyz")
_LEFT = 499  # whoever asked did not wait for the answer
_LONGEST_PATH = 200


class Requests:
    """Gives each request an id, the caller's own if it is sane, and logs how it was answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        request = _id_of(scope)
        scope.setdefault("state", {})["request_id"] = request
        found = _OF_MATCH.match(scope["path"])
        node = getattr(scope["app"].state, "node", None)
        with about(node=node, request=request, match=found[1] if found else None):
            if scope["type"] == "http":
                await self._answer(scope, receive, send, request)
            else:
                await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, request: str) -> None:
        began, status, sent = time.monotonic(), _LEFT, 0

        async def noted(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Request-Id"] = request
                await send(message)
                status = message["status"]
            else:
                await send(message)
                sent += len(message.get("body", b""))

        try:
            await self._app(scope, receive, noted)
        finally:
            level = logging.DEBUG if scope["path"] in _HEALTH else logging.INFO
            if log.isEnabledFor(level):
                facts = {
                    "method": scope["method"],
                    "path": path_to_tell(scope),
                    "status": status,
                    "ms": round((time.monotonic() - began) * 1000, 1),
                    "bytes": 0 if scope["method"] == "HEAD" else sent,
                }
                log.log(level, "%s %s %s", facts["method"], facts["path"], status, extra={"facts": facts})


class Broken:
    """A bug is logged with its traceback and answered as a problem; nobody else sees the traceback."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except Exception:
            if begun:
                raise  # half an answer cannot be taken back: the server breaks the connection off and logs why
            log.exception("a request could not be answered")
            problem = problem_response(
                500,
                "internal-error",
                "Something broke on our side; it has been noted.",
                {"request": scope.get("state", {}).get("request_id")},
            )
            await problem(scope, receive, send)


def _id_of(scope: Scope) -> str:
    given = next((value for name, value in scope["headers"] if name == _HEADER), b"")
    return given.decode("ascii") if _SANE.fullmatch(given) else secrets.token_hex(8)


def path_to_tell(scope: Scope) -> str:
    """The path as it may be logged: as its route is written, with the match filled in and nothing else.

    An invite code so stays out of the log. Of a path that is no route nothing is told: there may be anything in it, a
    mistyped invite too.
    """
    written = getattr(scope.get("route"), "path", None)
    if written is not None:
        found = _OF_MATCH.match(scope["path"])
        written = str(written).replace("{anything:path}", "…")
        return written.replace("{match_id}", found[1] if found else "…").replace("{code}", "…")
    if "endpoint" in scope and (not scope.get("path_params") or scope["path"].startswith("/static/")):
        return re.split("[?#]", scope["path"])[0][:_LONGEST_PATH]
    return "/…"

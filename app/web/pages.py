"""The pages: static files, under a policy that lets nothing foreign and nothing inline run."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import FileResponse, JSONResponse
from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.service.errors import NoSuchMatch
from app.service.readings import MOST_BYTES
from app.web.cards import language_of, meta_tags
from app.web.deps import Served, Services
from app.web.problems import problem_response

log = logging.getLogger(__name__)

STATIC = Path(__file__).resolve().parent.parent.parent / "static"

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
MAX_BODY = 65_536  # bytes of a request
_LARGER = {
    "/api/records/check": MOST_BYTES,
    "/api/records/convert": MOST_BYTES,
}  # a whole record is sent there
_NEVER_KEPT = ("/api/", "/healthz", "/readyz")  # by browsers and proxies
_PREVIEW_S = 1.0  # a page waits no longer for what stands beside links to it
_MATCH_ID = re.compile(r"[A-Za-z0-9]{10,12}")
_UNSAFE = {"POST", "PUT", "PATCH", "DELETE"}

router = APIRouter(include_in_schema=False)


def _page(name: str) -> FileResponse:
    return FileResponse(STATIC / name, media_type="text/html", headers={"Cache-Control": "no-cache"})


@router.api_route("/", methods=["GET", "HEAD"])
async def home() -> FileResponse:
    """Play."""
    return _page("index.html")


@router.api_route("/join/{code}", methods=["GET", "HEAD"])
async def join(code: str) -> FileResponse:
    """An invite; looking at it takes no seat."""
    return _page("join.html")


@router.api_route("/enter", methods=["GET", "HEAD"])
async def enter() -> FileResponse:
    """An entrant's personal link; looking at it signs nobody in."""
    return _page("enter.html")


@router.api_route("/match/{match_id}", methods=["GET", "HEAD"])
async def match(of: Served, request: Request, match_id: str) -> Response:
    """The match, then its result."""
    return await _page_of_match("match.html", of, request, match_id)


@router.api_route("/replay/{match_id}", methods=["GET", "HEAD"])
async def replay(of: Served, request: Request, match_id: str) -> Response:
    """Both games side by side."""
    return await _page_of_match("replay.html", of, request, match_id)


async def _page_of_match(name: str, of: Services, request: Request, match_id: str) -> Response:
    """The page; that of a finished match tells messengers what to show beside a link to it."""
    tags = await _preview(of, request, match_id)
    if tags is None:
        return _page(name)
    page = (STATIC / name).read_text("utf-8").replace("</title>", f"</title>\n  {tags}", 1)
    return Response(page, media_type="text/html", headers={"Cache-Control": "no-cache"})


async def _preview(of: Services, request: Request, match_id: str) -> str | None:
    if not _MATCH_ID.fullmatch(match_id):
        return None
    language = language_of(request)
    try:
        async with asyncio.timeout(_PREVIEW_S):
            if (await of.lobby.info(match_id, None)).state != "over":
                return None
            preview = await of.cards.preview(match_id, language)
    except NoSuchMatch:
        return None
    except Exception:
        log.warning("the page stands without its preview", exc_info=True)
        return None
    return meta_tags(of, request, match_id, language, preview)


@router.api_route("/rules", methods=["GET", "HEAD"])
async def rules() -> FileResponse:
    """The rules in plain words."""
    return _page("rules.html")


@router.api_route("/bots", methods=["GET", "HEAD"])
async def bots() -> FileResponse:
    """My bots and their tokens."""
    return _page("bots.html")


@router.api_route("/fairness", methods=["GET", "HEAD"])
async def fairness() -> FileResponse:
    """What is fair here, and what is luck, in measured figures."""
    return _page("fairness.html")


@router.api_route("/records", methods=["GET", "HEAD"])
async def records() -> FileResponse:
    """Check and convert records."""
    return _page("records.html")


@router.api_route("/dice", methods=["GET", "HEAD"])
async def dice() -> FileResponse:
    """Check the dice."""
    return _page("dice.html")


@router.api_route("/events", methods=["GET", "HEAD"])
async def events() -> FileResponse:
    """Competitions that run, that are coming, that are over."""
    return _page("events.html")


@router.api_route("/events/new", methods=["GET", "HEAD"])
async def new_event() -> FileResponse:
    """A competition to be made."""
    return _page("newevent.html")


@router.api_route("/events/{competition_id}/manage", methods=["GET", "HEAD"])
async def manage_event(competition_id: str) -> FileResponse:
    """A competition, for who has made it."""
    return _page("manage.html")


@router.api_route("/events/{competition_id}", methods=["GET", "HEAD"])
async def event(competition_id: str) -> FileResponse:
    """One competition."""
    return _page("event.html")


async def missing(request: Request) -> Response:
    """An address that leads nowhere: a page for people, a problem for programs."""
    is_page = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/")
    if not is_page:
        return problem_response(404, "not-found", "Not Found")
    page = _page("missing.html")
    page.status_code = 404
    return page


@router.get("/problems/{code}")
async def problem(code: str) -> JSONResponse:
    """What a problem means, in words: where its `type` leads."""
    words = {language: _problem_words(language) for language in ("ru", "en")}
    said = {language: found.get(code) for language, found in words.items()}
    if not all(isinstance(text, str) for text in said.values()):
        return problem_response(404, "not-found", "There is no such problem.")
    return JSONResponse({"code": code, **said})


@cache
def _problem_words(language: str) -> dict[str, Any]:
    words: dict[str, Any] = json.loads((STATIC / "locales" / language / "problems.json").read_text("utf-8"))
    return words


@router.api_route("/favicon.ico", methods=["GET", "HEAD"])
async def favicon() -> FileResponse:
    """The site's icon."""
    return FileResponse(STATIC / "favicon.svg", media_type="image/svg+xml")


class _Files(StaticFiles):
    """Static files that a browser asks about again, so that a new version is there at once."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response


def _too_large(limit: int) -> JSONResponse:
    return problem_response(413, "too-large", f"A body has at most {limit} bytes.", {"limit": limit})


class Guard:
    """Security headers on every answer; a page of another site can change nothing here."""

    def __init__(self, app: ASGIApp, own_hosts: frozenset[str]) -> None:
        self._app = app
        self._own_hosts = own_hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", _POLICY)
                headers.setdefault("X-Content-Type-Options", "nosniff")
                headers.setdefault("Referrer-Policy", "same-origin")
                if scope["path"].startswith(_NEVER_KEPT):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        if scope["method"] in _UNSAFE and self._is_foreign(scope):
            refusal = problem_response(403, "foreign-origin", "Another site cannot do this.")
            await refusal(scope, receive, guarded)
            return

        limit = _LARGER.get(scope["path"], MAX_BODY)
        if int(dict(scope["headers"]).get(b"content-length", b"0") or 0) > limit:
            await _too_large(limit)(scope, receive, guarded)
            return
        received, begun = 0, False

        async def bounded() -> Message:
            """A body that did not say its length ends where it becomes too long."""
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            return {"type": "http.disconnect"} if received > limit else message

        async def unless_too_large(message: Message) -> None:
            nonlocal begun
            if begun or received <= limit:  # what was made of half a body is nobody's answer
                begun = True
                await guarded(message)

        await self._app(scope, bounded, unless_too_large)
        if received > limit and not begun:
            await _too_large(limit)(scope, receive, guarded)

    def _is_foreign(self, scope: Scope) -> bool:
        headers = dict(scope["headers"])
        origin = headers.get(b"origin")
        if origin is None:
            return False
        host = origin.decode("latin-1").partition("://")[2]
        return host not in self._own_hosts | {headers.get(b"host", b"").decode("latin-1")}


def install(app: FastAPI) -> None:
    """The pages and their files."""
    app.include_router(router)
    app.mount("/static", _Files(directory=STATIC), name="static")
    app.add_api_route(
        "/{anything:path}", missing, methods=["GET", "HEAD"], include_in_schema=False
    )  # the last of all

"""Where the parts are put together."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI

from app.engines.analyst import Analyst
from app.engines.levels import Level, levels_here
from app.engines.pool import Pool
from app.logs import set_about
from app.service.accounts import Accounts
from app.service.allowance import Allowance
from app.service.analysis import Analyses
from app.service.arbiter import Arbiter
from app.service.audit import Audit
from app.service.bots import Bots
from app.service.cards import Cards
from app.service.competitions import Competitions
from app.service.computers import Computers
from app.service.event_file import EventFiles
from app.service.health import Health
from app.service.lobby import Lobby
from app.service.matches import Matches
from app.service.organisers import Organisers
from app.service.pace import Pace
from app.service.readings import Readings
from app.service.runner import Runner
from app.settings import Settings
from app.store import Store, open_store
from app.web import (
    accounts,
    arbiters,
    bots,
    cards,
    competitions,
    health,
    openapi,
    organising,
    pages,
    play,
    problems,
    records,
    requests,
    socket,
)
from app.web import organisers as organisers_api
from app.web.deps import Services, Sessions

_COMPARE_CLOCKS_S = 30.0
_STOP_S = 2.0
_ORGANISERS_CALLS = 600, 60  # by one key or person, in so many seconds
_REQUESTS_OF_ONE = 300, 60.0  # with one token, in so many seconds
log = logging.getLogger(__name__)


class CommonClock:
    """Unix time in ms on the database's clock, so that all servers agree; on SQLite this machine's own."""

    def __init__(self) -> None:
        self._ahead_ms = 0

    def __call__(self) -> int:
        """Now."""
        return time.time_ns() // 1_000_000 + self._ahead_ms

    async def keep_right(self, store: Store) -> None:
        """Compare with the database's clock now and then."""
        while True:
            await asyncio.sleep(_COMPARE_CLOCKS_S)
            try:
                await self.set(store)
            except Exception:
                log.warning(
                    "the database's clock could not be read; the last difference stands", exc_info=True
                )

    async def set(self, store: Store) -> None:
        """Compare once: the answer belongs to the middle of the time that it took."""
        asked = time.time_ns() // 1_000_000
        theirs = await store.clock_ms()
        if theirs is not None:
            self._ahead_ms = theirs - (asked + time.time_ns() // 1_000_000) // 2


async def _in_time(closing: Coroutine[Any, Any, None]) -> None:
    """A stop does not wait for a database that is gone: all that was acknowledged is stored already."""
    try:
        async with asyncio.timeout(_STOP_S):
            await closing
    except Exception as wrong:
        log.warning("not closed in order: %s", str(wrong) or type(wrong).__name__)


def create_app(
    settings: Settings, *, computer_pace_ms: int = 900, levels: Sequence[Level] | None = None
) -> FastAPI:
    """The application; its store is opened when it starts and closed when it stops.

    `levels` are the computer players that it has; those that are installed, if it is not said.
    """

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        app.state.node = node = secrets.token_hex(4)
        set_about(node=node)
        secret = settings.secret().encode()
        store = await open_store(settings)
        now = CommonClock()
        await now.set(store)
        comparing = asyncio.create_task(now.keep_right(store))
        try:
            computers = Computers(levels or levels_here(), Pool(settings.computer_workers))
            link_ms, unseen_ms = settings.link_hours * 3_600_000, settings.unseen_minutes * 60_000
            matches = Matches(
                store, computers, node, now, computer_pace_ms=computer_pace_ms, unseen_ms=unseen_ms
            )
            newcomers = Pace(settings.newcomers_an_hour, 3_600.0, time.monotonic)
            analysts = [Analyst() for _ in range(settings.analysis_workers)]
            analyses = Analyses(store, settings.analysis_level, analysts, now)
            shared = Cards(matches, analyses)
            competitions = Competitions(store, computers, now)
            organisers = Organisers(store, competitions, secret, now)
            audit = Audit(store, competitions)
            app.state.services = Services(
                sessions=Sessions(secret, secure=settings.base_url.startswith("https://")),
                accounts=Accounts(store, now, newcomers),
                bots=Bots(store, now, matches, newcomers),
                bot_pace=Pace(*_REQUESTS_OF_ONE, time.monotonic),
                lobby=Lobby(store, matches, secret, now, link_ms=link_ms, unseen_ms=unseen_ms),
                matches=matches,
                competitions=competitions,
                organisers=organisers,
                organisers_allowance=Allowance(*_ORGANISERS_CALLS, time.monotonic),
                event_files=EventFiles(
                    store, competitions, matches, organisers, audit, now, lambda: open_store(settings)
                ),
                arbiter=Arbiter(store, competitions, matches, Analyst(), settings.analysis_level),
                cards=shared,
                analyses=analyses,
                health=Health(store, matches),
                readings=Readings(),
                now=now,
                base_url=settings.base_url or None,
            )
            runner = Runner(store, competitions, matches, computers, node, now)
            await matches.start()
            runner.start()
            analyses.start()
            try:
                yield
            finally:
                await _in_time(runner.close())
                await _in_time(matches.close())
                await _in_time(computers.close())
                await _in_time(shared.close())
                await _in_time(analyses.close())
        finally:
            comparing.cancel()
            await asyncio.gather(comparing, return_exceptions=True)
            await _in_time(store.close())

    app = FastAPI(
        title="Objective Nardy",
        summary="Objective backgammon: two games at once on the same dice.",
        version="0.1.0",
        lifespan=life,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    own_hosts = frozenset({urlsplit(settings.base_url).netloc}) if settings.base_url else frozenset[str]()
    app.add_middleware(requests.Broken)
    app.add_middleware(pages.Guard, own_hosts=own_hosts)
    app.add_middleware(organising.Allowances)
    app.add_middleware(requests.Requests)  # the last one added is the first one asked
    problems.install(app)
    app.include_router(health.router)
    app.include_router(accounts.router)
    app.include_router(bots.router)
    app.include_router(play.router)
    app.include_router(organisers_api.router)
    app.include_router(arbiters.router)
    app.include_router(competitions.router)
    app.include_router(cards.router)
    app.include_router(records.router)
    app.include_router(socket.router)
    pages.install(app)
    openapi.install(app)
    return app

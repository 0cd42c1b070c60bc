"""Where the parts are put together."""

from __future__ import annotations

import contextlib
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable
from urllib.parse import urlsplit

from engine.bot import Heuristic
from fastapi import FastAPI

from app.service.accounts import Accounts
from app.service.lobby import Lobby
from app.service.matches import Matches
from app.settings import Settings
from app.store import open_store
from app.web import accounts, pages, play, problems, socket
from app.web.deps import Services, Sessions


def unix_ms() -> int:
    """The time on the server's clock."""
    return time.time_ns() // 1_000_000


def create_app(
    settings: Settings, now: Callable[[], int] = unix_ms, *, computer_pace_ms: int = 900
) -> FastAPI:
    """The application; its store is opened when it starts and closed when it stops."""

    @contextlib.asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        logging.getLogger("app").setLevel(settings.log_level.upper())
        secret = settings.secret().encode()
        store = await open_store(settings)
        try:
            matches = Matches(
                store, Heuristic(), secrets.token_hex(4), now, computer_pace_ms=computer_pace_ms
            )
            app.state.services = Services(
                sessions=Sessions(secret),
                accounts=Accounts(store, now),
                lobby=Lobby(store, matches, secret, now),
                matches=matches,
                base_url=settings.base_url or None,
            )
            await matches.start()
            try:
                yield
            finally:
                await matches.close()
        finally:
            await store.close()

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
    app.add_middleware(pages.Guard, own_hosts=own_hosts)
    problems.install(app)
    app.include_router(accounts.router)
    app.include_router(play.router)
    app.include_router(socket.router)
    pages.install(app)
    return app

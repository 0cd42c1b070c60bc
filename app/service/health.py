"""Whether this server should be given players: what a proxy or a supervisor asks."""

from __future__ import annotations

import asyncio
import logging
import time

from app.service.errors import Missing, NotReady
from app.service.matches import Matches
from app.store import Store

log = logging.getLogger(__name__)

_PATIENCE_S = 2.0  # with the database
_GOOD_FOR_S = 1.0  # an answer of the database: however often it is asked for, it asks no more often


class Health:
    """What this server lacks to serve. However many ask, the database is asked once, and once a second at most."""

    def __init__(self, store: Store, matches: Matches) -> None:
        self._store = store
        self._matches = matches
        self._stopping = False
        self._asking: asyncio.Task[Missing | None] | None = None
        self._answered_at = 0.0
        self._missing: Missing | None = None

    def stop(self) -> None:
        """From now on the server is not ready; what it has begun it finishes."""
        self._stopping = True

    async def require_ready(self) -> None:
        """Raises NotReady, with the first thing that is missing."""
        missing = await self._look()
        if missing != self._missing:
            self._missing = missing
            if missing is None:
                log.info("ready again")
            elif missing != "restart":
                log.warning("not ready: %s", NotReady.WORDS[missing])
        if missing is not None:
            raise NotReady(missing)

    async def _look(self) -> Missing | None:
        if self._stopping or self._matches.is_closing:
            return "restart"
        if not self._matches.is_serving:
            return "matches"
        asking = self._asking
        if asking is None or (asking.done() and time.monotonic() - self._answered_at >= _GOOD_FOR_S):
            asking = self._asking = asyncio.create_task(self._ask())
        await asyncio.wait(
            {asking}, timeout=_PATIENCE_S
        )  # others wait for it too, and giving up may take it longer
        return asking.result() if asking.done() else "database"

    async def _ask(self) -> Missing | None:
        try:
            async with asyncio.timeout(_PATIENCE_S):
                return None if await self._store.schema_is_current() else "schema"
        except Exception as wrong:
            log.debug("the database was asked whether it is there: %s", type(wrong).__name__)
            return "database"
        finally:
            self._answered_at = time.monotonic()

"""One read for all who ask for the same thing at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Joined(Generic[T]):
    """Reads again and again, one at a time. Nobody is given what was read before he asked: who comes while a read runs
    waits for the next one, together with all others who came meanwhile.
    """

    def __init__(self, read: Callable[[], Awaitable[T]]) -> None:
        self._read = read
        self._runs: asyncio.Task[T] | None = None
        self._next: asyncio.Task[T] | None = None

    async def get(self) -> T:
        """What is so now. Raises what the read raises."""
        if self._next is None:
            self._next = asyncio.create_task(self._after(self._runs))
        return await asyncio.shield(self._next)  # whoever goes away leaves the others their read

    async def _after(self, before: asyncio.Task[T] | None) -> T:
        if before is not None:
            await asyncio.wait([before])
        self._runs, self._next = self._next, None
        return await self._read()

"""Time that jumps to the next thing that happens, and chance that comes from a seed."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import random
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import Context
from itertools import count
from typing import Any, TypeVar
from unittest.mock import patch

T = TypeVar("T")

EPOCH_MS = 1_735_732_800_000  # 2025-01-01 12:00 UTC: when every run begins
THREAD_S = 0.01  # what work in a thread takes
_MOST_STEPS = 3_000_000


class Stuck(Exception):
    """Nothing will ever happen again, or something happens for ever at one moment."""


class _Timer(asyncio.TimerHandle):
    """Of two that are for one moment the one comes first that was set first, whatever else waits."""

    def __init__(self, number: int, *what: Any) -> None:
        super().__init__(*what)
        self._number = number

    def __lt__(self, other: Any) -> bool:
        return (self._when, self._number) < (other._when, other._number)


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop without a clock, threads or sockets: when nothing is left to do, it is the next timer's time."""

    def __init__(self) -> None:
        super().__init__()
        self._moment = 0.0
        self._steps = 0
        self.numbers = count()  # of tasks
        self._timers = count()
        self._selector = self  # asked to wait for the world, it lets the time pass

    def time(self) -> float:
        return self._moment

    def now(self) -> int:
        """Unix time (ms)."""
        return EPOCH_MS + int(self._moment * 1000 + 1e-6)

    def select(self, timeout: float | None) -> Sequence[Any]:
        self._steps += 1
        if timeout is None:
            raise Stuck("everybody waits for ever")
        if self._steps > _MOST_STEPS:
            raise Stuck("it does not come to an end")
        self._moment += timeout
        return ()

    def call_at(self, when: float, callback: Any, *args: Any, context: Context | None = None) -> _Timer:
        timer = _Timer(next(self._timers), when, callback, args, self, context)
        heapq.heappush(self._scheduled, timer)  # type: ignore[attr-defined]
        timer._scheduled = True
        return timer

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        answer = self.create_future()

        def work() -> None:
            if not answer.done():
                try:
                    answer.set_result(func(*args))
                except Exception as wrong:
                    answer.set_exception(wrong)

        self.call_later(THREAD_S, work)
        return answer

    def _process_events(self, event_list: Any) -> None:
        pass

    def _write_to_self(self) -> None:
        pass


class SimulatedTask(asyncio.Task[Any]):
    """A task that has the same place among others in every run: sets of tasks are always in one order."""

    def __init__(self, work: Any, *, loop: VirtualLoop, **more: Any) -> None:
        self._number = next(loop.numbers)
        super().__init__(work, loop=loop, **more)

    def __hash__(self) -> int:
        return self._number


class Chance(random.Random):
    """Chance for one purpose: what others draw does not change what comes here."""

    def __init__(self, seed: object, *purpose: object) -> None:
        super().__init__("/".join(map(str, (seed, *purpose))))

    def once_in(self, times: float) -> bool:
        return self.random() * times < 1


@contextlib.contextmanager
def all_chance_from(seed: int, loop: VirtualLoop) -> Iterator[None]:
    """While this lasts, what is secret comes from the seed, and the monotonic clock is the loop's."""
    chance = Chance(seed, "secrets")
    with (
        patch.object(secrets, "token_bytes", chance.randbytes),
        patch.object(secrets, "token_hex", lambda n: chance.randbytes(n).hex()),
        patch.object(secrets, "choice", chance.choice),
        patch.object(time, "monotonic", loop.time),
    ):
        yield

"""How many requests one caller may still make; counted by this server alone, in memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from app.service.errors import TooOften

_KEPT = 10_000  # who came longest ago is forgotten first


@dataclass(frozen=True, slots=True)
class Left:
    """What is left: so many requests at once, and all of `limit` again after `reset_s`."""

    limit: int
    window_s: int
    remaining: int
    reset_s: int


class Allowance:
    """So many at once, and again as many in the time that is given."""

    def __init__(self, limit: int, window_s: int, clock: Callable[[], float]) -> None:
        """`limit` in `window_s` seconds of `clock`."""
        self._limit = limit
        self._window_s = window_s
        self._clock = clock
        self._used: dict[str, tuple[float, float]] = {}  # how much was used up, and when that was so

    def take(self, who: str) -> Left:
        """One more, and what is left then; fewer than 0: it was one too many, and did not count."""
        used = self._now(who)
        is_free = used + 1 <= self._limit
        self._used[who] = (used + is_free, self._clock())
        while len(self._used) > _KEPT:
            del self._used[next(iter(self._used))]
        used += 1
        seconds_each = self._window_s / self._limit
        if not is_free:
            return Left(self._limit, self._window_s, -1, math.ceil((used - self._limit) * seconds_each))
        return Left(self._limit, self._window_s, int(self._limit - used), math.ceil(used * seconds_each))

    def _now(self, who: str) -> float:
        now = self._clock()
        used, at = self._used.pop(who, (0.0, now))
        return max(0.0, used - (now - at) * self._limit / self._window_s)


def refuse_if_spent(left: Left) -> None:
    """Raises TooOften if nothing was left."""
    if left.remaining < 0:
        raise TooOften(left.reset_s)

"""How often the same may be done again: by one address, by one token."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Callable

from app.service.errors import TooOften

_KEPT = 10_000  # who came longest ago is forgotten first


class Pace:
    """So many at once, and again as many in the time that is given; counted by this server alone, in memory."""

    def __init__(self, most: int, per_s: float, clock: Callable[[], float]) -> None:
        """`most` in `per_s` seconds of `clock`; 0: no limit."""
        self._most = most
        self._per_s = per_s
        self._clock = clock
        self._used: dict[str, tuple[float, float]] = {}  # how much was used up, and when that was so

    def take(self, who: str) -> None:
        """Once more. Raises TooOften, and then it does not count."""
        if not self._most:
            return
        now = self._clock()
        used, at = self._used.pop(who, (0.0, now))
        used = max(0.0, used - (now - at) * self._most / self._per_s)
        is_free = used + 1 <= self._most
        self._used[who] = (used + is_free, now)
        while len(self._used) > _KEPT:
            del self._used[next(iter(self._used))]
        if not is_free:
            raise TooOften(math.ceil((used + 1 - self._most) * self._per_s / self._most))


def household(address: str) -> str:
    """Whom an address stands for: itself, and of IPv6 its network (/64), which one subscriber has whole."""
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if known.version == 4:
        return str(known)
    if known.ipv4_mapped is not None:
        return str(known.ipv4_mapped)
    return str(ipaddress.ip_network((known, 64), strict=False))

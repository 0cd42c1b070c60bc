"""The dice that all entrants of a qualifying share (§12.1)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def shared_seed(seeds: Iterable[str]) -> str:
    """Seed A of all boards of a round: made from the seeds of all entrants, so that nobody alone chooses it.

    `seeds` are 32 hex digits each, in any order; who showed none has zeros (§9.1). The computer's seed B is zeros.
    """
    return hashlib.sha256("|".join(sorted(seeds)).encode()).hexdigest()[:32]

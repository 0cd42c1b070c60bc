"""The shared roll: drawn from seeds that nobody alone could choose, checkable by anyone (§9)."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterator
from dataclasses import dataclass

from engine.errors import BadRoll
from engine.turn import FIRST_TURN, Seats, Turn

NO_SEED = "0" * 32  # stands in for a client seed that was never revealed, and for the computer's (§9.1)
_FAIR = 252  # the largest multiple of six in a byte; bytes from here on are skipped (§9.2)


@dataclass(frozen=True, slots=True)
class Roll:
    """Two dice, an unordered pair kept as drawn (§9.2)."""

    first: int
    second: int

    def __post_init__(self) -> None:
        if not (1 <= self.first <= 6 and 1 <= self.second <= 6):
            raise BadRoll(f"{self.first}-{self.second} is no roll of two dice.")

    @property
    def high(self) -> int:
        return max(self.first, self.second)

    @property
    def low(self) -> int:
        return min(self.first, self.second)

    @property
    def is_double(self) -> bool:
        return self.first == self.second

    def __str__(self) -> str:
        return f"{self.first}-{self.second}"


@dataclass(frozen=True, slots=True)
class DiceSeeds:
    """All that the rolls of one match are drawn from.

    `server` is 32 raw bytes, the clients' are 32 hex digits each, A's being White's in game X. `dice_id` is the
    match id, or in a duplicate event the one id that all boards share (§12.1). Secret while the match runs.
    """

    server: bytes
    dice_id: str
    clients: Seats[str]

    def __repr__(self) -> str:
        return f"DiceSeeds(dice_id={self.dice_id!r}, secret)"


def commitment(server_seed: bytes) -> str:
    """C of §9.1: the SHA-256 of the server's seed, published before anyone's seed is known."""
    return hashlib.sha256(server_seed).hexdigest()


def client_hash(seed: str) -> str:
    """What a browser commits to: the SHA-256 of the 16 bytes of its seed (§9.1)."""
    return hashlib.sha256(bytes.fromhex(seed)).hexdigest()


def is_client_seed(text: str) -> bool:
    """32 lower-case hex digits."""
    return re.fullmatch(r"[0-9a-f]{32}", text) is not None


def is_dice_id(text: str) -> bool:
    """Match ids use A–Z a–z 0–9 and `-` (§9.2)."""
    return re.fullmatch(r"[A-Za-z0-9-]{1,64}", text) is not None


def roll_for(seeds: DiceSeeds, turn: Turn, *, opening_double: bool) -> Roll:
    """The roll of a turn; it depends on the seeds and the turn, on nothing that players do (§9.2–9.3).

    With `opening_double` false the first roll of the match goes on in its stream until it is no double (§2.5).
    """
    stream = _dice(seeds, turn)
    while True:
        roll = Roll(next(stream), next(stream))
        if opening_double or turn != FIRST_TURN or not roll.is_double:
            return roll


def _dice(seeds: DiceSeeds, turn: Turn) -> Iterator[int]:
    counter = 0
    while True:
        place = f"{turn.round}|{turn.phase.value}|{counter}"
        text = f"nardy-dice/1|{seeds.dice_id}|{seeds.clients.A}|{seeds.clients.B}|{place}"
        for byte in hmac.digest(seeds.server, text.encode(), "sha256"):
            if byte < _FAIR:
                yield byte % 6 + 1
        counter += 1

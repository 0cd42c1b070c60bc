"""Checks the dice of a finished match against what was promised before it began (§9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec

from engine.dice import NO_SEED, DiceSeeds, client_hash, commitment, roll_for
from engine.ruleset import Ruleset
from engine.turn import FIRST_TURN, Seats, Turn


class NotAMatch(Exception):
    """The file is no finished match, so there is nothing to check."""


# ---------------------------------------------------------------- the file of a match, as far as it concerns the dice

_Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
_ClientSeed = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]
_Id = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9-]{1,64}\Z")]
_TurnName = Annotated[str, msgspec.Meta(pattern=r"^[1-9][0-9]{0,5}[WK]\Z")]
_Seat = Literal["A", "B"]


class _Dice(msgspec.Struct):
    commitment: _Hash
    seed: _Hash
    hashes: dict[_Seat, _Hash | None]
    seeds: dict[_Seat, _ClientSeed | None]
    defaulted: list[_Seat]
    own: _ClientSeed | None = None  # A's, where the seed in `seeds` is made from those of many (§12.1)


class _Rolled(msgspec.Struct):
    turn: _TurnName
    roll: tuple[int, int]


class _OpeningRules(msgspec.Struct):
    variant: Literal["short", "long"]
    opening_double: Literal["reroll", "allow"]


class _Match(msgspec.Struct):
    format: Literal["nardy-match/1"]
    match: _Id
    dice_id: _Id
    ruleset: _OpeningRules
    dice: _Dice
    phases: list[_Rolled]
    open: _Rolled | None = None


# ------------------------------------------------------------------------------------------------------- the check


@dataclass(frozen=True, slots=True)
class Checked:
    """What was checked, and what was found wrong, each as a sentence."""

    match: str
    rolls: int
    wrong: tuple[str, ...]

    def __str__(self) -> str:
        if self.wrong:
            return "\n".join((f"Match {self.match}: the dice are not as promised.", *self.wrong))
        rolls = "1 roll" if self.rolls == 1 else f"{self.rolls} rolls"
        return f"Match {self.match}: the commitment, the players' seeds and {rolls} are as promised."


def check(file: bytes) -> Checked:
    """Recomputes the commitment, the hashes of the players' seeds and every roll. Raises NotAMatch."""
    try:
        match = msgspec.json.decode(file, type=_Match)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NotAMatch(f"not a finished match: {error}") from None
    rolled = [*match.phases, *([match.open] if match.open else [])]
    server = bytes.fromhex(match.dice.seed)
    wrong = []
    if commitment(server) != match.dice.commitment:
        wrong.append("The commitment is not the SHA-256 of the server's seed.")
    a, b = match.dice.seeds.get("A"), match.dice.seeds.get("B")
    if a is not None and b is not None:
        wrong += _wrong_seed(match.dice, "A", match.dice.own or a) + _wrong_seed(match.dice, "B", b)
        seeds = DiceSeeds(server, match.dice_id, Seats(a, b))
        wrong += _wrong_rolls(seeds, rolled, opening_double=_opening_double(match.ruleset))
    elif rolled:
        wrong.append("There are rolls, but not the seeds of both players.")
    return Checked(match.match, len(rolled), tuple(wrong))


def _wrong_seed(dice: _Dice, seat: _Seat, seed: str) -> list[str]:
    """A player's seed is the one whose hash he sent first; zeros stand for one that was never shown (§9.1)."""
    if seat in dice.defaulted:
        return [] if seed == NO_SEED else [f"{seat} showed no seed, yet zeros do not stand in its place."]
    if client_hash(seed) != dice.hashes.get(seat):
        return [f"{seat}'s seed is not the one whose SHA-256 was sent first."]
    return []


def _wrong_rolls(seeds: DiceSeeds, rolled: list[_Rolled], *, opening_double: bool) -> list[str]:
    """Every turn has the roll that the seeds give it, and none is left out (§9.2)."""
    wrong = []
    expected = FIRST_TURN
    for phase in rolled:
        turn = Turn.parse(phase.turn) or expected
        if turn != expected:
            wrong.append(f"Turn {turn} stands where turn {expected} should be.")
        drawn = roll_for(seeds, turn, opening_double=opening_double)
        if sorted(phase.roll) != sorted((drawn.first, drawn.second)):  # a roll is an unordered pair (§9.2)
            first, second = phase.roll
            wrong.append(f"Turn {turn}: the roll is {first}-{second}, but the seeds give {drawn}.")
        expected = turn.next()
    return wrong


def _opening_double(rules: _OpeningRules) -> bool:
    return Ruleset(variant=rules.variant, opening_double=rules.opening_double).opening_double_allowed

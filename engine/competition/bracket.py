"""Single and double elimination: the slots of a bracket, who is in them, and the places at the end (§12.3).

A slot is one meeting, known by its name: `W2.1` the first of the second round, `L3.2` among those who have lost once,
`T` for the third place, `F` the final and `R` the final played again. It is fed by seeds, and by winners and losers of
other slots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Feed:
    """Who comes into a slot: the seed of a number, or the winner or loser of another slot."""

    kind: str  # seed, winner, loser
    of: int | str


@dataclass(frozen=True, slots=True)
class Slot:
    """A meeting of the bracket. `depth`: who is out by losing here has a better place than who lost at a lower one."""

    name: str
    feeds: tuple[Feed, Feed]
    depth: int


@dataclass(frozen=True, slots=True)
class Filled:
    """A slot as far as it is known. None is nobody: an empty seed, or two who both did not come.

    `winner` and `loser` are known when `over`. `bye`: it was won without an opponent.
    """

    slot: Slot
    known: bool
    entrants: tuple[int | None, int | None] = (None, None)
    over: bool = False
    winner: int | None = None
    loser: int | None = None

    @property
    def is_ready(self) -> bool:
        """Two entrants are there and have not met."""
        return self.known and not self.over


def seed_order(size: int) -> tuple[int, ...]:
    """Seeds down the first round of a bracket of 2, 4, 8 …: the first two meet in the final at the earliest."""
    order = [1]
    while len(order) < size:
        order = [seed for upper in order for seed in (upper, 2 * len(order) + 1 - upper)]
    return tuple(order)


@lru_cache(maxsize=64)
def single(entrants: int, *, third_place: bool) -> tuple[Slot, ...]:
    """The slots of a single elimination, each after those that feed it."""
    rounds = max(1, (entrants - 1).bit_length())
    slots = _upper_half(rounds)
    if third_place and rounds > 1:
        one, other = (Feed("loser", f"W{rounds - 1}.{number}") for number in (1, 2))
        final = slots.pop()
        slots += [Slot("T", (one, other), rounds), final]
    return tuple(slots)


def _upper_half(rounds: int) -> list[Slot]:
    """Rounds among those who have not lost; the last of them is two steps up, above a third place."""
    order = seed_order(2**rounds)
    slots = []
    for round_ in range(1, rounds + 1):
        for number in range(1, 2 ** (rounds - round_) + 1):
            if round_ == 1:
                feeds = (Feed("seed", order[2 * number - 2]), Feed("seed", order[2 * number - 1]))
            else:
                before = f"W{round_ - 1}."
                feeds = (
                    Feed("winner", f"{before}{2 * number - 1}"),
                    Feed("winner", f"{before}{2 * number}"),
                )
            slots.append(Slot(f"W{round_}.{number}", feeds, round_ if round_ < rounds else rounds + 1))
    return slots


@lru_cache(maxsize=64)
def double(entrants: int, *, reset: bool) -> tuple[Slot, ...]:
    """The slots of a double elimination, each after those that feed it.

    Losers of a round of the upper half come down among those who have lost once, in turned order, so that two who have
    met meet again late.
    """
    rounds = max(1, (entrants - 1).bit_length())
    slots = _upper_half(rounds)
    alive = [Feed("loser", f"W1.{number}") for number in range(1, 2 ** (rounds - 1) + 1)]
    level = 0
    for upper in range(2, rounds + 1):
        level += 1
        alive = _losers_round(slots, level, list(zip(alive[::2], alive[1::2], strict=True)))
        down = [Feed("loser", f"W{upper}.{number}") for number in range(1, 2 ** (rounds - upper) + 1)]
        if upper % 2 == 0:
            down.reverse()
        level += 1
        alive = _losers_round(slots, level, list(zip(alive, down, strict=True)))
    slots.append(Slot("F", (Feed("winner", f"W{rounds}.1"), alive[0]), level + 1))
    if reset:
        slots.append(Slot("R", (Feed("winner", "F"), Feed("loser", "F")), level + 2))
    return tuple(slots)


def _losers_round(slots: list[Slot], level: int, feeds: list[tuple[Feed, Feed]]) -> list[Feed]:
    names = [f"L{level}.{number}" for number in range(1, len(feeds) + 1)]
    slots += [Slot(name, both, level) for name, both in zip(names, feeds, strict=True)]
    return [Feed("winner", name) for name in names]


def fill(
    slots: Sequence[Slot], seeds: Sequence[int], met: Mapping[str, tuple[int | None, int | None]]
) -> dict[str, Filled]:
    """Every slot as far as it is known, from those that are over: name -> winner and loser, None for nobody."""
    filled: dict[str, Filled] = {}
    for slot in slots:
        sides = [_fed(feed, seeds, filled) for feed in slot.feeds]
        if not all(known for known, _ in sides):
            filled[slot.name] = Filled(slot, known=False)
            continue
        one, other = (entrant for _, entrant in sides)
        if slot.name == "R" and _is_settled(filled["F"]):
            filled["R"] = Filled(slot, True, (None, None), True, filled["F"].winner, filled["F"].loser)
        elif one is None or other is None:
            filled[slot.name] = Filled(slot, True, (one, other), True, one or other, None)
        elif slot.name in met:
            winner, loser = met[slot.name]
            filled[slot.name] = Filled(slot, True, (one, other), True, winner, loser)
        else:
            filled[slot.name] = Filled(slot, True, (one, other))
    return filled


def _fed(feed: Feed, seeds: Sequence[int], filled: Mapping[str, Filled]) -> tuple[bool, int | None]:
    if isinstance(feed.of, int):
        return True, seeds[feed.of - 1] if feed.of <= len(seeds) else None
    source = filled[feed.of]
    return source.over, _outcome(source, feed)


def _is_settled(final: Filled) -> bool:
    """The first final was won by the one who had not lost yet, or had one side only: it is not played again."""
    return final.winner is None or final.winner == final.entrants[0] or None in final.entrants


def is_in(filled: Mapping[str, Filled], entrant: int) -> bool:
    """Whether an entrant has, or will have, something more to play."""
    for slot in filled.values():
        if not slot.over and entrant in slot.entrants:
            return True
        if not slot.over and any(
            isinstance(feed.of, str) and _outcome(filled[feed.of], feed) == entrant
            for feed in slot.slot.feeds
        ):
            return True
    return False


def _outcome(filled: Filled, feed: Feed) -> int | None:
    return filled.winner if feed.kind == "winner" else filled.loser


def order(filled: Mapping[str, Filled], seeds: Sequence[int]) -> tuple[int, ...]:
    """All entrants, from who came furthest; of those who came equally far, the better seed first.

    While it runs, those who have not lost come first where a second loss is allowed.
    """
    furthest: dict[int, tuple[int, int]] = {}
    falls = "F" in filled
    for slot in filled.values():
        for entrant in slot.entrants:
            if entrant is not None:
                lost = slot.over and slot.winner != entrant
                depth = slot.slot.depth
                if falls and slot.slot.name.startswith("W"):
                    depth = 0 if lost else _UNBEATEN + depth
                furthest[entrant] = (depth, 0 if lost else 1)
    seed = {entrant: number for number, entrant in enumerate(seeds)}
    return tuple(sorted(seeds, key=lambda entrant: (*(-n for n in furthest[entrant]), seed[entrant])))


_UNBEATEN = 1_000  # deeper than any slot

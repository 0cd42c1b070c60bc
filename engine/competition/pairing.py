"""A Swiss round: who meets whom (§12.3).

No two meet again while another pairing exists. The bye goes to the lowest who has had none. Among what is left, the sum
of the differences of score is as small as it can be. Every match has both colours, so colours play no part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import networkx as nx

from engine.errors import NoPairing

Couple = tuple[int, int]  # two entrants, the lower number first
_SMALL = 10  # places at tables: from here down all pairings are looked through, also those of later rounds
_LOOKED_AT = 20_000  # steps of looking ahead, after which the best pairing of this round alone is taken


def couple(one: int, other: int) -> Couple:
    """Two entrants, whichever is named first."""
    return (one, other) if one < other else (other, one)


@dataclass(frozen=True, slots=True)
class Field:
    """Who is to be paired, best first, and what there was before.

    Scores are whole numbers, in whatever unit places are ranked by. `unpaired` counts the rounds that somebody missed;
    of those who have had equally many byes, the one who missed fewer has the next.
    """

    ranking: Sequence[int]
    scores: Mapping[int, int]
    met: Counter[Couple] = field(default_factory=Counter)
    byes: Counter[int] = field(default_factory=Counter)
    unpaired: Counter[int] = field(default_factory=Counter)
    forbidden: Collection[Couple] = ()
    rounds_left: int = 1  # this one too


@dataclass(frozen=True, slots=True)
class Paired:
    """Pairs from the top table down, the higher ranked first; who has the bye; how often somebody meets again."""

    pairs: tuple[tuple[int, int], ...]
    bye: int | None
    repeats: int


def pair(field: Field) -> Paired:
    """The pairing of a round: the same for the same field, on every machine.

    Raises NoPairing if forbidden pairings leave none.
    """
    if len(field.ranking) <= _SMALL - len(field.ranking) % 2:
        return _looked_ahead(field)
    found = None
    for bye in _byes(field):
        there = [entrant for entrant in field.ranking if entrant != bye]
        pairs = _matched(field, there)
        if pairs is None:
            continue
        repeats = sum(field.met[couple(*both)] for both in pairs)
        if found is None or repeats < found.repeats:
            found = Paired(_in_order(field, pairs), bye, repeats)
        if not repeats:
            break
    if found is None:
        raise NoPairing
    return found


def _byes(field: Field) -> list[int | None]:
    """Who may have the bye, the first choice first: fewest byes, then fewest rounds missed, then the lowest."""
    if len(field.ranking) % 2 == 0:
        return [None]
    return [
        entrant
        for _, entrant in sorted(
            (_bye_cost(field, place), field.ranking[place]) for place in range(len(field.ranking))
        )
    ]


def _bye_cost(field: Field, place: int) -> tuple[int, int, int]:
    entrant = field.ranking[place]
    return field.byes[entrant], field.unpaired[entrant], -place


def _in_order(field: Field, pairs: Sequence[Couple]) -> tuple[tuple[int, int], ...]:
    """The better of the two first; the table of the best first."""
    place = {entrant: number for number, entrant in enumerate(field.ranking)}
    ordered = [tuple(sorted(both, key=place.__getitem__)) for both in pairs]
    return tuple(sorted(ordered, key=lambda both: (place[both[0]], place[both[1]])))  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ the least cost


def _costs(field: Field, there: Sequence[int]) -> dict[Couple, tuple[int, int, int, int]]:
    """What each couple costs, as places in `there`: meetings, difference, its square, and how far from the fold.

    Of equal scores the upper half meets the lower half, first against first.
    """
    equals = Counter(field.scores[entrant] for entrant in there)
    forbidden = {couple(*both) for both in field.forbidden}
    costs = {}
    for i, j in combinations(range(len(there)), 2):
        one, other = there[i], there[j]
        both = couple(one, other)
        if both in forbidden:
            continue
        apart = abs(field.scores[one] - field.scores[other])
        fold = 0 if apart else abs(2 * (j - i) - equals[field.scores[one]])
        costs[i, j] = (field.met[both], apart, apart * apart, fold)
    return costs


def _matched(field: Field, there: Sequence[int]) -> list[Couple] | None:
    """The perfect matching of least cost; None if there is none."""
    costs = _costs(field, there)
    weigh = _weights(costs.values(), len(there) // 2)
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(len(there)))
    graph.add_weighted_edges_from((i, j, -weigh(cost)) for (i, j), cost in costs.items())
    matching = nx.max_weight_matching(graph, maxcardinality=True)
    if 2 * len(matching) < len(there):
        return None
    return [(there[i], there[j]) for i, j in matching]


def _weights(costs: Collection[tuple[int, ...]], pairs: int) -> Callable[[tuple[int, ...]], int]:
    """One number for a cost of several, of which an earlier one outweighs all later ones of a whole round."""
    radix = [1 + pairs * max((cost[part] for cost in costs), default=0) for part in range(4)]

    def weigh(cost: tuple[int, ...]) -> int:
        whole = 0
        for part, most in zip(cost, radix, strict=True):
            whole = whole * most + part
        return whole

    return weigh


# --------------------------------------------------------------------------------------------------- small fields


def _looked_ahead(field: Field) -> Paired:
    """The best pairing of this round that leaves the coming rounds without repeats and second byes, if there is one.

    Few entrants and many rounds can run into a round that has no new pairing at all, though another choice would not.
    """
    found = sorted(_all_pairings(field), key=lambda each: each[0])
    if not found:
        raise NoPairing
    chosen = found[0]
    budget = [_LOOKED_AT]
    for cost, pairs, bye in found:
        if cost[:2] != found[0][0][:2]:
            break  # a repeat, or a second bye, is not for the sake of later rounds
        met = {*field.met, *(couple(*both) for both in pairs)}
        rested = {entrant for entrant in field.ranking if field.byes[entrant]} | {bye}
        if _goes_on(field, met, rested, field.rounds_left - 1, budget):
            chosen = (cost, pairs, bye)
            break
    cost, pairs, bye = chosen
    return Paired(_in_order(field, pairs), bye, cost[0])


def _all_pairings(field: Field) -> Iterator[tuple[tuple[int, ...], list[Couple], int | None]]:
    """Every pairing with its cost: repeats, the bye's cost, then as in `_costs`."""
    for bye in _byes(field):
        there = [entrant for entrant in field.ranking if entrant != bye]
        costs = _costs(field, there)
        rest = (0, 0, 0) if bye is None else _bye_cost(field, field.ranking.index(bye))
        for places in _perfect(range(len(there)), lambda *both: both in costs):  # noqa: B023 - used up in this round
            pairs = [(there[i], there[j]) for i, j in places]
            sums = [sum(part) for part in zip(*(costs[both] for both in places), strict=True)]
            repeats, *others = sums or [0, 0, 0, 0]
            yield (repeats, *rest, *others), pairs, bye


def _perfect(there: Sequence[int], may: Callable[[int, int], bool]) -> Iterator[list[Couple]]:
    """All ways to pair these, in order."""
    if not there:
        yield []
        return
    first, *others = there
    for number, other in enumerate(others):
        if may(first, other):
            for rest in _perfect(others[:number] + others[number + 1 :], may):
                yield [(first, other), *rest]


def _goes_on(field: Field, met: set[Couple], rested: set[int | None], rounds: int, budget: list[int]) -> bool:
    """Whether so many more rounds can be paired without a repeat and without a bye that is unfair."""
    if rounds <= 0:
        return True
    everybody = list(field.ranking)
    forbidden = {couple(*both) for both in field.forbidden}

    def may(one: int, other: int) -> bool:
        return couple(one, other) not in met and couple(one, other) not in forbidden

    byes: list[int | None] = [None]
    if len(everybody) % 2:
        byes = [entrant for entrant in everybody if entrant not in rested]
        if not byes:
            rested, byes = set(), list(everybody)
    for bye in byes:
        there = [entrant for entrant in everybody if entrant != bye]
        for pairs in _perfect(there, may):
            budget[0] -= 1
            if budget[0] < 0:
                return False
            if _goes_on(field, met | {couple(*both) for both in pairs}, rested | {bye}, rounds - 1, budget):
                return True
    return False

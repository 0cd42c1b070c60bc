"""A Swiss round: who meets whom (§12.3).

No two meet again while another pairing exists, and two who are not to meet only if there is no other way at all. The
bye goes to the lowest who has had none. Among what is left, the sum of the differences of score is as small as it can
be. Every match has both colours, so colours play no part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import networkx as nx

Couple = tuple[int, int]  # two entrants, the lower number first
_NEAR = 20  # places apart, in a large field
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
    """Pairs from the top table down, the higher ranked first, and who has the bye.

    `forbidden` and `repeats` count what could not be helped: pairs that are not to meet, and earlier meetings of pairs.
    """

    pairs: tuple[tuple[int, int], ...]
    bye: int | None
    forbidden: int
    repeats: int


def pair(field: Field) -> Paired:
    """The pairing of a round: the same for the same field, on every machine. There are at least two to pair."""
    if len(field.ranking) <= _SMALL - len(field.ranking) % 2:
        return _looked_ahead(field)
    found: Paired | None = None
    for bye in _byes(field):
        there = [entrant for entrant in field.ranking if entrant != bye]
        paired = _paired(field, _matched(field, there), bye)
        if found is None or (paired.forbidden, paired.repeats) < (found.forbidden, found.repeats):
            found = paired
        if not found.forbidden and not found.repeats:
            break
    assert found is not None
    return found


def _paired(field: Field, pairs: Sequence[Couple], bye: int | None) -> Paired:
    forbidden = _forbidden(field)
    return Paired(
        _in_order(field, pairs),
        bye,
        sum(couple(*both) in forbidden for both in pairs),
        sum(field.met[couple(*both)] for both in pairs),
    )


def _forbidden(field: Field) -> frozenset[Couple]:
    return frozenset(couple(*both) for both in field.forbidden)


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


def _costs(field: Field, there: Sequence[int]) -> dict[Couple, tuple[int, ...]]:
    """What each couple costs, as places in `there`.

    Whether it is forbidden, how often it has met, the difference, its square, and how far from the fold: of equal
    scores the upper half meets the lower half, first against first.
    """
    equals = Counter(field.scores[entrant] for entrant in there)
    forbidden = _forbidden(field)
    costs: dict[Couple, tuple[int, ...]] = {}
    for i, j in combinations(range(len(there)), 2):
        one, other = there[i], there[j]
        both = couple(one, other)
        apart = abs(field.scores[one] - field.scores[other])
        fold = 0 if apart else abs(2 * (j - i) - equals[field.scores[one]])
        costs[i, j] = (int(both in forbidden), field.met[both], apart, apart * apart, fold)
    return costs


def _matched(field: Field, there: Sequence[int]) -> list[Couple]:
    """The perfect matching of least cost.

    In a large field those near each other are tried first, in a tenth of the time: if nothing is forbidden or repeated
    and differences are as small as between neighbours all along, no other matching has less.
    """
    costs = _costs(field, there)
    if len(there) > 2 * _NEAR:
        near = {both: cost for both, cost in costs.items() if not any(cost[:2]) and _is_near(both, cost)}
        found = _least(near, len(there))
        neighbours = [costs[i, i + 1] for i in range(0, len(there), 2)]
        if found is not None and _differences(costs[both] for both in found) == _differences(neighbours):
            return [(there[i], there[j]) for i, j in found]
    found = _least(costs, len(there))
    assert found is not None
    return [(there[i], there[j]) for i, j in found]


def _is_near(both: Couple, cost: tuple[int, ...]) -> bool:
    return both[1] - both[0] <= _NEAR or (cost[2] == 0 and cost[4] <= _NEAR)


def _differences(costs: Iterable[tuple[int, ...]]) -> tuple[int, int]:
    kept = list(costs)
    return sum(cost[2] for cost in kept), sum(cost[3] for cost in kept)


def _least(costs: Mapping[Couple, tuple[int, ...]], places: int) -> list[Couple] | None:
    """The pairs of places that cost least, out of these; None if they leave somebody alone."""
    weigh = _weights(costs.values(), places // 2)
    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(range(places))
    graph.add_weighted_edges_from((*both, -weigh(cost)) for both, cost in costs.items())
    matching = nx.max_weight_matching(graph, maxcardinality=True)
    return [couple(*both) for both in matching] if 2 * len(matching) == places else None


def _weights(costs: Collection[tuple[int, ...]], pairs: int) -> Callable[[tuple[int, ...]], int]:
    """One number for a cost of several, of which an earlier one outweighs all later ones of a whole round."""
    radix = [1 + pairs * max(part) for part in zip(*costs, strict=True)]

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
    best, *_ = found
    budget = [_LOOKED_AT]
    for cost, pairs, bye in found:
        if cost[:3] != best[0][:3]:
            break  # nothing forbidden, no repeat and no second bye is for the sake of later rounds
        met = {*field.met, *(couple(*both) for both in pairs)}
        rested = {entrant for entrant in field.ranking if field.byes[entrant]} | {bye}
        if _goes_on(field, met, rested, field.rounds_left - 1, budget):
            return _paired(field, pairs, bye)
    return _paired(field, best[1], best[2])


def _all_pairings(field: Field) -> Iterator[tuple[tuple[int, ...], list[Couple], int | None]]:
    """Every pairing with its cost: what is forbidden, repeats, the bye's cost, then as in `_costs`."""
    for bye in _byes(field):
        there = [entrant for entrant in field.ranking if entrant != bye]
        costs = _costs(field, there)
        rest = (0, 0, 0) if bye is None else _bye_cost(field, field.ranking.index(bye))
        for places in _perfect(range(len(there)), lambda *both: True):
            pairs = [(there[i], there[j]) for i, j in places]
            forbidden, repeats, *others = (
                sum(part) for part in zip(*(costs[both] for both in places), strict=True)
            )
            yield (forbidden, repeats, *rest, *others), pairs, bye


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
    forbidden = _forbidden(field)

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

"""Proves that what was decided by computing can be computed again from the facts before it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.competition import facts
from engine.competition.competition import Competition, apply
from engine.competition.facts import Fact
from engine.competition.stages import draft, opening_of


@dataclass(frozen=True, slots=True)
class Difference:
    """A stored fact that is not what the facts before it give. `number` counts them from 0."""

    number: int
    what: str  # seeds, groups, pairs
    stored: str
    computed: str


def differences(start: Competition, happened: Iterable[Fact]) -> tuple[Difference, ...]:
    """Looks at every stage that opened and every round that was drafted: seeds, groups and pairings (§12.1–12.3).

    What was done by hand is a fact of its own and not looked at. Standings need no such proof: they are never stored.
    """
    found = []
    competition = start
    for number, fact in enumerate(happened):
        if isinstance(fact, facts.StageOpened):
            seeds, groups = opening_of(competition, fact.stage)
            for what, stored, computed in (("seeds", fact.seeds, seeds), ("groups", fact.groups, groups)):
                if stored != computed:
                    found.append(Difference(number, what, str(stored), str(computed)))
        if isinstance(fact, facts.RoundDrafted):
            pairs = draft(competition, competition.stages[fact.stage - 1])
            if pairs != fact.pairs:
                found.append(Difference(number, "pairs", str(fact.pairs), str(pairs)))
        competition = apply(competition, fact)
    return tuple(found)

"""What each kind of stage does: whom it takes, the pairings of its next round, the places it gives (§12.1–12.4)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from engine.competition import bracket
from engine.competition.bracket import Filled
from engine.competition.competition import Competition, Entrant, Stage, Status
from engine.competition.meeting import COMPUTER, Pair
from engine.competition.pairing import Couple, Field, couple, pair
from engine.competition.schedule import all_play_all, exchanged, snake, tiers
from engine.competition.settings import (
    DoubleElimination,
    Groups,
    Qualifying,
    RoundRobin,
    SingleElimination,
    StageRules,
    Swiss,
)
from engine.competition.standings import Line, Row, Table, lines_of, table_of

QUALIFYING_CRITERIA = ("point_difference", "less_time", "lot")  # §12.1
_FINEST = 1_000  # objective results are told apart by thousandths of a point when rounds are paired


# ------------------------------------------------------------------------------------------------------ who enters


def takes_part(competition: Competition, entrant: Entrant) -> bool:
    """Whether he would be in the first stage if it opened now."""
    return entrant.plays and (entrant.checked_in or competition.settings.entry.check_in_ms is None)


def entry_order(competition: Competition) -> tuple[int, ...]:
    """Who takes part in the first stage: seeds by hand first, then by strength, then by lot (§10.2)."""
    there = [entrant for entrant in competition.entrants if takes_part(competition, entrant)]
    ordered = sorted(
        there,
        key=lambda e: (e.seed is None, e.seed or 0, -e.strength, competition.lot(e.number)),
    )
    return tuple(entrant.number for entrant in ordered)


def opening_of(competition: Competition, number: int) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """The seeds and the groups with which a stage opens, from the places of the stage before it (§12.2)."""
    rules = competition.settings.stages[number - 1]
    if number == 1:
        return grouped(rules, entry_order(competition))
    before = competition.stages[number - 2]
    per_group = [
        [entrant for entrant in table.order if competition.entrant(entrant).plays]
        for table in tables_of(competition, before)
    ]
    if rules.take_per_group is not None:
        seeds = _best_of_groups(per_group, rules)
    elif isinstance(rules, Groups) and rules.exchange:
        seeds = exchanged([group for group in per_group if group], rules.exchange)
    else:
        seeds = tuple(e for e in order_of(competition, before) if competition.entrant(e).plays)
    return grouped(rules, seeds[: rules.take] if rules.take is not None else seeds)


def grouped(rules: StageRules, seeds: Sequence[int]) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """These seeds, and the groups that they make if the stage has groups."""
    if not isinstance(rules, Groups):
        return tuple(seeds), ()
    return tuple(seeds), (tiers if rules.division == "tiers" else snake)(seeds, rules.size)


def _best_of_groups(groups: Sequence[Sequence[int]], rules: StageRules) -> tuple[int, ...]:
    """Winners of groups first, then the seconds, and so on; in a bracket, apart from those of their own group."""
    take = rules.take_per_group or 0
    tiers_ = [[group[place] for group in groups if place < len(group)] for place in range(take)]
    if not isinstance(rules, SingleElimination | DoubleElimination):
        return tuple(entrant for tier in tiers_ for entrant in tier)
    group_of = {entrant: number for number, group in enumerate(groups) for entrant in group}
    turned = [
        [tier[turn:] + tier[:turn] for tier in tiers_[1:]] for turn in range(max(map(len, tiers_), default=0))
    ]
    orders = [tuple(entrant for tier in (tiers_[0], *rest) for entrant in tier) for rest in turned]
    return min(orders, key=lambda seeds: _met_at_once(seeds, group_of), default=())


def _met_at_once(seeds: Sequence[int], group_of: Mapping[int, int]) -> int:
    slots = bracket.fill(bracket.single(len(seeds), third_place=False), seeds, {}).values()
    first = [slot.entrants for slot in slots if slot.slot.name.startswith("W1.")]
    return sum(
        one is not None and other is not None and group_of[one] == group_of[other] for one, other in first
    )


# --------------------------------------------------------------------------------------------------- the next round


def draft(competition: Competition, stage: Stage) -> tuple[Pair, ...] | None:
    """The pairings of the stage's next round, from the top table down; None if the stage is complete.

    Whoever is in an all-play-all or a bracket stays in it: his opponents win without him.
    """
    match stage.rules:
        case Qualifying(matches=matches):
            there = [entrant for entrant in stage.seeds if competition.entrant(entrant).plays]
            done = len(stage.rounds) >= matches or not there
            return None if done else tuple(Pair(entrant, COMPUTER) for entrant in there)
        case Groups(legs=legs):
            return _of_schedule(stage, stage.groups, legs, numbered=True)
        case RoundRobin(legs=legs):
            return _of_schedule(stage, (stage.seeds,), legs, numbered=False)
        case Swiss():
            return _swiss(competition, stage)
        case _:
            return _of_bracket(stage)


def _of_schedule(
    stage: Stage, groups: Sequence[Sequence[int]], legs: int, *, numbered: bool
) -> tuple[Pair, ...] | None:
    pairs: list[Pair] = []
    more = False
    for number, group in enumerate(groups, 1):
        rounds = _schedule(tuple(group), legs)
        if len(stage.rounds) < len(rounds):
            more = True
            pairs += [Pair(a, b, number if numbered else None) for a, b in rounds[len(stage.rounds)]]
    return tuple(pairs) if more else None


_schedule = lru_cache(maxsize=256)(all_play_all)


def swiss_field(competition: Competition, stage: Stage) -> Field:
    """All that the next round of a Swiss is paired by: who is there, best first, and what there was before."""
    rules = stage.rules
    assert isinstance(rules, Swiss)
    lines = lines_of(competition, stage)
    there = [entrant for entrant in stage.seeds if competition.entrant(entrant).plays]
    by = competition.settings.ranks_by
    table = table_of(competition, stage, lines, stage.seeds, (by, "lot"))
    numbers = {row.entrant: row.value(by).value or 0 for row in table.rows}
    scores = {e: round(n * _FINEST) if by == "objective_result" else int(n) for e, n in numbers.items()}
    seed = {entrant: number for number, entrant in enumerate(stage.seeds)}
    met: Counter[Couple] = Counter()
    byes: Counter[int] = Counter()
    for round_ in stage.rounds:
        for meeting in round_.meetings:
            if meeting.pair.b is None:
                byes[meeting.pair.a] += 1
            else:
                met[couple(meeting.pair.a, meeting.pair.b)] += 1
    missed = Counter({entrant: sum(map(_was_absent, rounds)) for entrant, rounds in lines.items()})
    return Field(
        sorted(there, key=lambda entrant: (-scores[entrant], seed[entrant])),
        scores,
        met,
        byes,
        missed,
        competition.forbidden,
        rules.rounds - len(stage.rounds),
    )


def _was_absent(line: Line) -> bool:
    return line.how in ("missed", "both-absent") or (line.how == "forfeit" and line.outcome == "loss")


def _swiss(competition: Competition, stage: Stage) -> tuple[Pair, ...] | None:
    field = swiss_field(competition, stage)
    if field.rounds_left <= 0 or len(field.ranking) < 2:
        return None
    paired = pair(field)
    pairs = [Pair(a, b) for a, b in paired.pairs]
    if paired.bye is not None:
        pairs.append(bye_for(competition, paired.bye))
    return tuple(pairs)


def bye_for(competition: Competition, entrant: int) -> Pair:
    """A bye; for one who has left and come back it is worth nothing, so that leaving gains nothing (§12.6)."""
    return Pair(entrant, None, zero=competition.entrant(entrant).has_left)


# -------------------------------------------------------------------------------------------------------- brackets


def bracket_of(stage: Stage) -> dict[str, Filled]:
    """The slots of an elimination as far as they are known."""
    match stage.rules:
        case SingleElimination(third_place=third_place):
            slots = bracket.single(len(stage.seeds), third_place=third_place)
        case DoubleElimination(reset=reset):
            slots = bracket.double(len(stage.seeds), reset=reset)
        case _:
            raise ValueError(f"a {stage.rules.kind} has no bracket")
    met: dict[str, tuple[int | None, int | None]] = {}
    for round_ in stage.rounds:
        for meeting in round_.meetings:
            decided = meeting.verdict
            if (
                meeting.pair.slot
                and meeting.pair.b is not None
                and round_.has_started
                and not decided.is_open
            ):
                loser = None if decided.winner is None else meeting.pair.other(decided.winner)
                met[meeting.pair.slot] = (decided.winner, loser)
    return bracket.fill(slots, stage.seeds, met)


def _of_bracket(stage: Stage) -> tuple[Pair, ...] | None:
    """Every slot whose two entrants are known; in the first round its own slots alone, and byes with them."""
    seed = {entrant: number for number, entrant in enumerate(stage.seeds)}
    slots = [slot for slot in bracket_of(stage).values() if stage.rounds or slot.slot.name.startswith("W1.")]
    pairs = []
    for slot in slots:
        there = sorted((entrant for entrant in slot.entrants if entrant is not None), key=seed.__getitem__)
        if slot.is_ready:
            pairs.append(Pair(there[0], there[1], slot=slot.slot.name))
        elif not stage.rounds and len(there) == 1:
            pairs.append(Pair(there[0], None, slot=slot.slot.name))
    return tuple(pairs) if any(each.b is not None for each in pairs) else None


# ---------------------------------------------------------------------------------------------------------- places


def tables_of(competition: Competition, stage: Stage) -> tuple[Table, ...]:
    """The standings of a stage: one, or one of each group from the top; none of an elimination.

    Of a qualifying's open round there is nothing in them, so they may be shown to everybody (§5.4).
    """
    lines = lines_of(competition, stage)
    if isinstance(stage.rules, SingleElimination | DoubleElimination):
        return ()
    criteria = competition.settings.criteria
    if isinstance(stage.rules, Qualifying):
        criteria = QUALIFYING_CRITERIA
    groups: Iterable[Collection[int]] = stage.groups or (stage.seeds,)
    return tuple(table_of(competition, stage, lines, group, criteria) for group in groups)


def order_of(competition: Competition, stage: Stage) -> tuple[int, ...]:
    """All entrants of a stage, best first, as it stands: by group, then by score, unless groups are alike (§12.2)."""
    if isinstance(stage.rules, SingleElimination | DoubleElimination):
        return bracket.order(bracket_of(stage), stage.seeds)
    tables = tables_of(competition, stage)
    rows = [row for table in tables for row in table.rows]
    if isinstance(stage.rules, Groups) and stage.rules.division == "snake":
        rows.sort(key=lambda row: (row.place, not row.came, *_numbers(row)))
    return tuple(row.entrant for row in rows)


def _numbers(row: Row) -> tuple[float, ...]:
    """What tells apart those who have the same place in different groups: all but whom they have met."""
    smaller_is_better = ("less_time", "lot")
    return tuple(
        (1 if value.name in smaller_is_better else -1) * (value.value or 0)
        for value in row.values
        if value.name != "direct_encounter"
    )


def is_provisional(competition: Competition, stage: Stage) -> bool:
    """Whether places of the stage hang on analyses that are missing (§6.4)."""
    return any(table.provisional for table in tables_of(competition, stage))


def final_order(competition: Competition) -> tuple[int, ...]:
    """Everybody who took part, best first: those of the last stage, then who stayed behind before it, and so on.

    Who was thrown out is not in it.
    """
    found: list[int] = []
    for stage in reversed(competition.stages):
        order = order_of(competition, stage)
        found += [entrant for entrant in order if entrant not in found]
    return tuple(entrant for entrant in found if competition.entrant(entrant).status is not Status.BANNED)


def start_ratings(competition: Competition) -> dict[int, int]:
    """The start rating of each entrant of a qualifying: base + Σ settled points of its closed rounds (§12.1)."""
    first = competition.stages[0] if competition.stages else None
    if first is None or not isinstance(first.rules, Qualifying):
        return {}
    (table,) = tables_of(competition, first)
    return {
        row.entrant: math.trunc(first.rules.base + (row.value("point_difference").value or 0))
        for row in table.rows
    }

"""Proves that what is stored and shown of a competition is what its matches and its facts give (§10.2, §12).

Everything is done again from the beginning: each match from its journal, its dice from their seeds, results from the
matches, seeds and pairings from the facts before them, standings and ratings from the results.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from app.service import competition_views as views
from app.service.competitions import standing_of
from app.service.runner import result_of
from app.store import Store
from app.store.competitions import Board, StoredCompetition
from app.store.matches import Played
from app.store.results import Finish
from engine.competition import facts
from engine.competition.competition import Competition, new_competition
from engine.competition.competition import replay as replay_facts
from engine.competition.facts import Fact
from engine.competition.meeting import MatchResult, place_of
from engine.competition.overview import places, points_ratings
from engine.competition.qualifying import shared_seed
from engine.competition.recompute import differences as decided_otherwise
from engine.dice import NO_SEED, DiceSeeds, commitment, roll_for
from engine.match import Match, PhaseOpened, SeedsCombined, replay
from engine.turn import Seat, Seats


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that is not what it should be: where, what it is, what the matches and facts give."""

    where: str
    stored: str
    computed: str

    def __str__(self) -> str:
        return f"{self.where}: stored {self.stored}, computed {self.computed}"


@dataclass(frozen=True, slots=True)
class Recomputed:
    """What was looked at, and what differs."""

    matches: int
    facts: int
    differences: tuple[Difference, ...]


class NoSuchCompetition(Exception):
    """There is no competition with this id."""


async def recompute(store: Store, competition_id: str) -> Recomputed:
    """Computes a competition again. Raises NoSuchCompetition."""
    stored = await store.competitions.load(competition_id)
    if stored is None:
        raise NoSuchCompetition(f"there is no competition {competition_id}")
    rows = await store.competitions.facts(competition_id)
    told = [fact for row in rows for fact in row.facts]
    start = new_competition(stored.id, stored.settings, stored.lot_seed)
    boards = {board.dice_id: board for board in await store.competitions.boards(competition_id)}
    found: list[Difference] = []
    results: dict[str, MatchResult] = {}
    seeds: dict[str, dict[str, str]] = {}
    matches = await store.matches.of_competition(competition_id)
    competition = replay_facts(start, told)
    rated = competition.settings.ruleset.rated
    for match in matches:
        differing = _match_differences(store, match, boards, seeds, results, rated=rated)
        found += [one async for one in differing]
    found += _board_differences(boards, seeds, matches)
    found += (
        Difference(f"fact {one.number}, {one.what}", one.stored, one.computed)
        for one in decided_otherwise(start, told)
    )
    found += _result_differences(competition, told, matches, results)
    found += _shown_differences(competition, replay_facts(start, _as_played(told, results)))
    found += _row_differences(stored, competition, rows[-1].version if rows else 0)
    ids = {match.id for match in matches}
    found += (
        Difference(f"rating after {one.match_id}, {one.what}", one.stored, one.computed)
        for one in await store.matches.recompute_ratings()
        if one.match_id in ids
    )
    return Recomputed(len(matches), len(told), tuple(found))


async def _match_differences(
    store: Store,
    played: Played,
    boards: Mapping[str, Board],
    seeds: dict[str, dict[str, str]],
    results: dict[str, MatchResult],
    *,
    rated: bool,
) -> AsyncIterator[Difference]:
    """One match from its journal: its dice, its result. What it comes to is noted."""
    stored = await store.matches.load(played.id)
    assert stored is not None
    rows = await store.matches.events(played.id)
    match = stored.start()
    for row in rows:
        for event in row.events:
            if isinstance(event, PhaseOpened):
                roll = _roll(match, event)
                if roll != (event.roll.first, event.roll.second):
                    text = str((event.roll.first, event.roll.second))
                    yield Difference(f"{played.id}, dice of {event.turn}", text, str(roll))
            if isinstance(event, SeedsCombined):
                seeds.setdefault(played.dice_id, {})[played.id] = event.seed
            match = replay(match, (event,))
    board = boards.get(played.dice_id)
    if board is not None:
        if stored.server_seed != board.server_seed:
            yield Difference(f"{played.id}, server seed", stored.commitment, board.commitment)
        own = match.client_seeds.A or NO_SEED
        noted = (board.seeds or {}).get(played.id)
        if noted is not None and match.has_seeds and noted != own:
            yield Difference(f"{played.id}, seed", noted, own)
    if match.score is None:
        if played.state == "over":
            yield Difference(f"{played.id}, state", "over", "playing")
        return
    came = [seat for seat in Seat if match.presence[seat].came]
    results[played.id] = result_of(played.id, played.dice_id, match.score, came, rated=rated)
    finish = Finish(match.score, stored.players)
    for difference in await store.matches.result_differences(played.id, rows[-1].at, finish):
        yield Difference(f"{played.id}, {difference.what}", difference.stored, difference.computed)


def _roll(match: Match, event: PhaseOpened) -> tuple[int, int]:
    a, b = match.dice_seeds.A, match.dice_seeds.B
    seeds = DiceSeeds(match.server_seed, match.dice_id, Seats(a or "", b or ""))
    roll = roll_for(seeds, event.turn, opening_double=match.ruleset.opening_double_allowed)
    return roll.first, roll.second


def _board_differences(
    boards: Mapping[str, Board], used: Mapping[str, Mapping[str, str]], matches: Iterable[Played]
) -> Iterator[Difference]:
    """The seed that all share is made from theirs, of all of them, and is the one that all matches had."""
    whose = {dice_id: {one.id for one in matches if one.dice_id == dice_id} for dice_id in boards}
    for board in boards.values():
        if commitment(board.server_seed) != board.commitment:
            yield Difference(f"{board.dice_id}, commitment", board.commitment, commitment(board.server_seed))
        if board.seeds is not None:
            if set(board.seeds) != whose[board.dice_id]:
                yield Difference(
                    f"{board.dice_id}, seeds of", str(sorted(board.seeds)), str(sorted(whose[board.dice_id]))
                )
            made = shared_seed(board.seeds.values())
            if made != board.shared_seed:
                yield Difference(f"{board.dice_id}, shared seed", str(board.shared_seed), made)
        for match, seed in used.get(board.dice_id, {}).items():
            if seed != board.shared_seed:
                yield Difference(f"{match}, shared seed", seed, str(board.shared_seed))


def _result_differences(
    competition: Competition,
    told: Iterable[Fact],
    matches: Iterable[Played],
    results: Mapping[str, MatchResult],
) -> Iterator[Difference]:
    """Every result in the facts is that of its match, and none is missing."""
    reported = {fact.result.match: fact.result for fact in told if isinstance(fact, facts.ResultReported)}
    for match, result in reported.items():
        played = results.get(match)
        if played is None:
            yield Difference(f"{match}, result", _text(result), "none")
        elif _plain(result) != _plain(played):
            yield Difference(f"{match}, result", _text(result), _text(played))
    for one in matches:
        place = place_of(one.id)
        meeting = competition.meeting(place[0]) if place else None
        otherwise = meeting is None or meeting.absent or meeting.ruling is not None
        if one.reported and one.id not in reported and one.id in results and not otherwise:
            yield Difference(f"{one.id}, result", "none", _text(results[one.id]))


def _plain(result: MatchResult) -> MatchResult:
    return replace(result, objective_for_A=None)


def _text(result: MatchResult) -> str:
    by = f" by {result.by}" if result.by else ""
    times = f"{result.time_ms.A} and {result.time_ms.B} ms"
    rated = "rated" if result.rated else "not rated"
    return f"{result.ending.value}{by} {result.points.A:+d} (net {result.net_for_A:+d}) in {times}, {rated}"


def _as_played(told: Iterable[Fact], results: Mapping[str, MatchResult]) -> Iterator[Fact]:
    """The same facts with the results that the matches give."""
    for fact in told:
        if isinstance(fact, facts.ResultReported):
            played = results.get(fact.result.match, fact.result)
            yield replace(fact, result=replace(played, objective_for_A=fact.result.objective_for_A))
        else:
            yield fact


def _shown_differences(stored: Competition, computed: Competition) -> Iterator[Difference]:
    """Standings, places and ratings as they are shown, and as the matches give them."""
    for one, other in zip(stored.stages, computed.stages, strict=True):
        was, is_ = views.standings(stored, one), views.standings(computed, other)
        if was != is_:
            yield Difference(f"standings of stage {one.number}", str(was.order), str(is_.order))
        if views.cross_tables(stored, one) != views.cross_tables(computed, other):
            yield Difference(f"cross-table of stage {one.number}", "another", "another")
    if places(stored) != places(computed):
        yield Difference("places", str(places(stored)), str(places(computed)))
    was_rated, is_rated = points_ratings(stored), points_ratings(computed)
    for entrant in was_rated.keys() | is_rated.keys():
        if was_rated.get(entrant) != is_rated.get(entrant):
            yield Difference(
                f"rating of entrant {entrant}", str(was_rated.get(entrant)), str(is_rated.get(entrant))
            )


def _row_differences(
    stored: StoredCompetition, competition: Competition, version: int
) -> Iterator[Difference]:
    """What is kept for lists is what the facts give."""
    standing = standing_of(competition, stored.created_at)
    for what, was, is_ in (
        ("version", stored.version, version),
        ("state", stored.state, standing.state),
        ("due time", stored.due_at, standing.due_at),
        ("start", stored.starts_at, standing.starts_at),
        ("entrants", stored.entrants, len(standing.players)),
    ):
        if was != is_:
            yield Difference(f"{what} in lists", str(was), str(is_))

"""Entrants who play one computer on one dice sequence (§12.1): equal decisions give equal results, on every server, in
every order. The 64 of a real round are in `bench/qualifying.py`.
"""

from __future__ import annotations

import pytest
import pytest_asyncio

from app.engines.levels import levels_here
from app.settings import Settings
from app.store import Store
from engine.dice import NO_SEED, DiceSeeds, commitment, roll_for
from engine.turn import Seat, Seats, Turn
from engine.view import View
from tests.support.entrants import CLIENT_SEED, DICE_ID, SERVER_SEED, Round, play_round, servers
from tests.support.stores import NOON, a_playing_match, finish

LEVELS = {level.key: level for level in levels_here()}
KINDS = ["first", "beginner", "last", "club"] * 3


def decisions(view: View) -> tuple[object, ...]:
    """Rolls and both players' plays, without what time they took."""
    return tuple(line[:4] for line in view.record)


def outcome(view: View) -> tuple[object, ...]:
    assert view.result is not None
    result = view.result
    return result.outcome, result.games, result.credit_for_A, result.net_for_A, result.points


@pytest_asyncio.fixture(params=["beginner", "club"])
async def level(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def a_round(settings: Settings, level: str, *, nodes: int = 1, order: int = 0) -> Round:
    async with servers(settings, list(LEVELS.values()), nodes) as at:
        return await play_round(at, KINDS, LEVELS[level], order)


async def test_equal_decisions_give_equal_results(store_settings: Settings, level: str) -> None:
    """CASES G18: to the last play; other players have the same rolls, and no rating moves (CASES H3)."""
    async with servers(store_settings, list(LEVELS.values()), 1) as at:
        played = await play_round(at, KINDS, LEVELS[level])
        store = at[0][0]
        ratings = await store.accounts.ratings([one.account for one in played.entrants], 0)
        assert await store.matches.recompute_ratings() == ()
    by_kind = played.by_kind()
    for views in by_kind.values():
        assert len(views) == 3
        assert len({decisions(view) for view in views}) == 1
        assert len({str(outcome(view)) for view in views}) == 1
    first = {kind: views[0] for kind, views in by_kind.items()}
    assert len({decisions(view) for view in first.values()}) == len(first), "and others play otherwise"
    for view in first.values():
        assert view.dice.commitment == commitment(SERVER_SEED)
        seeds = DiceSeeds(SERVER_SEED, DICE_ID, Seats(CLIENT_SEED, NO_SEED))
        for said, dice, *_ in view.record:
            turn = Turn.parse(said)
            assert turn is not None
            roll = roll_for(seeds, turn, opening_double=False)
            assert dice == (roll.first, roll.second)
    for answers in played.answers.values():
        assert len(answers) == 1, "the same question has one answer, whoever asks"
    assert {(rating.points, len(rating.strength)) for rating in ratings.values()} == {(1000, 0)}
    as_it = first[level]  # whoever decides as the computer does draws with it (§4.6)
    assert as_it.result is not None
    assert (as_it.result.net_for_A, as_it.result.winner, as_it.parted) == (0, None, None)


async def test_playing_the_computer_again_and_again_moves_no_rating(store: Store) -> None:
    """CASES H3: neither the player's nor the computer's, however often one line is won."""
    anna = await store.accounts.create_guest("Anna", NOON)
    computer = await store.accounts.ensure_computer(LEVELS["beginner"].name, LEVELS["beginner"].version)
    for number in range(5):
        match = await a_playing_match(
            store, Seats(anna.id, computer.id), computers=frozenset({Seat.B}), dice_id=DICE_ID
        )
        ended = await finish(store, match, 40, NOON + number)
        assert ended.ratings is None
    for account in (anna.id, computer.id):
        ratings = (await store.accounts.ratings([account], NOON))[account]
        assert (ratings.points, dict(ratings.strength)) == (1000, {})
    assert await store.matches.finished_count(anna.id) == 5
    assert await store.matches.recompute_ratings() == ()


async def test_neither_servers_nor_order_change_anything(
    sqlite_url: str, migrated_postgres_url: str, tmp_path_factory: pytest.TempPathFactory, level: str
) -> None:
    """One server on SQLite; two on PostgreSQL, each with a computer of its own, and everybody in another order."""
    settings = [
        Settings(
            database_url=url, data_dir=tmp_path_factory.mktemp("data"), secret_key="a key for tests only"
        )
        for url in (sqlite_url, migrated_postgres_url)
    ]
    one = await a_round(settings[0], level)
    two = await a_round(settings[1], level, nodes=2, order=7)
    for kind, views in one.by_kind().items():
        there = two.by_kind()[kind]
        assert {decisions(view) for view in views} == {decisions(view) for view in there}
        assert [str(outcome(view)) for view in views] == [str(outcome(view)) for view in there]
    assert one.answers == two.answers

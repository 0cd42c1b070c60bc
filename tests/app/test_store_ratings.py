"""What a finished match does to the ratings (§10), and that it can be computed again."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace

import pytest
from sqlalchemy import Connection, select, update

from app.store import Store
from app.store.matches import StoredMatch
from app.store.results import Finish
from app.store.tables import points_ratings, rating_changes, results, strengths
from engine.match import MatchEnded, apply
from engine.rating import Strength, both_after
from engine.ruleset import DEFAULT, PRESETS
from engine.scoring import Outcome
from engine.turn import Seat, Seats
from tests.builders import a_phase
from tests.support.stores import NOON, a_playing_match, finish, look, two_players

DAY = 86_400_000


def counted(match: StoredMatch) -> bool:
    return match.ratings is not None


async def test_a_match_moves_both_ratings_the_way_of_its_result(store: Store) -> None:
    players = await two_players(store)
    first = await finish(store, await a_playing_match(store, players), 20)
    assert (first.state, first.finished_at, first.deadline, first.version) == ("over", NOON, None, 1)
    assert first.ratings is not None
    a, b = first.ratings.A, first.ratings.B
    assert (a.points_before, a.points_after, b.points_before, b.points_after) == (1000, 1020, 1000, 980)
    assert (a.strength_before, b.strength_before) == (Strength(), Strength())
    assert (a.strength_after, b.strength_after) == both_after(Strength(), Strength(), 1.0)

    swapped = Seats(players.B, players.A)
    second = await finish(store, await a_playing_match(store, swapped), 1, NOON + 1)
    assert second.ratings is not None
    assert (second.ratings.A.points_before, second.ratings.A.points_after) == (980, 981)
    assert (second.ratings.B.strength_before, second.ratings.A.strength_before) == (
        a.strength_after,
        b.strength_after,
    )
    drawn = await finish(store, await a_playing_match(store, players), 0, NOON + 2)
    assert drawn.ratings is not None
    assert drawn.ratings.A.points_after == drawn.ratings.A.points_before
    assert await store.matches.recompute_ratings() == ()


async def test_strength_is_kept_by_variant_and_points_are_scaled(store: Store) -> None:
    players = await two_players(store)
    classic = await finish(store, await a_playing_match(store, players, PRESETS["classic"].ruleset), 3)
    assert classic.ratings is not None
    assert classic.ratings.A.points_after == 1030  # rating_num 10
    tenth = DEFAULT.changed({"rating_den": 10})
    small = await finish(store, await a_playing_match(store, players, tenth), -19, NOON + 1)
    assert small.ratings is not None
    assert (small.ratings.A.points_after, small.ratings.B.points_after) == (1029, 971)  # toward zero
    standing = (await store.accounts.ratings([players.A], NOON))[players.A]
    assert set(standing.strength) == {"short"}
    assert standing.strength_in("long") == Strength()
    assert await store.matches.recompute_ratings() == ()


async def test_three_matches_a_day_of_one_pair_count(store: Store) -> None:
    """§10.1: and it does not matter who sits where; the next day (UTC) is another day."""
    players = await two_players(store)
    stranger = (await store.accounts.create_guest("Vera", NOON)).id
    swapped = Seats(players.B, players.A)
    today = [
        await finish(store, await a_playing_match(store, pair), 5, NOON + i)
        for i, pair in enumerate([players, swapped, players, swapped, players])
    ]
    assert [counted(match) for match in today] == [True, True, True, False, False]
    other_pair = await finish(store, await a_playing_match(store, Seats(players.A, stranger)), 5, NOON + 9)
    assert counted(other_pair)
    midnight = NOON + DAY // 2
    late = await finish(store, await a_playing_match(store, players), 5, midnight - 1)
    early = await finish(store, await a_playing_match(store, players), 5, midnight)
    assert (counted(late), counted(early)) == (False, True)
    listed = await store.matches.finished_of_pair(players.B, players.A, NOON)
    assert [match.id for match in listed] == [match.id for match in (*today, late)]
    flags = await look(
        store,
        lambda c: c.execute(select(results.c.rated, results.c.counted).order_by(results.c.number)).all(),
    )
    assert [tuple(row) for row in flags[:5]] == [(True, True)] * 3 + [(True, False)] * 2
    assert await store.matches.recompute_ratings() == ()


async def test_a_season_of_open_is_a_year(store: Store) -> None:
    players = await two_players(store)
    new_year = NOON + 364 * DAY + DAY // 2  # 2026-01-01 00:00 UTC
    old = await finish(store, await a_playing_match(store, players), 5, new_year - 1)
    new = await finish(store, await a_playing_match(store, players), 5, new_year)
    assert old.ratings is not None
    assert new.ratings is not None
    assert (old.ratings.A.points_after, new.ratings.A.points_before) == (1005, 1000)
    assert new.ratings.A.strength_before == old.ratings.A.strength_after
    assert await store.matches.recompute_ratings() == ()


@pytest.mark.parametrize("why", ["training", "computer", "aborted", "oneself", "nobody"])
async def test_what_is_not_rated_moves_nothing(store: Store, why: str) -> None:
    players = await two_players(store)
    match = await a_playing_match(
        store,
        Seats(players.A, players.A) if why == "oneself" else players,
        PRESETS["training" if why == "training" else "objective"].ruleset,
        computers=frozenset({Seat.B}) if why == "computer" else frozenset(),
    )
    outcome = Outcome.ABORTED if why == "aborted" else Outcome.ADJUDICATED
    ended = MatchEnded(outcome, None, NOON, 7)
    score = apply(match.start(), ended).score
    assert score is not None
    await store.journal.append(
        match.id,
        after=0,
        command_id="end",
        at=NOON,
        events=(ended,),
        deadline=None,
        finish=Finish(score, Seats(players.A, None) if why == "nobody" else match.players),
    )
    stored = await store.matches.load(match.id)
    assert stored is not None
    assert (stored.state, stored.ratings) == ("over", None)

    def work(connection: Connection) -> list[int]:
        tables = (rating_changes, points_ratings, strengths)
        return [len(connection.execute(select(table)).all()) for table in tables]

    assert await look(store, work) == [0, 0, 0]
    row = await look(store, lambda connection: connection.execute(select(results)).one())
    assert (row.match_id, row.rated, row.counted) == (match.id, False, False)
    assert row.points_a == (0 if why == "aborted" else 7)


async def test_the_result_is_stored_with_all_its_parts(store: Store) -> None:
    """A White checker is left on X, and B is off there; Y is not finished."""
    table = a_phase("9K", "6-5", x="1:1 | 1:1", y="6:15 | 24:2 6:10")
    for seat in Seat:
        table.play(seat, after=2000)
    score, players = table.match.score, await two_players(store)
    assert score is not None
    match = await a_playing_match(store, players)
    await store.journal.append(
        match.id,
        after=0,
        command_id=None,
        at=NOON,
        events=tuple(table.events[-3:]),
        deadline=None,
        finish=Finish(score, match.players),
    )
    row = await look(store, lambda connection: connection.execute(select(results)).one())
    assert (row.outcome, row.by_seat, row.winner) == ("finished", None, score.winner and score.winner.value)
    x, y = score.games.X, score.games.Y
    assert (row.x_outcome, row.x_class, row.x_winner, row.x_points_for_a) == ("K", "oin", "B", x.points_for_A)
    assert (row.x_white_pips, row.x_black_pips, row.x_white_checkers, row.x_black_checkers) == (1, 0, 1, 0)
    assert (row.y_outcome, row.y_class, row.y_winner, row.y_points_for_a) == ("-", None, None, 0)
    assert (row.y_white_pips, row.y_white_checkers, row.y_black_checkers) == (
        sum(point * n for point, n in enumerate(y.position.mine)),
        15,
        12,
    )
    assert (row.credit_for_a, row.net_for_a, row.time_adjustment) == (
        score.credit_for_A,
        score.net_for_A,
        score.time_adjustment,
    )
    assert (row.charged_a_ms, row.charged_b_ms) == (score.time_ms.A, score.time_ms.B)
    assert (row.points_a, row.points_b) == (score.points.A, score.points.B)
    assert (row.account_a, row.account_b, row.at) == (players.A, players.B, NOON)


async def test_a_match_ends_once(store: Store, other_node: Store) -> None:
    players = await two_players(store)
    match = await a_playing_match(store, players)
    nodes = (store, other_node)
    done = await asyncio.gather(
        *(finish(nodes[i % 2], match, i - 4) for i in range(8)), return_exceptions=True
    )
    assert sum(isinstance(outcome, StoredMatch) for outcome in done) == 1
    assert len(await look(store, lambda connection: connection.execute(select(results)).all())) == 1
    assert await store.matches.recompute_ratings() == ()


async def test_matches_that_end_together_are_rated_one_after_the_other(
    store: Store, other_node: Store
) -> None:
    """Players who meet in many matches at once, on two servers: what is stored can be computed again exactly."""
    accounts = [(await store.accounts.create_guest(f"G{i}", NOON)).id for i in range(5)]
    chance = random.Random(7)
    playing = []
    for _ in range(40):
        a, b = chance.sample(accounts, 2)
        playing.append(await a_playing_match(store, Seats(a, b)))
    nodes = (store, other_node)
    await asyncio.gather(
        *(
            finish(nodes[i % 2], match, chance.randint(-90, 90), NOON + chance.randint(0, 3) * DAY)
            for i, match in enumerate(playing)
        )
    )
    assert await store.matches.unfinished_ids() == ()
    assert await store.matches.recompute_ratings() == ()
    standing = await store.accounts.ratings(accounts, NOON)
    assert sum(ratings.points for ratings in standing.values()) == 5000


async def test_a_stored_rating_that_is_wrong_is_found(store: Store) -> None:
    players = await two_players(store)
    match = await finish(store, await a_playing_match(store, players), 20)
    await finish(store, await a_playing_match(store, players), 20, NOON + 1)
    assert await store.matches.recompute_ratings() == ()

    def spoil(connection: Connection) -> None:
        connection.execute(
            update(points_ratings).where(points_ratings.c.account == players.A).values(points=1041)
        )
        connection.execute(update(strengths).where(strengths.c.account == players.B).values(r=1400.5))
        connection.execute(
            update(rating_changes)
            .where(rating_changes.c.match_id == match.id, rating_changes.c.seat == "B")
            .values(points_after=981)
        )

    await store._database.write(spoil)
    found = {
        (d.account, d.match_id, d.what): (d.stored, d.computed)
        for d in await store.matches.recompute_ratings()
    }
    assert set(found) == {
        (players.A, None, "points"),
        (players.B, None, "strength"),
        (players.B, match.id, "points"),
    }
    assert found[players.A, None, "points"] == ("1041", "1040")


async def test_a_finish_that_fails_leaves_the_match_as_it_was(store: Store) -> None:
    players = await two_players(store)
    match = await a_playing_match(store, players)
    ended = MatchEnded(Outcome.ADJUDICATED, None, NOON, 7)
    score = apply(match.start(), ended).score
    assert score is not None
    for wrong in (replace(score, time_adjustment=2**70), replace(score, outcome=Outcome.VOID)):
        accounts = Seats("nobody", players.B) if wrong.outcome is Outcome.VOID else match.players
        with pytest.raises(Exception, match=r".") as failed:
            await store.journal.append(
                match.id,
                after=0,
                command_id=None,
                at=NOON,
                events=(ended,),
                deadline=None,
                finish=Finish(wrong, accounts),
            )
        assert failed.type is not AssertionError
    assert await store.matches.load(match.id) == match
    assert await store.matches.events(match.id) == ()
    assert counted(await finish(store, match, 7))

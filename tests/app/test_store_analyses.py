"""The queue of analyses: each match in it once, worked at by one, kept phase by phase."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import Connection, func, select, update

from app.store import Store
from app.store.analyses import ASK_AGAIN_MS, TRIES, Claim, ClaimLost
from app.store.matches import StoredMatch
from app.store.tables import analyses, judged_phases
from engine.analysis import FORMAT, analysed, played
from engine.scoring import Outcome
from tests.support.finished import a_whole_match, ended, judged, of_long_nardy, store_match
from tests.support.stores import NOON, a_playing_match, finish, look

JUDGES = "one 1, two 1"


async def claimed(store: Store, word: str = "me", at: int = NOON, judges: str = JUDGES) -> Claim | None:
    return await store.analyses.claim(word, "club", judges, at, at + 1000)


async def a_claim(store: Store, word: str = "me", at: int = NOON, judges: str = JUDGES) -> Claim:
    claim = await claimed(store, word, at, judges)
    assert claim is not None
    return claim


async def state_of(store: Store, match: StoredMatch) -> str:
    stored = await store.analyses.load(match.id)
    assert stored is not None
    return stored.state


async def rows_of(store: Store) -> int:
    return await look(
        store, lambda c: c.execute(select(func.count()).select_from(judged_phases)).scalar_one()
    )


async def test_a_match_is_queued_by_the_commit_that_ends_it(store: Store) -> None:
    match = await a_playing_match(store)
    assert await store.analyses.load(match.id) is None
    assert await claimed(store) is None
    await finish(store, match, 0)
    assert await state_of(store, match) == "waiting"
    assert (await a_claim(store)).match_id == match.id


@pytest.mark.parametrize("outcome", [Outcome.VOID, Outcome.ABORTED])
async def test_a_match_that_counts_for_nothing_is_not(store: Store, outcome: Outcome) -> None:
    match = await ended(store, outcome)
    assert await store.matches.outcome(match.id) is outcome
    assert await store.analyses.load(match.id) is None
    assert await claimed(store) is None


async def test_nor_is_one_of_long_nardy(store: Store) -> None:
    """There is no judge of it."""
    match = await a_playing_match(store)
    await of_long_nardy(store, match)
    await finish(store, match, 0)
    assert await store.matches.outcome(match.id) is Outcome.ADJUDICATED
    assert await store.analyses.load(match.id) is None


async def test_the_newest_comes_first_and_what_is_asked_for_before_it(store: Store) -> None:
    older, old, new = [await finish(store, await a_playing_match(store), 0, NOON + n) for n in range(3)]
    assert not await store.analyses.ask(older.id, NOON + 9), "it is queued already"
    assert [(await a_claim(store, str(n))).match_id for n in range(3)] == [older.id, new.id, old.id]
    assert await claimed(store) is None


async def test_what_was_broken_off_comes_before_all_others(store: Store) -> None:
    old = await finish(store, await a_playing_match(store), 0, NOON)
    assert (await a_claim(store, "dies")).match_id == old.id
    await finish(store, await a_playing_match(store), 0, NOON + 1)
    assert (await a_claim(store, at=NOON + 1000)).match_id == old.id


async def test_each_match_is_claimed_once_however_many_claim(store: Store, other_node: Store) -> None:
    made = {(await finish(store, await a_playing_match(store), 0, NOON + n)).id for n in range(12)}
    claims = await asyncio.gather(*(claimed((store, other_node)[n % 2], f"{n}") for n in range(20)))
    found = [claim.match_id for claim in claims if claim is not None]
    while (
        claim := await claimed(store, f"late {len(found)}")
    ) is not None:  # a row that was locked just then
        found.append(claim.match_id)
    assert len(found) == 12
    assert set(found) == made


async def test_what_is_kept_is_there_for_the_next_one(store: Store) -> None:
    match, turns = await store_match(store, a_whole_match()), judged()
    claim = await a_claim(store)
    await store.analyses.keep(claim, 0, turns[:5], len(turns), NOON + 2000)
    await store.analyses.keep(claim, 5, turns[5:9], len(turns), NOON + 2000)
    await store.analyses.keep(claim, 3, turns[3:9], len(turns), NOON + 2000)  # it did not know that they were
    stored = await store.analyses.load(match.id)
    assert stored is not None
    assert (stored.state, stored.done, stored.phases) == ("running", 9, len(turns))
    assert stored.is_worked_at(NOON + 1999)
    assert not stored.is_worked_at(NOON + 2000)
    assert not await store.analyses.let_go(claim, None, NOON)
    again = await a_claim(store, "somebody else")
    assert tuple(again.judged()) == turns[:9]


async def test_what_other_judges_found_is_forgotten(store: Store) -> None:
    await store_match(store, a_whole_match())
    claim = await a_claim(store)
    await store.analyses.keep(claim, 0, judged()[:5], 66, NOON + 2000)
    await store.analyses.let_go(claim, None, NOON)
    assert (await a_claim(store, judges="one 2, two 1")).judged() == []
    assert await rows_of(store) == 0


async def test_the_whole_is_kept_to_the_last_digit(store: Store) -> None:
    match, turns = await store_match(store, a_whole_match()), judged()
    whole = analysed(played(a_whole_match().match), turns, ["one 1", "two 1"])
    claim = await a_claim(store)
    await store.analyses.keep(claim, 0, turns[:5], len(turns), NOON + 2000)
    assert await store.analyses.objective([match.id, "nobody"]) == {match.id: None, "nobody": None}
    await store.analyses.finish(claim, whole, NOON + 7)
    stored = await store.analyses.load(match.id)
    assert stored is not None
    assert stored.found == {"format": FORMAT, **whole.to_plain()}
    assert (stored.state, stored.done, stored.phases) == ("done", len(turns), len(turns))
    assert (stored.level, stored.judges) == ("club", JUDGES)
    assert stored.objective_for_A == whole.objective_for_A
    assert await store.analyses.objective([match.id]) == {match.id: whole.objective_for_A}
    assert await rows_of(store) == 0, "they are in the whole"
    assert await claimed(store, at=NOON + 10**9) is None
    assert not await store.analyses.ask(match.id, NOON + 10**9)
    assert await state_of(store, match) == "done"


async def test_of_very_many_matches_the_objective_result(store: Store) -> None:
    match = await finish(store, await a_playing_match(store), 0)

    def done(connection: Connection) -> None:
        connection.execute(update(analyses).values(state="done", objective_for_a=-0.25))

    await store._database.write(done)
    wanted = [f"nobody{n}" for n in range(2500)] + [match.id]
    found = await store.analyses.objective(wanted)
    assert len(found) == 2501
    assert {id_ for id_, objective in found.items() if objective is not None} == {match.id}
    assert found[match.id] == -0.25


async def test_who_has_lost_his_claim_writes_nothing(store: Store, other_node: Store) -> None:
    """A server that stood still while another took over, and woke up."""
    match, turns = await store_match(store, a_whole_match()), judged()
    whole = analysed(played(a_whole_match().match), turns)
    sleeper = await a_claim(store, "sleeper")
    await store.analyses.keep(sleeper, 0, turns[:3], len(turns), NOON + 1000)
    assert await claimed(other_node, "other", NOON + 999) is None
    other = await a_claim(other_node, "other", NOON + 1000)
    assert tuple(other.judged()) == turns[:3]
    for write in (
        store.analyses.keep(sleeper, 3, turns[3:4], len(turns), NOON + 9000),
        store.analyses.renew(sleeper, NOON + 9000),
        store.analyses.finish(sleeper, whole, NOON),
        store.analyses.let_go(sleeper, "no-answer", NOON),
    ):
        with pytest.raises(ClaimLost):
            await write
    await other_node.analyses.keep(other, 3, turns[3:4], len(turns), NOON + 2000)
    await other_node.analyses.finish(other, whole, NOON)
    with pytest.raises(ClaimLost):
        await store.analyses.finish(sleeper, whole, NOON)
    assert await state_of(store, match) == "done"


async def test_who_renews_his_claim_keeps_it(store: Store) -> None:
    await finish(store, await a_playing_match(store), 0)
    claim = await a_claim(store)
    await store.analyses.renew(claim, NOON + 5000)
    assert await claimed(store, "other", NOON + 4999) is None
    assert await claimed(store, "other", NOON + 5000) is not None


async def test_after_three_failures_at_one_phase_a_match_is_given_up(store: Store) -> None:
    match, turns = await store_match(store, a_whole_match()), judged()
    for n in range(TRIES):
        claim = await a_claim(store, str(n))
        if n == 0:
            await store.analyses.keep(claim, 0, turns[:2], len(turns), NOON + 1000)
        assert await store.analyses.let_go(claim, "no-answer", NOON) is (n == TRIES - 1)
    assert await claimed(store) is None
    stored = await store.analyses.load(match.id)
    assert stored is not None
    assert (stored.state, stored.failure, stored.done) == ("failed", "no-answer", 2)


async def test_whoever_gets_on_has_not_failed(store: Store) -> None:
    await store_match(store, a_whole_match())
    turns = judged()
    for n in range(2 * TRIES):
        claim = await a_claim(store, str(n))
        await store.analyses.keep(claim, n, turns[n : n + 1], len(turns), NOON + 1000)
        assert not await store.analyses.let_go(claim, "no-answer", NOON)
    assert len((await a_claim(store)).judged()) == 2 * TRIES


async def test_a_stop_is_no_failure(store: Store) -> None:
    await finish(store, await a_playing_match(store), 0)
    for n in range(2 * TRIES):
        assert not await store.analyses.let_go(await a_claim(store, str(n)), None, NOON)
    assert await claimed(store) is not None


async def test_a_match_over_which_servers_die_is_given_up_and_the_next_one_served(store: Store) -> None:
    good = await finish(store, await a_playing_match(store), 0, NOON)
    bad = await finish(store, await a_playing_match(store), 0, NOON + 1)
    for n in range(TRIES):
        assert (await a_claim(store, str(n), NOON + 1000 * n)).match_id == bad.id
    assert (await a_claim(store, at=NOON + 1000 * TRIES)).match_id == good.id
    stored = await store.analyses.load(bad.id)
    assert stored is not None
    assert (stored.state, stored.failure) == ("failed", "lost")


async def test_one_that_failed_may_be_asked_for_again_a_minute_later(store: Store) -> None:
    match = await finish(store, await a_playing_match(store), 0)
    for n in range(TRIES):
        await store.analyses.let_go(await a_claim(store, str(n)), "no-answer", NOON)
    assert not await store.analyses.ask(match.id, NOON + ASK_AGAIN_MS - 1)
    assert await state_of(store, match) == "failed"
    assert await store.analyses.ask(match.id, NOON + ASK_AGAIN_MS)
    assert await state_of(store, match) == "waiting"
    assert not await store.analyses.let_go(await a_claim(store), "no-answer", NOON), "it has all its tries"


async def test_one_that_is_worked_at_stays_so_when_it_is_asked_for(store: Store) -> None:
    match = await finish(store, await a_playing_match(store), 0)
    claim = await a_claim(store)
    assert not await store.analyses.ask(match.id, NOON)
    await store.analyses.renew(claim, NOON)
    assert await state_of(store, match) == "running"

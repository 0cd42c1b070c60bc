"""Bots as they are stored: tokens by their hashes, limits, what is left of a deleted one."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import select

from app.store import Store
from app.store.bots import Bot, NoSuchBot, TooManyBots
from app.store.matches import KeyReused, NewMatch
from app.store.tables import bots, results
from engine.ruleset import DEFAULT
from engine.turn import Seat, Seats
from tests.support.stores import NOON, a_new_match, finish, look

OLD, NEW, OTHER = b"o" * 32, b"n" * 32, b"x" * 32


async def an_owner(store: Store) -> str:
    return (await store.accounts.create_guest("Вера", NOON)).id


async def a_stored_bot(store: Store, owner: str | None, token: bytes = OLD, name: str = "Зарик") -> Bot:
    return await store.bots.create(name, owner, token, NOON, most=5)


async def test_a_bot_is_an_account_that_its_token_opens(store: Store) -> None:
    owner = await an_owner(store)
    made = await a_stored_bot(store, owner)
    assert made == Bot(made.id, "Зарик", None, owner, NOON, NOON)
    account = await store.accounts.load(made.id)
    assert account is not None
    assert (account.kind, account.name) == ("bot", "Зарик")
    assert await store.bots.by_token(OLD) == made.id
    assert await store.bots.by_token(OTHER) is None
    assert await store.bots.of_owner(owner) == (made,)
    assert await store.bots.valid({OLD, OTHER}) == {OLD}


async def test_a_name_that_somebody_has_gets_a_tag(store: Store) -> None:
    await store.accounts.create_guest("Зарик", NOON)
    assert (await a_stored_bot(store, await an_owner(store))).tag


async def test_another_token_takes_the_place_of_the_old_one(store: Store) -> None:
    owner = await an_owner(store)
    made = await a_stored_bot(store, owner)
    renewed = await store.bots.renew(made.id, owner, NEW, NOON + 1)
    assert renewed.token_at == NOON + 1
    assert [await store.bots.by_token(token) for token in (OLD, NEW)] == [None, made.id]
    revoked = await store.bots.revoke(made.id, owner)
    assert revoked.token_at is None
    assert await store.bots.by_token(NEW) is None
    assert await store.bots.valid({OLD, NEW}) == set()


async def test_only_its_owner_has_a_say_and_whoever_runs_the_server(store: Store) -> None:
    owner, stranger = await an_owner(store), await an_owner(store)
    made = await a_stored_bot(store, owner)
    for wish in (
        lambda: store.bots.renew(made.id, stranger, NEW, NOON),
        lambda: store.bots.revoke(made.id, stranger),
        lambda: store.bots.retire(made.id, stranger, NOON),
        lambda: store.bots.revoke(stranger, None),
        lambda: store.bots.revoke("nobody", None),
    ):
        with pytest.raises(NoSuchBot):
            await wish()
    assert await store.bots.of_owner(stranger) == ()
    assert await store.bots.by_token(OLD) == made.id
    assert (await store.bots.renew(made.id, None, NEW, NOON)).owner == owner


async def test_an_owner_has_a_bounded_number_also_of_many_calls_at_once(store: Store) -> None:
    owner = await an_owner(store)
    calls = (store.bots.create(f"Bot {i}", owner, bytes([i]) * 32, NOON, most=3) for i in range(8))
    made = await asyncio.gather(*calls, return_exceptions=True)
    assert sum(isinstance(one, Bot) for one in made) == 3
    assert sum(isinstance(one, TooManyBots) for one in made) == 5
    first = (await store.bots.of_owner(owner))[0]
    await store.bots.retire(first.id, owner, NOON)
    await store.bots.create("Another", owner, OTHER, NOON, most=3)
    for i in range(20, 28):  # whoever runs the server has no limit
        await a_stored_bot(store, None, bytes([i]) * 32)


async def test_the_same_key_makes_one_bot_with_the_token_that_came_last(store: Store) -> None:
    owner = await an_owner(store)
    first = await store.bots.create("Зарик", owner, OLD, NOON, most=5, key="k")
    again = await store.bots.create("Зарик", owner, NEW, NOON + 1, most=5, key="k")
    assert again.id == first.id
    assert await store.bots.by_token(OLD) is None
    assert await store.bots.by_token(NEW) == first.id
    with pytest.raises(KeyReused):
        await store.bots.create("Кубик", owner, OTHER, NOON, most=5, key="k")
    assert len(await store.bots.of_owner(owner)) == 1


async def test_a_deleted_bot_leaves_what_it_has_played_and_waits_nowhere(store: Store) -> None:
    owner = await an_owner(store)
    made = await a_stored_bot(store, owner)
    waiting = await store.matches.create(a_new_match(made.id))
    playing = await store.matches.create(a_new_match(made.id, players=Seats(made.id, owner)))
    assert await store.bots.retire(made.id, owner, NOON + 5) == (waiting.id,)
    found = await store.matches.load(waiting.id)
    assert found is not None
    assert (found.state, found.cancelled, found.finished_at) == ("cancelled", "maker", NOON + 5)
    assert (await store.matches.load(playing.id)) == playing
    assert await store.bots.of_owner(owner) == ()
    assert await store.bots.by_token(OLD) is None
    account = await store.accounts.load(made.id)
    assert account is not None
    assert account.name == "Зарик"
    with pytest.raises(NoSuchBot):
        await store.bots.renew(made.id, owner, NEW, NOON)
    assert await look(store, lambda c: c.execute(select(bots.c.retired_at)).scalar()) == NOON + 5


# ------------------------------------------------------------------------------------------------- nothing is at stake


def of_bots(one: str, other: str, **more: object) -> NewMatch:
    return a_new_match(one, players=Seats(one, other), ruleset=DEFAULT, **more)


async def test_with_a_bot_at_it_a_match_is_for_nothing(store: Store) -> None:
    """§10.2, §7.3; two bots, a bot and a person, whoever comes first."""
    anna, made = await an_owner(store), await a_stored_bot(store, None)
    another = await a_stored_bot(store, None, OTHER, "Кубик")
    for one, other in ((anna, made.id), (made.id, anna), (made.id, another.id)):
        begun = await store.matches.create(of_bots(one, other))
        waiting = await store.matches.create(a_new_match(one))
        joined = await store.matches.join(waiting.id, Seat.B, other, NOON)
        for match in (begun, joined):
            assert match.ruleset == DEFAULT.changed({"rated": False, "time": {"mode": "off"}})
        ended = await finish(store, begun, 40)
        assert ended.ratings is None
    assert await look(store, lambda c: set(c.execute(select(results.c.rated)).scalars())) == {False}


async def test_people_play_for_what_the_ruleset_says(store: Store) -> None:
    anna, boris = await an_owner(store), await an_owner(store)
    waiting = await store.matches.create(a_new_match(anna))
    joined = await store.matches.join(waiting.id, Seat.B, boris, NOON)
    assert joined.ruleset == DEFAULT


async def test_an_event_may_say_that_bots_are_rated(store: Store) -> None:
    anna, made = await an_owner(store), await a_stored_bot(store, None)
    match = await store.matches.create(of_bots(anna, made.id, rates_bots=True))
    assert match.ruleset == DEFAULT
    ended = await finish(store, match, 40)
    assert ended.ratings is not None
    assert ended.ratings.A.points_after - ended.ratings.A.points_before == 40

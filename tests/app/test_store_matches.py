"""Matches around their play: made once, joined by one, listed, followed by one rematch."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import select

from app.settings import Settings
from app.store import Store, open_store
from app.store.matches import KeyReused, NoSuchMatch, NotMaker, NotWaiting, SeatTaken
from app.store.seal import Seal, WrongSecret
from app.store.tables import idempotency, matches
from engine.match import SEED_PATIENCE_MS
from engine.ruleset import PRESETS
from engine.turn import Seat, Seats
from tests.support.stores import (
    NOON,
    SECRET,
    SERVER_SEED,
    a_new_match,
    a_playing_match,
    append,
    finish,
    look,
    two_players,
)

A, B = Seat.A, Seat.B


async def test_a_match_waits_as_it_was_made(store: Store) -> None:
    players = await two_players(store)
    long = PRESETS["long"].ruleset
    new = a_new_match(players.A, preset="long", ruleset=long, public=False, code="k3", dice_id="q1")
    made = await store.matches.create(new)
    assert (made.id, made.state, made.version, made.preset, made.ruleset) == (
        new.id,
        "waiting",
        0,
        "long",
        long,
    )
    assert (made.public, made.code, made.maker, made.dice_id) == (False, "k3", players.A, "q1")
    assert (made.players, made.computers) == (Seats(players.A, None), frozenset())
    assert (made.created_at, made.started_at, made.finished_at, made.deadline) == (NOON, None, None, None)
    assert (made.rematch_of, made.rematch_asked, made.rematch_id, made.ratings) == (
        None,
        frozenset(),
        None,
        None,
    )
    assert made.server_seed == SERVER_SEED
    assert await store.matches.load(new.id) == made
    assert await store.matches.by_code("k3") == made
    assert await store.matches.load("nobody") is None
    assert await store.matches.by_code("nobody") is None
    with pytest.raises(NotWaiting):
        made.start()


async def test_with_both_seats_taken_a_match_begins_at_once(store: Store) -> None:
    person = (await store.accounts.create_guest("Anna", NOON)).id
    computer = (await store.accounts.ensure_computer("Plain", "1")).id
    new = a_new_match(person, players=Seats(person, computer), computers=frozenset({B}))
    made = await store.matches.create(new)
    assert (made.state, made.started_at) == ("playing", NOON)
    assert made.computers == {B}
    assert made.deadline == NOON + SEED_PATIENCE_MS
    start = made.start()
    assert (start.id, start.computers, start.seeding_from, start.server_seed) == (
        new.id,
        {B},
        NOON,
        SERVER_SEED,
    )
    assert (made.seat_of(person), made.seat_of(computer), made.seat_of("nobody")) == (A, B, None)


@pytest.mark.parametrize("free", Seat)
async def test_who_joins_begins_the_match(store: Store, free: Seat) -> None:
    players = await two_players(store)
    new = a_new_match(players.A, players=Seats(players.A, players.A).with_(free, None))
    await store.matches.create(new)
    joined = await store.matches.join(new.id, free, players.B, NOON + 9)
    assert (joined.state, joined.version, joined.started_at) == ("playing", 0, NOON + 9)
    assert joined.players == Seats(players.A, players.A).with_(free, players.B)
    assert joined.deadline == NOON + 9 + SEED_PATIENCE_MS
    assert await store.matches.load(new.id) == joined


async def test_of_many_who_join_at_once_one_plays(store: Store, other_node: Store) -> None:
    maker = (await store.accounts.create_guest("Anna", NOON)).id
    guests = [(await store.accounts.create_guest(f"G{i}", NOON)).id for i in range(12)]
    match = await store.matches.create(a_new_match(maker))
    nodes = (store, other_node)
    done = await asyncio.gather(
        *(nodes[i % 2].matches.join(match.id, B, guest, NOON + i) for i, guest in enumerate(guests)),
        return_exceptions=True,
    )
    joined = [outcome for outcome in done if not isinstance(outcome, BaseException)]
    assert len(joined) == 1
    assert sum(isinstance(outcome, SeatTaken) for outcome in done) == len(guests) - 1
    stored = await store.matches.load(match.id)
    assert stored == joined[0]
    assert guests[done.index(stored)] == stored.players.B


async def test_what_cannot_be_joined(store: Store) -> None:
    players = await two_players(store)
    waiting = await store.matches.create(a_new_match(players.A))
    with pytest.raises(SeatTaken):
        await store.matches.join(waiting.id, A, players.B, NOON)
    with pytest.raises(NoSuchMatch):
        await store.matches.join("nobody", B, players.B, NOON)
    await store.matches.cancel(waiting.id, players.A, NOON)
    with pytest.raises(NotWaiting):
        await store.matches.join(waiting.id, B, players.B, NOON)
    over = await finish(store, await a_playing_match(store, players), 1)
    with pytest.raises(NotWaiting):
        await store.matches.join(over.id, B, players.B, NOON)


async def test_its_maker_cancels_a_waiting_match(store: Store) -> None:
    players = await two_players(store)
    waiting = await store.matches.create(a_new_match(players.A))
    with pytest.raises(NotMaker):
        await store.matches.cancel(waiting.id, players.B, NOON)
    with pytest.raises(NoSuchMatch):
        await store.matches.cancel("nobody", players.A, NOON)
    cancelled = await store.matches.cancel(waiting.id, players.A, NOON + 3)
    assert (cancelled.state, cancelled.finished_at) == ("cancelled", NOON + 3)
    assert await store.matches.cancel(waiting.id, players.A, NOON + 4) == cancelled
    playing = await a_playing_match(store, players)
    with pytest.raises(NotWaiting):
        await store.matches.cancel(playing.id, players.A, NOON)


async def test_of_joining_and_cancelling_at_once_one_happens(store: Store, other_node: Store) -> None:
    players = await two_players(store)
    for i in range(6):
        match = await store.matches.create(a_new_match(players.A))
        joining = store.matches.join(match.id, B, players.B, NOON)
        cancelling = other_node.matches.cancel(match.id, players.A, NOON)
        both = (joining, cancelling) if i % 2 else (cancelling, joining)
        done = await asyncio.gather(*both, return_exceptions=True)
        assert sum(isinstance(outcome, NotWaiting) for outcome in done) == 1
        stored = await store.matches.load(match.id)
        assert stored in done


async def test_the_lobby_lists_public_matches_newest_first(store: Store) -> None:
    players = await two_players(store)
    old, new = [await store.matches.create(a_new_match(players.A, created_at=NOON + i)) for i in range(2)]
    await store.matches.create(a_new_match(players.A, public=False))
    running = await a_playing_match(store, players)
    await a_playing_match(store, players, public=False)
    await finish(store, await a_playing_match(store, players), 1)
    assert await store.matches.waiting(10) == (new, old)
    assert await store.matches.waiting(1) == (new,)
    assert await store.matches.playing(10) == (running,)


async def test_the_matches_of_an_account(store: Store) -> None:
    players = await two_players(store)
    device = (await store.accounts.create_guest("Anna", NOON)).id
    waiting = await store.matches.create(a_new_match(players.A, created_at=NOON + 1))
    running = await a_playing_match(store, players, created_at=NOON + 2)
    over = await finish(store, await a_playing_match(store, players), 1)
    of = store.matches.of_account
    assert await of(players.A, ["waiting", "playing"], 10) == (running, waiting)
    assert await of(players.A, ["over", "playing", "waiting"], 2) == (running, waiting)
    assert await of(players.B, ["over"], 10) == (over,)
    assert await of(device, ["playing"], 10) == ()
    await store.matches.grant_seat(running.id, device, A)
    assert await of(device, ["playing"], 10) == (running,)
    assert await store.matches.finished_count(players.B) == 1
    assert await store.matches.finished_count(device) == 0


async def test_a_second_device_may_play_a_seat(store: Store) -> None:
    players = await two_players(store)
    match = await a_playing_match(store, players)
    device = (await store.accounts.create_guest("Anna", NOON)).id
    seats_of = store.matches.seats_of
    assert await seats_of(match.id, players.A) == {A: None}
    assert await seats_of(match.id, device) == {}
    assert await seats_of("nobody", device) == {}
    for _ in range(2):
        await store.matches.grant_seat(match.id, device, A)
    assert await seats_of(match.id, device) == {A: None}
    await store.matches.grant_seat(match.id, device, B)
    assert await seats_of(match.id, device) == {A: None, B: None}


async def test_a_call_made_twice_with_one_key_makes_one_match(store: Store, other_node: Store) -> None:
    maker = (await store.accounts.create_guest("Anna", NOON)).id
    nodes = (store, other_node)
    made = await asyncio.gather(
        *(nodes[i % 2].matches.create(a_new_match(maker), key="k", call="a link") for i in range(8))
    )
    assert len({match.id for match in made}) == 1
    assert await store.matches.waiting(10) == (made[0],)
    with pytest.raises(KeyReused):
        await store.matches.create(a_new_match(maker), key="k", call="the computer")
    other = (await store.accounts.create_guest("Boris", NOON)).id
    assert (await store.matches.create(a_new_match(other), key="k", call="a link")).maker == other
    assert (await store.matches.create(a_new_match(maker))).id != made[0].id


async def test_a_call_that_failed_leaves_its_key_free(store: Store) -> None:
    maker = (await store.accounts.create_guest("Anna", NOON)).id
    first = await store.matches.create(a_new_match(maker))
    with pytest.raises(Exception, match=r"(?i)unique"):
        await store.matches.create(a_new_match(maker, code=first.code), key="k")
    assert await look(store, lambda connection: connection.execute(select(idempotency)).all()) == []
    assert (await store.matches.create(a_new_match(maker), key="k")).state == "waiting"


async def test_both_ask_for_a_rematch(store: Store, other_node: Store) -> None:
    match = await finish(store, await a_playing_match(store), 1)
    await asyncio.gather(store.matches.ask_rematch(match.id, B), other_node.matches.ask_rematch(match.id, A))
    again = await store.matches.ask_rematch(match.id, B)
    assert again.rematch_asked == {A, B}
    with pytest.raises(NoSuchMatch):
        await store.matches.ask_rematch("nobody", A)


async def test_there_is_one_rematch(store: Store, other_node: Store) -> None:
    players = await two_players(store)
    match = await finish(store, await a_playing_match(store, players), 1)
    swapped = Seats(players.B, players.A)
    news = [a_new_match(players.A, players=swapped, rematch_of=match.id) for _ in range(8)]
    nodes = (store, other_node)
    ids = await asyncio.gather(
        *(nodes[i % 2].matches.set_rematch(match.id, new) for i, new in enumerate(news))
    )
    assert len(set(ids)) == 1
    assert await store.matches.unfinished_ids() == (ids[0],)
    rematch = await store.matches.load(ids[0])
    assert rematch is not None
    assert (rematch.players, rematch.rematch_of, rematch.state) == (swapped, match.id, "playing")
    stored = await store.matches.load(match.id)
    assert stored is not None
    assert stored.rematch_id == ids[0]
    with pytest.raises(NoSuchMatch):
        await store.matches.set_rematch("nobody", a_new_match(players.A))


# -------------------------------------------------------------------------------------------------- the secret seed


async def test_the_seed_is_nowhere_in_clear(store: Store, store_settings: Settings) -> None:
    match = await a_playing_match(store)
    await append(store, match, 0)
    stored = await look(
        store, lambda connection: connection.execute(select(matches.c.server_seed)).scalar_one()
    )
    assert SERVER_SEED not in stored
    assert SERVER_SEED.hex().encode() not in stored
    assert "server_seed" not in repr(match)
    assert repr(SERVER_SEED) not in repr(match)
    if store_settings.sqlite_file is not None:
        for file in store_settings.sqlite_file.parent.iterdir():
            for secret in (SERVER_SEED, SERVER_SEED.hex().encode(), SECRET.encode()):
                assert secret not in file.read_bytes(), file


async def test_the_store_does_not_open_with_another_key(store: Store, store_settings: Settings) -> None:
    other = Settings(
        database_url=store_settings.database_url,
        data_dir=store_settings.data_dir,
        secret_key="another key for tests",
    )
    with pytest.raises(WrongSecret, match="SECRET_KEY"):
        await open_store(other)


def test_a_sealed_seed_belongs_to_its_match() -> None:
    seal = Seal(SECRET)
    sealed = seal.close("m1", SERVER_SEED)
    assert Seal(SECRET).open("m1", sealed) == SERVER_SEED
    assert seal.close("m1", SERVER_SEED) != sealed
    for match_id, text_ in (("m2", sealed), ("m1", sealed[:-1]), ("m1", b"\x02" + sealed[1:]), ("m1", b"")):
        with pytest.raises(WrongSecret):
            seal.open(match_id, text_)
    with pytest.raises(WrongSecret):
        Seal("another key for tests").open("m1", sealed)


async def test_the_clock_of_the_database(store: Store) -> None:
    says = await store.clock_ms()
    assert says is None or says > NOON


async def test_a_file_in_a_new_folder(tmp_path: Path) -> None:
    """The embedded default: no settings at all."""
    settings = Settings(data_dir=tmp_path / "deep" / "data")
    store = await open_store(settings)
    match = await a_playing_match(store)
    await store.close()
    assert sorted(file.name for file in settings.data_dir.iterdir()) == ["nardy.sqlite3", "secret.key"]
    store = await open_store(settings)
    assert await store.matches.load(match.id) == match
    await store.close()

"""Accounts: who has a name first, and who is told apart from him."""

from __future__ import annotations

import asyncio

import pytest

from app.store import Store
from app.store import accounts as accounts_module
from app.store.accounts import Account, NoSuchAccount, Ratings
from engine.rating import Strength
from tests.support.stores import NOON, a_playing_match, finish, two_players


async def test_the_first_of_a_name_has_no_tag(store: Store) -> None:
    vera = await store.accounts.create_guest("Вера", NOON)
    assert vera == Account(vera.id, "Вера", None, "guest", NOON)
    assert await store.accounts.load(vera.id) == vera
    assert await store.accounts.load("nobody") is None


@pytest.mark.parametrize("alike", ["Вера", "вера", "ВЕРА"])
async def test_who_has_the_same_name_has_a_tag(store: Store, alike: str) -> None:
    await store.accounts.create_guest("Вера", NOON)
    second = await store.accounts.create_guest(alike, NOON)
    third = await store.accounts.create_guest(alike, NOON)
    assert (second.name, third.name) == (alike, alike)
    assert second.tag
    assert third.tag
    assert len(second.tag) == 3
    assert second.tag != third.tag


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Weiß", "WEISS", id="sharp s"),
        pytest.param("Ａnna", "anna", id="full-width letter"),
        pytest.param("Zoë", "Zoe\u0308", id="composed and not"),
    ],
)
async def test_names_that_look_alike_are_alike(store: Store, one: str, other: str) -> None:
    await store.accounts.create_guest(one, NOON)
    assert (await store.accounts.create_guest(other, NOON)).tag


@pytest.mark.parametrize(
    ("cyrillic", "mixed"),
    [
        pytest.param("Анна", "A\u043d\u043da", id="two Latin letters among Cyrillic ones"),
        pytest.param("Осёл", "Oc\u0451\u043b", id="the first two are Latin"),
        pytest.param("Хоре", "Xope", id="all are Latin"),
        pytest.param("Хоре", "XOPE", id="all are Latin capitals"),
    ],
)
async def test_letters_that_nobody_can_tell_apart_are_one(store: Store, cyrillic: str, mixed: str) -> None:
    """Whoever has the name first has it alone, in whichever alphabet the other writes it."""
    assert (await store.accounts.create_guest(cyrillic, NOON)).tag is None
    assert (await store.accounts.create_guest(mixed, NOON)).tag
    other = await store.accounts.create_guest("Vera", NOON)
    assert (await store.accounts.rename(other.id, mixed)).tag


async def test_a_name_that_very_many_have_gets_longer_tags(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if there were one tag of each length, all of the short ones taken."""
    drawn = 0

    def one_of_each_length(length: int = 3) -> str:
        nonlocal drawn
        drawn += 1
        assert drawn < 100, "it would be looked for for ever"
        return "k" * length

    monkeypatch.setattr(accounts_module, "new_tag", one_of_each_length)
    made = [await store.accounts.create_guest("Anna", NOON) for _ in range(4)]
    assert [account.tag for account in made] == [None, "kkk", "kkkk", "kkkkk"]
    other = await store.accounts.create_guest("Vera", NOON)
    assert (await store.accounts.rename(other.id, "anna")).tag == "kkkkkk"


async def test_of_many_who_come_at_once_one_is_without_a_tag(store: Store, other_node: Store) -> None:
    nodes = (store, other_node)
    made = await asyncio.gather(*(nodes[i % 2].accounts.create_guest("Oleg", NOON) for i in range(12)))
    assert len({account.tag for account in made}) == 12
    assert [account.tag for account in made].count(None) == 1


async def test_another_name(store: Store, other_node: Store) -> None:
    anna = await store.accounts.create_guest("Anna", NOON)
    second = await store.accounts.create_guest("anna", NOON)
    capital = await store.accounts.rename(second.id, "ANNA")
    assert (capital.name, capital.tag) == ("ANNA", second.tag)
    assert (await store.accounts.rename(second.id, "Inna")).tag is None
    assert (await store.accounts.rename(second.id, "Anna")).tag
    assert (await store.accounts.rename(anna.id, "Anna")).tag is None
    everyone = [(await store.accounts.create_guest(f"G{i}", NOON)).id for i in range(8)]
    nodes = (store, other_node)
    renamed = await asyncio.gather(
        *(nodes[i % 2].accounts.rename(account, "Ivan") for i, account in enumerate(everyone))
    )
    assert [account.tag for account in renamed].count(None) == 1
    assert len({account.tag for account in renamed}) == 8
    with pytest.raises(NoSuchAccount):
        await store.accounts.rename("nobody", "Anna")


async def test_many_accounts_at_once(store: Store) -> None:
    players = await two_players(store)
    found = await store.accounts.load_many([players.A, players.B, players.A, "nobody"])
    assert {account.name for account in found.values()} == {"Anna", "Boris"}
    assert set(found) == {players.A, players.B}
    assert await store.accounts.load_many([]) == {}


async def test_each_version_of_a_computer_is_one_player(store: Store, other_node: Store) -> None:
    nodes = (store, other_node)
    made = await asyncio.gather(
        *(nodes[i % 2].accounts.ensure_computer("Plain", "1", NOON) for i in range(8))
    )
    assert set(made) == {Account(made[0].id, "Plain", None, "computer", NOON, "1")}
    newer = await store.accounts.ensure_computer("Plain", "2")
    assert (newer.tag, newer.id != made[0].id) == (None, True)
    assert (await store.accounts.create_guest("plain", NOON)).tag


async def test_ratings_as_they_stand(store: Store) -> None:
    players = await two_players(store)
    stranger = (await store.accounts.create_guest("Vera", NOON)).id
    over = await finish(store, await a_playing_match(store, players), 12)
    assert over.ratings is not None
    found = await store.accounts.ratings([players.A, players.B, stranger, "nobody"], NOON)
    assert found[players.A] == Ratings(1012, {"short": over.ratings.A.strength_after})
    assert found[players.B] == Ratings(988, {"short": over.ratings.B.strength_after})
    assert found[stranger] == found["nobody"] == Ratings()
    assert found[stranger].strength_in("long") == Strength()
    next_year = await store.accounts.ratings([players.A], NOON + 366 * 86_400_000)
    assert next_year[players.A] == Ratings(1000, {"short": over.ratings.A.strength_after})

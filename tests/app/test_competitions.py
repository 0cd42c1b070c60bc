"""Competitions through their service, on both databases: announced, entered, run, looked at, by two servers at once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from app.service.competitions import Competitions
from app.service.errors import (
    BadCompetition,
    IdTaken,
    KeyUsed,
    NoSuchCompetition,
    NoSuchComputer,
    NotAnEntrant,
    NotArbiter,
    StaleVersion,
    TooManyEvents,
)
from app.store import Store
from app.store.competitions import MOST_OPEN
from engine.competition import commands as c
from engine.competition.competition import replay
from engine.errors import BadSettings, EntryRefused
from tests.support.competing import COMPUTER, Hand
from tests.support.organiser import MADE_AT, Event

CUP: dict[str, Any] = {
    "stages": [
        {"kind": "qualifying", "matches": 2, "computer": "beginner"},
        {"kind": "groups", "size": 3},
        {"kind": "single_elimination", "take_per_group": 1},
    ]
}


@pytest.fixture
def hand(store: Store) -> Hand:
    return Hand(store)


async def test_a_whole_competition_is_what_its_facts_give(hand: Hand, store: Store) -> None:
    players = await hand.announce(6, **CUP)
    await hand.play_to_the_end()
    # The same commands through the engine alone.
    event = Event(0, name=hand.id, **CUP)
    competition, stored = await hand.service.competition(hand.id)
    rows = await store.competitions.facts(hand.id)
    told = [fact for row in rows for fact in row.facts]
    assert replay(event.start, told).stages == competition.stages
    assert [row.version for row in rows] == list(range(1, len(rows) + 1))
    # And what is shown of it, by a server that has just come.
    other = Competitions(store, COMPUTER, lambda: hand.now)
    view = await other.view(hand.id, players[0])
    assert view == await hand.service.view(hand.id, players[0])
    assert view.state == "finished"
    assert [place.place for place in view.places] == [1, 2, 3, 4, 5, 6]
    (final,) = view.stages[2].rounds[0].meetings
    assert {place.entrant for place in view.places[:2]} == {final.a, final.b}
    assert view.mine is not None
    assert (view.mine.entrant, view.mine.next.kind) == (1, "over")
    assert len((await other.cross_tables(hand.id, 2))[0].order) == 3
    assert (await other.standings(hand.id, 3)).bracket is not None
    listed = await other.listed(["finished"])
    assert [(one.id, one.entrants, one.stages) for one in listed] == [
        (hand.id, 6, ("qualifying", "groups", "single_elimination"))
    ]
    assert [one.id for one in await other.entered_by(players[3])] == [hand.id]
    assert [one.id for one in await other.owned_by(hand.boss)] == [hand.id]


async def test_one_key_is_one_competition(store: Store, hand: Hand) -> None:
    boss = (await store.accounts.create_guest("Boss", MADE_AT)).id
    create = hand.service.create
    first = await create(boss, title={"en": "Cup"}, key="k1")
    assert await create(boss, title={"en": "Cup"}, key="k1") == first
    with pytest.raises(KeyUsed):
        await create(boss, title={"en": "Other"}, key="k1")
    await create(boss, title={"ru": "Кубок"}, competition_id="spring-cup")
    with pytest.raises(IdTaken):
        await create(boss, title={"en": "Cup"}, competition_id="spring-cup")
    for wrong in (
        {"title": {"en": "Cup"}, "competition_id": "Spring"},
        {"title": {}},
        {"title": {"en": "Cup"}, "visibility": "hidden"},
        {"title": {"en": "Cup", "de": "Pokal"}},
    ):
        with pytest.raises(BadCompetition):
            await create(boss, **wrong)
    with pytest.raises(BadSettings):
        await create(boss, title={"en": "Cup"}, settings={"stages": [{"kind": "ladder"}]})
    with pytest.raises(NoSuchComputer):
        await create(boss, title={"en": "Cup"}, settings={"stages": [{"kind": "qualifying"}]})  # expert
    with pytest.raises(NoSuchCompetition):
        await hand.service.view("no-such-cup")


async def test_an_owner_has_so_many_competitions_at_most_that_are_not_over(store: Store, hand: Hand) -> None:
    boss = (await store.accounts.create_guest("Boss", MADE_AT)).id
    create = hand.service.create
    made = [await create(boss, title={"en": f"Cup {number}"}, key=str(number)) for number in range(MOST_OPEN)]
    with pytest.raises(TooManyEvents):
        await create(boss, title={"en": "One more"}, key="more")
    assert await create(boss, title={"en": "Cup 0"}, key="0") == made[0], "the same call is answered again"
    await create((await store.accounts.create_guest("Other", MADE_AT)).id, title={"en": "His own"})
    await hand.service.act(made[0].id, lambda at: c.Cancel(boss, "nobody came", at), actor=boss)
    await create(boss, title={"en": "One more"}, key="more")


async def test_one_wish_is_carried_out_once_whichever_server_has_it(hand: Hand, store: Store) -> None:
    players = await hand.announce(3)
    other = Competitions(store, COMPUTER, lambda: hand.now)
    services = [hand.service, other] * 5
    before = (await hand.service.organiser_view(hand.id)).version
    done = await asyncio.gather(
        *(
            one.act(
                hand.id,
                lambda at: c.ForbidPair(1, 2, hand.boss, "clubmates", at),
                actor=hand.boss,
                key="forbid",
            )
            for one in services
        )
    )
    assert {one.version for one in done} == {before + 1}
    assert sum(one.is_new for one in done) == 1
    # Another server sees at once what one has done.
    await hand.service.withdraw(hand.id, players[2])
    assert (await other.mine(hand.id, players[2])).status == "withdrawn"


async def test_words_are_those_of_now_on_every_server_and_none_are_lost(hand: Hand, store: Store) -> None:
    await hand.announce(2)
    other = Competitions(store, COMPUTER, lambda: hand.now)  # no server hears what another does
    both = (hand.service, other)
    mark, version = (await other.seen(hand.id, None))[0], await other.version(hand.id)
    await hand.service.describe(hand.id, title={"ru": "Зима", "en": "Winter"}, actor=hand.boss)
    (now, view, _) = await other.seen(hand.id, None)
    assert view.title == {"ru": "Зима", "en": "Winter"}
    assert (now == mark, await other.version(hand.id)) == (False, version + 1)
    # Whoever meant another version changes nothing; the same words again are no change.
    with pytest.raises(StaleVersion):
        await other.describe(hand.id, title={"en": "Summer"}, actor=hand.boss, expect=version)
    await other.describe(hand.id, title={"en": "Winter"}, actor=hand.boss, expect=version + 1)
    assert await hand.service.version(hand.id) == version + 1
    # Several at once, each of something else, on both servers, while the competition goes on.
    await asyncio.gather(
        hand.service.describe(hand.id, title={"en": "Spring"}, actor=hand.boss),
        other.describe(hand.id, title={"ru": "Весна"}, actor=hand.boss),
        hand.service.describe(hand.id, about={"en": "All come"}, actor=hand.boss),
        other.describe(hand.id, about={"ru": "Приходите"}, actor=hand.boss),
        other.describe(hand.id, visibility="unlisted", actor=hand.boss),
        hand.service.change_settings(hand.id, {"no_show_s": 60}, actor=hand.boss),
    )
    for service in both:
        view = await service.view(hand.id)
        assert view.title == {"ru": "Весна", "en": "Spring"}
        assert view.about == {"ru": "Приходите", "en": "All come"}
        assert view.visibility == "unlisted"
        assert await service.version(hand.id) == version + 7
    for service in both:
        with pytest.raises(NoSuchCompetition):
            await service.describe("none", title={"en": "Spring"}, actor=hand.boss)


async def test_an_entrant_who_presses_twice_is_one_entrant(hand: Hand, store: Store) -> None:
    await hand.announce(2)
    someone = (await store.accounts.create_guest("Vera", MADE_AT)).id
    other = Competitions(store, COMPUTER, lambda: hand.now)
    mine = await asyncio.gather(
        hand.service.enter(hand.id, someone), other.enter(hand.id, someone), other.enter(hand.id, someone)
    )
    assert {one.entrant for one in mine} == {3}
    view = await other.view(hand.id)
    assert [entrant.name for entrant in view.entrants] == ["P1", "P2", "Vera"]
    with pytest.raises(NotAnEntrant):
        await other.check_in(hand.id, hand.boss)
    with pytest.raises(EntryRefused):
        await other.check_in(hand.id, someone)  # there is none


async def test_of_two_changes_that_were_meant_for_one_version_one_is_refused(hand: Hand) -> None:
    await hand.announce(2)
    version = (await hand.service.organiser_view(hand.id)).version
    await hand.service.change_settings(hand.id, {"no_show_s": 60}, actor=hand.boss, expect=version, key="a")
    with pytest.raises(StaleVersion):
        await hand.service.change_settings(hand.id, {"no_show_s": 90}, actor=hand.boss, expect=version)
    # The first one again: it was accepted, and is answered so.
    again = await hand.service.change_settings(
        hand.id, {"no_show_s": 60}, actor=hand.boss, expect=version, key="a"
    )
    assert not again.is_new
    assert (await hand.service.view(hand.id)).settings["no_show_s"] == 60


async def test_nobody_judges_where_he_plays(hand: Hand) -> None:
    players = await hand.announce(3)
    await hand.service.start(hand.id, actor=players[0])  # who only lets things happen may play
    await hand.service.act(hand.id, c.DraftRound, actor=players[0])
    with pytest.raises(NotArbiter):
        await hand.service.act(
            hand.id, lambda at: c.Ban(2, players[0], "I dislike him", at), actor=players[0]
        )
    await hand.service.act(hand.id, lambda at: c.Ban(2, hand.boss, "cheated", at), actor=hand.boss)

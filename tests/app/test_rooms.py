"""Rooms: what a server keeps of a match in memory, and when it looks at the clock. No sockets, and a clock to set."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from typing import Any

import pytest
import pytest_asyncio

from app.service.displays import Bye, Display, Ping, ViewFrame
from app.service.matches import Matches
from app.store import Store
from engine.bot import Heuristic
from engine.match import PhaseOpened, PlayMade, Tick, TimeGivenBack, decide
from engine.turn import SEATS, Seat, Seats, Turn
from tests.support.computers import only
from tests.support.rooms import QUICK_RULES, Clock, an_open_match
from tests.support.stores import NOON, a_playing_match, finish, two_players


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest_asyncio.fixture
async def matches(store: Store, clock: Clock) -> AsyncIterator[Matches]:
    """A server's matches."""
    served = Matches(store, only(Heuristic()), "one", clock, computer_pace_ms=0)
    await served.start()
    yield served
    await served.close()


async def test_a_room_that_is_read_knows_what_is_due(matches: Matches, store: Store, clock: Clock) -> None:
    """Else a computer or a flag would wait until something else happens."""
    match = await an_open_match(store, clock)
    await matches.view(match.id, None)
    await asyncio.sleep(0.3)
    view = await matches.view(match.id, None)
    assert view is not None
    assert view.turn == "1W"


async def test_thinking_is_charged_until_the_play_arrives(
    matches: Matches, store: Store, clock: Clock
) -> None:
    """§7.1: what the server waits for before it can take a play up is nobody's thinking."""
    match = await an_open_match(store, clock)
    display = await matches.connect(match.id, match.players.A)
    await asyncio.sleep(0.3)
    view = await matches.view(match.id, display.seat)
    assert view is not None
    assert view.turn is not None
    assert view.mine is not None
    clock.at += 2_000
    way = Heuristic().choose(view)
    room = matches._rooms[match.id]
    async with room.lock:
        playing = asyncio.create_task(
            matches.play(display, "p", Turn(1), tuple((hop.start, hop.end) for hop in way))
        )
        await asyncio.sleep(0.01)
        clock.at += 5_000
    assert await playing
    rows = await store.matches.events(match.id)
    made = [event for row in rows for event in row.events if isinstance(event, PlayMade)]
    assert [play.thought_ms for play in made] == [2_000]
    await matches.disconnect(display)


async def test_the_others_hear_of_a_play_first_and_of_the_end_all_at_once(
    matches: Matches, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who has played knows what he did. What is told of a match that is over never goes with a view of it running."""
    match = await an_open_match(store, clock)
    displays = [await matches.connect(match.id, player) for player in (match.players.A, match.players.B)]
    shown: list[Seat] = []
    frames: dict[Seat, list[ViewFrame]] = {seat: [] for seat in SEATS}

    async def read(display: Display, seat: Seat) -> None:
        while not isinstance(frame := await display.next_frame(), Bye):
            if isinstance(frame, ViewFrame):
                frames[seat].append(frame)
                shown.append(seat)

    reading = [asyncio.create_task(read(one, seat)) for one, seat in zip(displays, SEATS, strict=True)]
    await asyncio.sleep(0.3)
    number = 0
    while not is_over(matches, match.id):
        for display, seat in zip(displays, SEATS, strict=True):
            view = await matches.view(match.id, seat)
            assert view is not None
            if view.stage == "playing" and view.mine and view.mine.steps and view.mine.steps[0]:
                assert view.turn is not None
                shown.clear()
                number += 1
                way = tuple((hop.start, hop.end) for hop in Heuristic().choose(view))
                turn = Turn.parse(view.turn)
                assert turn is not None
                assert await matches.play(display, f"p{number}", turn, way)
                await asyncio.sleep(0)
                assert set(shown) == set(SEATS)
                if not is_over(matches, match.id):
                    assert shown[0] is seat.other
    assert number > 30
    for told in frames.values():
        assert told[-1].view is not None
        assert told[-1].view.stage == "over"
        ends = [frame for frame in told if frame.info is not None and frame.info.state == "over"]
        assert ends == told[-1:]
    for task in reading:
        task.cancel()
    for display in displays:
        await matches.disconnect(display)


def is_over(matches: Matches, match_id: str) -> bool:
    match = matches._rooms[match_id].match
    return match is not None and match.score is not None


async def test_the_end_is_shown_even_if_its_ratings_cannot_be_read(
    matches: Matches, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result is stored; a display that was not told would wait for ever."""
    match = await an_open_match(store, clock)
    watching = await matches.connect(match.id, None)
    display = await matches.connect(match.id, match.players.A)
    await asyncio.sleep(0.3)
    with monkeypatch.context() as patched:
        patched.setattr(store.matches, "load", _fails)
        await matches.resign(display, "r", Turn(1), 0)
    frame = await watching.next_frame()
    assert isinstance(frame, ViewFrame)
    assert frame.view is not None
    assert frame.view.stage == "over"
    await matches._compare_versions()
    frame = await watching.next_frame()
    assert isinstance(frame, ViewFrame)
    assert frame.info is not None
    assert frame.info.state == "over"


async def _fails(*_: Any) -> Any:
    raise ConnectionError


async def test_a_match_that_ended_elsewhere_does_not_stay_in_memory(
    store: Store, other_node: Store, clock: Clock
) -> None:
    match = await a_playing_match(store, ruleset=QUICK_RULES)
    elsewhere = Matches(other_node, only(Heuristic()), "two", clock)
    await elsewhere.view(match.id, None)
    await finish(store, match, 5)
    elsewhere._changed_elsewhere(match.id, 1)
    await asyncio.gather(*elsewhere._tasks)
    assert not elsewhere._rooms


async def test_a_computer_whose_match_went_on_without_it_has_not_failed(
    store: Store, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    computer = await store.accounts.ensure_computer(Heuristic.name, Heuristic.version)
    players = Seats((await two_players(store)).A, computer.id)
    match = await a_playing_match(store, players, QUICK_RULES, computers=frozenset({Seat.B}))
    clock.at += 20_000
    matches = Matches(store, only(Heuristic()), "one", clock, computer_pace_ms=200)
    await matches.start()
    display = await matches.connect(match.id, players.A)
    await asyncio.sleep(0.1)
    await matches.resign(display, "r", Turn(1), 0)
    await asyncio.sleep(0.4)
    await matches.close()
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_the_time_that_taking_up_takes_is_given_back_too(store: Store, other_node: Store) -> None:
    """§8.5: of many matches, the last one waits for all the others."""
    await other_node.nodes.join("zero", NOON)
    await other_node.nodes.leave("zero", NOON)
    match = await a_playing_match(store, ruleset=QUICK_RULES)
    seconds = count(NOON + 5_000, 1_000)
    matches = Matches(store, only(Heuristic()), "one", lambda: next(seconds))
    await matches.start()
    await matches.close()
    row = (await store.matches.events(match.id))[0]
    given = [event.ms for event in row.events if isinstance(event, TimeGivenBack)]
    assert given == [row.at - NOON]


async def test_round_trips_of_an_earlier_turn_do_not_count_after_reading_again(
    matches: Matches, store: Store, clock: Clock
) -> None:
    """§7.1: lag is bounded by what was measured in that turn."""
    match = await a_playing_match(store, ruleset=QUICK_RULES)
    display = await matches.connect(match.id, match.players.A)
    room = matches._rooms[match.id]
    assert room.match is not None
    room.round_trips[Seat.A] = 900
    clock.at += 20_000
    opened = decide(room.match, Tick(clock.at))
    assert any(isinstance(event, PhaseOpened) for event in opened)
    await store.journal.append(
        match.id, after=room.version, command_id=None, at=clock.at, events=opened, deadline=None
    )
    room.stale = True
    await matches._follow(room, info_too=False)
    assert room.match.turn == Turn(1)
    assert not room.round_trips
    await matches.disconnect(display)


async def test_a_display_that_could_not_be_noted_is_none(
    matches: Matches, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    match = await an_open_match(store, clock)
    with monkeypatch.context() as patched:
        patched.setattr(store.nodes, "seat_connected", _fails)
        with pytest.raises(ConnectionError):
            await matches.connect(match.id, match.players.A)
    assert not matches._rooms[match.id].displays


async def test_who_left_while_the_database_was_lost_is_gone_all_the_same(
    matches: Matches, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CASES F1. §8.3: else his absence would never begin."""
    match = await an_open_match(store, clock)
    display = await matches.connect(match.id, match.players.A)
    with monkeypatch.context() as patched:
        patched.setattr(store.nodes, "seat_disconnected", _fails)
        with pytest.raises(ConnectionError):
            await matches.disconnect(display)
    await matches._compare_presence(matches._rooms)
    view = await matches.view(match.id, None)
    assert view is not None
    assert not view.seats.A.connected
    assert await store.nodes.connected([match.id]) == {}


async def test_who_is_connected_at_no_server_is_gone(matches: Matches, store: Store, clock: Clock) -> None:
    """A server forgot his display, and died before it could say that he has left."""
    match = await an_open_match(store, clock)
    display = await matches.connect(match.id, match.players.A)
    room = matches._rooms[match.id]
    room.displays.remove(display)
    await store.nodes.seat_disconnected(match.id, Seat.A, "one")
    await matches._compare_presence(matches._rooms)
    assert room.match is not None
    assert not room.match.presence[Seat.A].connected


async def test_what_is_read_again_is_shown(matches: Matches, store: Store, clock: Clock) -> None:
    """Whoever had it read again, even somebody who only leaves: nobody would look a second time."""
    match = await an_open_match(store, clock)
    player = await matches.connect(match.id, match.players.A)
    watching = await matches.connect(match.id, None)
    await asyncio.sleep(0.3)
    room = matches._rooms[match.id]
    await finish(store, match, 5, after=room.version)
    room.stale = True
    await matches.disconnect(player)
    frame = await watching.next_frame()
    while isinstance(frame, Ping):  # comes by the clock
        frame = await watching.next_frame()
    assert isinstance(frame, ViewFrame)
    assert frame.view is not None
    assert frame.view.stage == "over"


async def test_a_match_that_ends_while_it_is_read_is_over(
    matches: Matches, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is around a match and what is played in it are read one after the other."""
    match = await a_playing_match(store, ruleset=QUICK_RULES)
    events = store.matches.events

    async def ended_just_now(match_id: str, after: int = 0) -> Any:
        if not await events(match_id):
            await finish(store, match, 5)
        return await events(match_id, after)

    monkeypatch.setattr(store.matches, "events", ended_just_now)
    display = await matches.connect(match.id, None)
    assert matches._rooms[match.id].stored.state == "over"
    await matches.disconnect(display)
    assert not matches._rooms

"""What rooms owe: what failed is made up for, and what has ended is let go. No sockets, and a clock to set."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from app.service import matches as matches_module
from app.service.displays import Accepted, Display, Ping, ViewFrame
from app.service.lobby import Lobby
from app.service.matches import OVERDUE_MS, Matches
from app.store import Store
from app.store.codec import Unreadable
from app.store.matches import StoredMatch
from engine.bot import Heuristic
from engine.match import TimeGivenBack
from engine.turn import Seat, Seats, Turn
from engine.view import View
from tests.support.computers import only
from tests.support.nodes import connected
from tests.support.rooms import QUICK_RULES, Clock, an_open_match
from tests.support.stores import a_playing_match, two_players


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server looks after every few seconds it looks after all the time."""
    monkeypatch.setattr(matches_module, "HEARTBEAT_S", 0.1)
    monkeypatch.setattr(matches_module, "COMPARE_EVERY", 1)


@pytest_asyncio.fixture
async def matches(store: Store, clock: Clock, often: None) -> AsyncIterator[Matches]:
    """A server's matches."""
    served = Matches(store, only(Heuristic()), "one", clock, computer_pace_ms=0)
    await served.start()
    yield served
    await served.close()


# --------------------------------------------------------------------------------------------- players at a display


async def _shown(display: Display, holds: Callable[[ViewFrame], object]) -> ViewFrame:
    """The first frame of which this holds."""
    async with asyncio.timeout(5):
        while True:
            frame = await display.next_frame()
            if isinstance(frame, ViewFrame) and holds(frame):
                return frame


async def _in_turn(display: Display, turn: str) -> View:
    view = (await _shown(display, lambda frame: frame.view is not None and frame.view.turn == turn)).view
    assert view is not None
    return view


async def _both_are_there(matches: Matches, match: StoredMatch) -> Seats[Display]:
    """Two displays; the first roll is on the table."""
    displays = [await matches.connect(match.id, match.players[seat]) for seat in Seat]
    for display in displays:
        await _in_turn(display, "1W")
    return Seats(*displays)


async def _at_the_table(matches: Matches, store: Store, clock: Clock) -> tuple[StoredMatch, Seats[Display]]:
    match = await an_open_match(store, clock)
    return match, await _both_are_there(matches, match)


async def _play(matches: Matches, display: Display) -> None:
    view = await matches.view(display.match_id, display.seat)
    assert view is not None
    assert view.turn is not None
    turn = Turn.parse(view.turn)
    assert turn is not None
    way = Heuristic().choose(view)
    await matches.play(display, f"p{turn}", turn, tuple((hop.start, hop.end) for hop in way))


async def _resign_in_1K(matches: Matches, displays: Seats[Display]) -> None:
    """Both play, then A gives up: a rated match, and a short one."""
    for display in (displays.A, displays.B):
        await _play(matches, display)
    view = await _in_turn(displays.A, "1K")
    assert view.mine is not None
    assert view.mine.resign is not None
    await matches.resign(displays.A, "r", Turn(1, black=True), view.mine.resign["points"])
    frames = [await displays.A.next_frame()]  # answers come before views
    while isinstance(frames[-1], Ping) or (isinstance(frames[-1], Accepted) and frames[-1].id != "r"):
        frames.append(await displays.A.next_frame())
    assert frames[-1] == Accepted("r")


async def _connected(matches: Matches, match_id: str, seat: Seat) -> bool:
    view = await matches.view(match_id, None)
    assert view is not None
    return view.seats[seat].connected


async def _until(holds: Callable[[], Awaitable[object]]) -> None:
    """Wait for what the server does by itself."""
    async with asyncio.timeout(30):
        while not await holds():
            await asyncio.sleep(0.01)


class Broken(Exception):
    """What a database raises that is gone."""


# ------------------------------------------------------------------------------------------------- a store that fails


@pytest.mark.parametrize("what", ["the seat", "the return", "the answer"])
async def test_a_display_that_could_not_be_noted_is_not_there(
    matches: Matches, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Nobody counts as connected who has no display; that is stored as soon as the store works again."""
    match = await an_open_match(store, clock)
    append = store.journal.append

    async def fails(*given: Any, **named: Any) -> None:
        if what == "the answer":  # it was stored, and nobody will know
            await append(*given, **named)
        raise Broken

    with monkeypatch.context() as broken:
        if what == "the seat":
            broken.setattr(store.nodes, "seat_connected", fails)
        else:
            broken.setattr(store.journal, "append", fails)
        broken.setattr(store.nodes, "seat_disconnected", fails)
        with pytest.raises(Broken):
            await matches.connect(match.id, match.players.A)
        assert matches._rooms[match.id].displays == []
    await _until(lambda: _all_is_noted(matches, store))
    assert await connected(store) == set()
    assert not await _connected(matches, match.id, Seat.A)
    display = await matches.connect(match.id, match.players.A)
    assert await _connected(matches, match.id, Seat.A)
    await matches.disconnect(display)


async def test_a_player_whose_leaving_could_not_be_noted_is_noted_later(
    matches: Matches, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, displays = await _at_the_table(matches, store, clock)

    async def fails(*_: Any, **__: Any) -> None:
        raise Broken

    with monkeypatch.context() as broken:
        broken.setattr(store.journal, "append", fails)
        with pytest.raises(Broken):
            await matches.disconnect(displays.A)
        assert await _connected(matches, match.id, Seat.A)
    left = await _shown(displays.B, lambda frame: frame.view is not None and not frame.view.seats.A.connected)
    assert left.view is not None
    assert left.view.seats.A.away_until is not None
    assert await connected(store) == {(match.id, Seat.B, "one")}
    await matches.disconnect(displays.B)


async def test_a_player_who_is_back_before_his_leaving_was_noted_never_left(
    matches: Matches, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    match, displays = await _at_the_table(matches, store, clock)

    async def fails(*_: Any, **__: Any) -> None:
        raise Broken

    with monkeypatch.context() as broken:
        broken.setattr(store.nodes, "seat_disconnected", fails)
        with pytest.raises(Broken):
            await matches.disconnect(displays.A)
        again = await matches.connect(match.id, match.players.A)
    await _until(lambda: _all_is_noted(matches, store))
    assert await _connected(matches, match.id, Seat.A)
    assert (match.id, Seat.A, "one") in await connected(store)
    for display in (again, displays.B):
        await matches.disconnect(display)


async def _all_is_noted(matches: Matches, store: Store) -> bool:
    """Who has a display here is stored as connected, and nobody else."""
    rooms = matches._rooms.values()
    here = {(room.stored.id, seat) for room in rooms for seat in Seat if room.has_display(seat)}
    thought = {
        (room.stored.id, seat)
        for room in rooms
        for seat in Seat
        if room.match and room.match.presence[seat].connected
    }
    return {(match_id, seat) for match_id, seat, _ in await connected(store)} == here == thought


@pytest.mark.parametrize("reading", ["fails", "hangs"])
async def test_an_end_is_shown_though_the_ratings_cannot_be_read(
    matches: Matches, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch, reading: str
) -> None:
    """It is committed; what it did to the ratings comes when it can be read."""
    _, displays = await _at_the_table(matches, store, clock)

    async def cannot(*_: Any) -> None:
        if reading == "fails":
            raise Broken
        await asyncio.Event().wait()

    with monkeypatch.context() as broken:
        broken.setattr(store.accounts, "ratings", cannot)
        broken.setattr(matches_module, "INFO_PATIENCE_S", 0.1)
        await _resign_in_1K(matches, displays)
        for display in (displays.A, displays.B):
            over = await _shown(display, lambda frame: frame.view is not None and frame.view.stage == "over")
            assert over.info is None
    for display in (displays.A, displays.B):
        told = await _shown(display, lambda frame: frame.info is not None and frame.info.ratings is not None)
        assert told.info is not None
        assert told.info.state == "over"
    for display in (displays.A, displays.B):
        await matches.disconnect(display)


# ------------------------------------------------------------------------------------------ what is kept in memory


async def _is_over(store: Store, match_id: str) -> bool:
    stored = await store.matches.load(match_id)
    return stored is not None and stored.state == "over"


@pytest.mark.parametrize("looked_at", ["nobody", "the lobby"])
async def test_a_match_that_ends_with_nobody_there_is_let_go(
    matches: Matches, store: Store, clock: Clock, looked_at: str
) -> None:
    """By the clock (§7.2): its room has served."""
    match = await an_open_match(store, clock)
    if looked_at == "the lobby":
        (live,) = (await Lobby(store, matches, b"a key", clock).lobby(None)).live
        assert live.info.id == match.id
        assert match.id in matches._rooms
    for wait in (2 * OVERDUE_MS, 10_000_000):  # for the dice; for the flags
        clock.at += wait
        await _until(lambda: _nothing_is_due(store, clock))
    await _until(lambda: _is_over(store, match.id))
    await _until(lambda: _no_rooms(matches))


async def test_a_match_whose_end_was_not_acknowledged_is_let_go_all_the_same(
    matches: Matches, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was stored, and the answer of the store was lost."""
    match = await an_open_match(store, clock)
    await _until(lambda: _is_in_turn(matches, match.id, "1W"))
    append = store.journal.append

    async def loses_the_answer(*given: Any, **named: Any) -> None:
        await append(*given, **named)
        raise Broken

    with monkeypatch.context() as broken:
        broken.setattr(store.journal, "append", loses_the_answer)
        clock.at += 10_000_000
        await _until(lambda: _is_over(store, match.id))
    await _until(lambda: _no_rooms(matches))


async def _is_in_turn(matches: Matches, match_id: str, turn: str) -> bool:
    view = await matches.view(match_id, None)
    return view is not None and view.turn == turn


async def _nothing_is_due(store: Store, clock: Clock) -> bool:
    return not await store.matches.due(clock(), 1)


async def _no_rooms(matches: Matches) -> bool:
    return not matches._rooms


async def test_a_match_that_has_ended_is_let_go_with_its_last_display(
    matches: Matches, store: Store, clock: Clock
) -> None:
    match, displays = await _at_the_table(matches, store, clock)
    await _resign_in_1K(matches, displays)
    await matches.disconnect(displays.A)
    assert match.id in matches._rooms, "somebody still looks at it"
    await matches.disconnect(displays.B)
    await _until(lambda: _no_rooms(matches))


async def test_nothing_is_left_of_many_short_matches(
    matches: Matches, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """I4: neither a room, nor a task, nor a timer that would hold one."""
    monkeypatch.setattr(matches_module, "INFO_PATIENCE_S", 30.0)  # what is logged holds what it is about
    before = len(asyncio.all_tasks())
    rooms: list[weakref.ref[object]] = []

    async def play_it(match: StoredMatch) -> None:
        displays = await _both_are_there(matches, match)
        rooms.append(weakref.ref(matches._rooms[match.id]))
        await _resign_in_1K(matches, displays)
        for display in (displays.A, displays.B):
            await matches.disconnect(display)

    for _ in range(4):
        stored = [await a_playing_match(store, ruleset=QUICK_RULES) for _ in range(10)]
        clock.at += 20_000
        await asyncio.gather(*map(play_it, stored))
    assert len(rooms) == 40

    async def nothing_is_left() -> bool:
        gc.collect()
        is_kept = matches._rooms or matches._loading or any(room() for room in rooms)
        return not is_kept and len(asyncio.all_tasks()) <= before

    await _until(nothing_is_left)


async def test_a_waiting_page_that_reloads_sees_the_opponent_join(
    matches: Matches, store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old page's display leaves slowly while the new one is there already."""
    lobby = Lobby(store, matches, b"a key", clock)
    players = await two_players(store)
    made = await lobby.create(players.A, "objective", {}, "anyone")
    old = await matches.connect(made.id, players.A)
    disconnected, leaving, left = store.nodes.seat_disconnected, asyncio.Event(), asyncio.Event()

    async def slowly(*given: Any) -> bool:
        leaving.set()
        await left.wait()
        return await disconnected(*given)

    monkeypatch.setattr(store.nodes, "seat_disconnected", slowly)
    going = asyncio.create_task(matches.disconnect(old))
    await leaving.wait()
    assert await matches.view(made.id, Seat.A) is None  # the new page reads before it opens its display
    coming = asyncio.create_task(matches.connect(made.id, players.A))
    await asyncio.sleep(0.05)  # it may wait for the old one, or not
    left.set()
    await going
    new = await coming
    await lobby.join_public(made.id, players.B)
    told = await _shown(new, lambda frame: frame.view is not None)
    assert told.info is not None
    assert told.info.state == "playing"
    await matches.disconnect(new)


# ------------------------------------------------------------------------------------------------ starting again


async def _a_server_that_died(store: Store, clock: Clock, *matches: StoredMatch) -> None:
    """It had opened these matches, and A was there in each."""
    died = Matches(store, only(Heuristic()), "dead", clock, computer_pace_ms=0)
    await died.start()
    for match in matches:
        display = await died.connect(match.id, match.players.A)
        await _in_turn(display, "1W")
    await died.say_goodbye()
    for task in died._tasks:
        task.cancel()
    await asyncio.gather(*died._tasks, return_exceptions=True)
    await store.close()


async def test_time_without_a_server_is_given_back_to_the_last_match_taken_up(
    store: Store, other_node: Store, clock: Clock, often: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """§8.5: taking up takes time as well; nobody pays for it, whichever match comes first."""
    stored = [await an_open_match(store, clock) for _ in range(12)]
    await _a_server_that_died(store, clock, *stored)
    died_at, load = clock(), other_node.matches.load
    rows = {match.id: await other_node.matches.events(match.id) for match in stored}
    clock.at += 3_600_000

    async def slowly(match_id: str) -> StoredMatch | None:
        clock.at += 700
        return await load(match_id)

    monkeypatch.setattr(other_node.matches, "load", slowly)
    matches = Matches(other_node, only(Heuristic()), "new", clock, computer_pace_ms=0)
    await matches.start()
    for match in stored:
        opened_at = rows[match.id][-1].at
        since = max(row.at for row in rows[match.id])
        given = (await other_node.matches.events(match.id, rows[match.id][-1].version))[0]
        (back,) = (event for event in given.events if isinstance(event, TimeGivenBack))
        assert given.at >= died_at + 3_600_000 + 12 * 700, "all are read before the first is written"
        assert back.ms >= given.at - max(since, died_at)
        view = await matches.view(match.id, None)
        assert view is not None
        assert view.shown_at is not None
        assert view.shown_at >= opened_at + back.ms
        assert view.seats.A.bank_ms == QUICK_RULES.clock.bank_ms
    await matches.close()


async def test_a_match_that_cannot_be_read_harms_no_other(
    store: Store, other_node: Store, clock: Clock, often: None
) -> None:
    """Whether it comes first or last: at the start of a server, when time runs out, when a server has died."""
    names = ("aaaaaaaaaaaa", "mmmmmmmmmmmm", "zzzzzzzzzzzz")
    stored = [await a_playing_match(store, ruleset=QUICK_RULES, id=name) for name in names]
    clock.at += 20_000
    await _a_server_that_died(store, clock, *stored)
    for name in (names[0], names[2]):
        version = len(await other_node.matches.events(name))
        await other_node._database.write(
            lambda connection, name=name, version=version: connection.exec_driver_sql(
                f"UPDATE journal SET format = 99 WHERE match_id = '{name}' AND version = {version}"
            )
        )
    clock.at += 60_000
    matches = Matches(other_node, only(Heuristic()), "new", clock, computer_pace_ms=0)
    await matches.start()
    assert matches.is_serving
    await _until(lambda: _is_away(matches, names[1]))
    assert await connected(other_node) == set()
    clock.at += 10_000_000
    await _until(lambda: _is_over(other_node, names[1]))
    for name in (names[0], names[2]):
        assert not await _is_over(other_node, name)
        with pytest.raises(Unreadable):
            await matches.view(name, None)
    await matches.close()


async def _is_away(matches: Matches, match_id: str) -> bool:
    return not await _connected(matches, match_id, Seat.A)

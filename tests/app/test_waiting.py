"""Matches that wait: for how long, and what is said of one that has waited too long."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import pytest_asyncio

from app.service.errors import NotWaiting
from app.service.lobby import Lobby
from app.service.matches import Matches
from app.store import Store
from app.store.matches import NotWaiting as StoreNotWaiting
from app.store.matches import StoredMatch
from engine.bot import Heuristic
from engine.turn import Seat
from tests.support.computers import only
from tests.support.rooms import Clock
from tests.support.stores import NOON, a_new_match, a_playing_match, two_players

MINUTE = 60_000
HALF_AN_HOUR, DAY = 30 * MINUTE, 24 * 60 * MINUTE


# --------------------------------------------------------------------------------------------------- as it is stored


async def a_waiting_match(store: Store, **changes: object) -> StoredMatch:
    players = await two_players(store)
    return await store.matches.create(
        a_new_match(players.A, **{"expires_at": NOON + HALF_AN_HOUR, **changes})
    )


async def state_of(store: Store, match: StoredMatch) -> tuple[str, str | None]:
    found = await store.matches.load(match.id)
    assert found is not None
    return found.state, found.cancelled


@pytest.mark.parametrize(
    ("after_ms", "expires"),
    [
        pytest.param(HALF_AN_HOUR - 1, False, id="a millisecond before"),
        pytest.param(HALF_AN_HOUR, True, id="to the millisecond"),
        pytest.param(DAY, True, id="long after"),
    ],
)
async def test_a_match_waits_until_its_time_is_over(store: Store, after_ms: int, expires: bool) -> None:
    match, now = await a_waiting_match(store), NOON + after_ms
    assert await store.matches.expire(now, HALF_AN_HOUR) == ((match.id,) if expires else ())
    assert await state_of(store, match) == (("cancelled", "expired") if expires else ("waiting", None))
    assert await store.matches.expire(now, HALF_AN_HOUR) == (), "once"
    if expires:
        found = await store.matches.load(match.id)
        assert found is not None
        assert found.finished_at == now
        with pytest.raises(StoreNotWaiting):
            await store.matches.join(match.id, Seat.B, match.maker, now)


async def test_a_match_that_its_maker_has_open_goes_on_waiting(store: Store) -> None:
    match = await a_waiting_match(store)
    await store.nodes.join("one", NOON)
    await store.nodes.seat_connected(match.id, Seat.A, "one")
    for minutes in range(0, 200, 10):
        assert await store.matches.expire(NOON + minutes * MINUTE, HALF_AN_HOUR) == ()
    await store.nodes.seat_disconnected(match.id, Seat.A, "one")
    last = NOON + 190 * MINUTE
    assert await store.matches.expire(last + 14 * MINUTE, HALF_AN_HOUR) == (), "half of the time at least"
    assert await store.matches.expire(last + HALF_AN_HOUR, HALF_AN_HOUR) == (match.id,)


async def test_to_be_seen_makes_it_wait_longer_and_never_shorter(store: Store) -> None:
    match = await a_waiting_match(store, expires_at=NOON + DAY)
    await store.matches.seen(match.id, NOON + HALF_AN_HOUR)
    assert await store.matches.expire(NOON + DAY - 1, HALF_AN_HOUR) == ()
    await store.matches.seen(match.id, NOON + DAY + HALF_AN_HOUR)
    assert await store.matches.expire(NOON + DAY, HALF_AN_HOUR) == ()
    assert await store.matches.expire(NOON + DAY + HALF_AN_HOUR, HALF_AN_HOUR) == (match.id,)


async def test_only_what_waits_expires(store: Store) -> None:
    playing = await a_playing_match(store)
    waiting = await a_waiting_match(store)
    joined = await store.matches.join(waiting.id, Seat.B, playing.maker, NOON)
    deadline = joined.deadline
    await store.matches.seen(joined.id, NOON + 10 * DAY)
    assert await store.matches.expire(NOON + 9 * DAY, HALF_AN_HOUR) == ()
    found = await store.matches.load(joined.id)
    assert found is not None
    assert (found.state, found.deadline) == ("playing", deadline)


async def test_why_it_was_cancelled_is_kept(store: Store) -> None:
    match = await a_waiting_match(store)
    await store.matches.cancel(match.id, match.maker, NOON)
    assert await state_of(store, match) == ("cancelled", "maker")
    assert await store.matches.expire(NOON + DAY, HALF_AN_HOUR) == ()
    assert await state_of(store, match) == ("cancelled", "maker")


# ---------------------------------------------------------------------------------------------------- as it is served


@dataclass
class Served:
    """Lobby and matches of one server, at a time that is set."""

    lobby: Lobby
    matches: Matches
    clock: Clock
    anna: str
    boris: str

    async def look(self, minutes: float) -> None:
        """Some time passes, with the server looking every few minutes."""
        end = self.clock.at + int(minutes * MINUTE)
        while self.clock.at < end:
            self.clock.at = min(end, self.clock.at + 5 * MINUTE)
            await self.matches._expire()


@pytest_asyncio.fixture
async def served(store: Store) -> Served:
    clock = Clock()
    matches = Matches(store, only(Heuristic()), "one", clock, unseen_ms=HALF_AN_HOUR)
    await store.nodes.join("one", clock.at)
    lobby = Lobby(store, matches, b"key", clock, link_ms=DAY, unseen_ms=HALF_AN_HOUR)
    players = await two_players(store)
    return Served(lobby, matches, clock, players.A, players.B)


async def test_an_open_match_waits_half_an_hour_after_its_maker_was_last_there(served: Served) -> None:
    made = await served.lobby.create(served.anna, "objective", {}, "anyone")
    await served.look(29)
    display = await served.matches.connect(made.id, served.anna)
    await served.look(300)
    await served.matches.disconnect(display)
    await served.look(29)
    assert (await served.lobby.info(made.id, None)).state == "waiting"
    await served.look(1)
    info = await served.lobby.info(made.id, None)
    assert (info.state, info.cancelled) == ("cancelled", "expired")
    assert (await served.lobby.lobby(served.boris)).waiting == []
    with pytest.raises(NotWaiting):
        await served.lobby.join_public(made.id, served.boris)


async def test_whoever_looks_at_the_home_page_is_there(served: Served) -> None:
    made = await served.lobby.create(served.anna, "objective", {}, "anyone")
    for _ in range(20):
        await served.look(20)
        assert [info.id for info in (await served.lobby.lobby(served.anna)).mine] == [made.id]
        await served.lobby.lobby(served.boris)  # others do not count
    await served.look(15)
    await served.lobby.lobby(served.boris)
    await served.look(15)
    assert (await served.lobby.info(made.id, None)).cancelled == "expired"


async def test_an_invitation_waits_a_day_whoever_is_there(served: Served) -> None:
    made = await served.lobby.create(served.anna, "objective", {}, "link")
    await served.look(24 * 60 - 1)
    assert (await served.lobby.info(made.id, None)).state == "waiting"
    await served.look(1)
    assert made.code is not None
    info = await served.lobby.invited(made.code, served.boris)
    assert (info.state, info.cancelled) == ("cancelled", "expired")
    with pytest.raises(NotWaiting):
        await served.lobby.join_by_code(made.code, served.boris)


async def test_who_watches_it_wait_is_told(served: Served) -> None:
    made = await served.lobby.create(served.anna, "objective", {}, "anyone")
    display = await served.matches.connect(made.id, served.boris)
    await display.next_frame()
    await served.look(30)
    frame = await display.next_frame()
    assert frame.info is not None  # type: ignore[union-attr]
    assert (frame.info.state, frame.info.cancelled) == ("cancelled", "expired")  # type: ignore[union-attr]


async def test_a_match_that_somebody_has_joined_waits_no_longer(served: Served) -> None:
    made = await served.lobby.create(served.anna, "objective", {}, "anyone")
    await served.lobby.join_public(made.id, served.boris)
    await served.look(60)
    assert (await served.lobby.info(made.id, None)).state in ("playing", "over")

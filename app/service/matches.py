"""Live matches: each has a room with a lock, its displays and its next deadline.

Every use is the same story: lock, decide, store, apply, show. A display is told nothing that is not committed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2s
from itertools import count
from typing import Any
from weakref import WeakValueDictionary
from zlib import crc32

from app.logs import apart
from app.service.computers import Computers
from app.service.displays import Accepted, Display, Refused
from app.service.downloads import PositionIds, ids_of, record_for
from app.service.errors import AppError, MatchStillRuns, NoSuchMatch, NotYourSeat, RoundIsOpen, ShuttingDown
from app.service.info import Info, PlayerInfo, info_of, players_of
from app.store import Store
from app.store.accounts import Link
from app.store.codec import Unreadable
from app.store.database import CommandSeen, VersionTaken
from app.store.matches import StoredMatch
from app.store.results import Finish
from engine.analysis import Played
from engine.errors import AlreadyPlayed, IllegalPlay, MatchIsOver, NotStarted, RuleError, StaleTurn
from engine.match import (
    AcceptDraw,
    Command,
    CommitSeed,
    Event,
    GiveBack,
    Leave,
    MakePlay,
    Match,
    OfferDraw,
    PhaseOpened,
    PlayMade,
    Resign,
    Return,
    RevealSeed,
    Tick,
    awaited_computers,
    next_deadline,
    replay,
    unfold,
)
from engine.plays import Hop
from engine.records.objective.record import Record
from engine.scoring import Outcome, Score, leads_for_A
from engine.turn import SEATS, Games, Phase, Seat, Turn
from engine.variant import VARIANTS
from engine.view import NO_DRAFTS, Drafts, PhaseView, View, boards_of, phases_of, view_for

log = logging.getLogger(__name__)

HEARTBEAT_S = 1.0
PING_EVERY, COMPARE_EVERY = 5, 5  # heartbeats
OVERDUE_MS = 1_500  # a deadline that nobody has acted on for so long is anybody's
SILENCE_MS = 3_000  # a database that has not answered for so long is away
COMPUTER_RETRY_S = 1.0
COMPUTER_PATIENCE_MS = 3_000  # a computer that owes a play for so long is anybody's who has it
WAITING_EVERY = 10  # heartbeats
INFO_PATIENCE_S = 1.0  # the end of a match is shown without the ratings rather than later
_RENAMED_IN = 100  # matches at most, the newest, whose displays hear of a new name at once

Wish = Callable[[int], Command]  # a command, once the time is known
Moves = tuple[tuple[int, int], ...]  # from, to
_Views = dict[Seat | None, View | None]


@dataclass(eq=False)
class _Room:
    """A match in memory: a cache of the stored one, with a lock. Private to this module."""

    stored: StoredMatch
    players: dict[str, PlayerInfo]
    match: Match | None = None  # None while the match waits for a player
    version: int = 0
    stale: bool = False  # the outcome of a write is not known: read again before anything else
    stale_info: bool = False  # what is around the match could not be read
    last_at: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    displays: list[Display] = field(default_factory=list)  # in the order in which they came
    drafts: Drafts = NO_DRAFTS
    turn_began: float = 0.0  # monotonic: round trips of earlier turns do not count in this one
    round_trips: dict[Seat, int] = field(default_factory=dict)
    timer: asyncio.TimerHandle | None = None
    users: int = 0  # who is doing something with it just now
    thinking: set[tuple[Seat, Turn]] = field(default_factory=set)  # computers at work
    computer_missing: bool = False  # no server has the computer that sits here

    def foresee(self, views: _Views, after: Match, drafts: Drafts, mover: Seat | None) -> None:
        """Prepares what the displays of all but the mover will be shown once this is stored. Nothing of it is theirs
        before.
        """
        for display in self.all_but(mover):
            if display.seat not in views:
                views[display.seat] = self._view(after, display.seat, drafts)

    def show(self, displays: Sequence[Display] | None = None, views: _Views | None = None) -> None:
        """Each of these displays, or of all, gets the view of its own seat, and only if it differs from its last one.

        `views` are those that are known already.
        """
        views = {} if views is None else views
        for display in self.displays if displays is None else displays:
            if display.seat not in views:
                views[display.seat] = self.view(display.seat) if self.match else None
            display.show(views[display.seat])

    def all_but(self, seat: Seat | None) -> list[Display]:
        """The displays of everybody else; of everybody, if it is nobody's seat."""
        return [one for one in self.displays if seat is None or one.seat is not seat]

    def of(self, seat: Seat) -> list[Display]:
        """The displays of one player."""
        return [one for one in self.displays if one.seat is seat]

    def view(self, seat: Seat | None) -> View:
        """What a display of this seat may know. Raises RoundIsOpen for a spectator of a board whose round is open."""
        assert self.match is not None
        if seat is None:
            self.require_open_to_all()
        return self._view(self.match, seat, self.drafts)

    def _view(self, match: Match, seat: Seat | None, drafts: Drafts) -> View:
        return view_for(match, seat, drafts, round_closed=not self.stored.secret)

    def require_open_to_all(self) -> None:
        """Raises RoundIsOpen while nobody but its player may see anything of this match (§5.4)."""
        if self.stored.secret:
            raise RoundIsOpen

    def player(self, seat: Seat) -> PlayerInfo | None:
        return self.players.get(self.stored.players[seat] or "")

    def has_display(self, seat: Seat) -> bool:
        return any(display.seat is seat for display in self.displays)

    def info(self, seat: Seat | None) -> Info:
        return info_of(self.stored, self.players, seat, computer_missing=self.computer_missing)

    def show_info(self) -> None:
        for display in self.displays:
            display.show_info(self.info(display.seat))


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a match of a competition is, for the services that run it; never for a display."""

    id: str
    competition: str
    dice_id: str
    turn: Turn | None  # the newest that has opened
    waits_for: Turn | None  # in step: the one that may open
    is_hashed: bool  # in step: the entrant has committed, or zeros stand for him
    waits_for_hashes: bool  # and has not been told yet that all have
    seed: str | None  # in step: what the entrant showed, or zeros in its place
    is_combined: bool
    came: frozenset[Seat]  # who has ever had a display
    score: Score | None


@dataclass(frozen=True, slots=True)
class RoundEnd:
    """A running match at the end of its last finished round: which, what both leads come to in points for A, what was
    played until then; never for a display.
    """

    round: int
    formula_for_A: int
    played: Played


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a match is that has begun: its finished rounds, and until when (UTC ms) an arbiter's pause lasts.

    Nothing of the phase that is open (§5.4).
    """

    state: str  # playing, pause-ordered (from the end of the phase), paused, over
    finished_rounds: int
    paused_until: int | None


@dataclass(frozen=True, slots=True)
class HistoryView:
    """The finished phases of a match, for the replay."""

    info: Info
    view: View
    dice_id: str  # what stands for the match in the text of its dice (§9.2)
    start: Any
    phases: tuple[PhaseView, ...]
    ids: (
        tuple[Games[PositionIds], ...] | None
    )  # of the start and after each phase; None: a game that has none


class Matches:
    """All matches that this node knows of."""

    def __init__(
        self,
        store: Store,
        computers: Computers,
        node: str,
        now: Callable[[], int],
        *,
        computer_pace_ms: int = 900,
        unseen_ms: int = 1_800_000,
    ) -> None:
        """`unseen_ms`: a match waits for so long after its maker was last there."""
        self._store = store
        self.computers = computers
        self._node = node
        self._now = now
        self._pace_ms = computer_pace_ms
        self._unseen_ms = unseen_ms
        self._rooms: dict[str, _Room] = {}
        self._loading: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._tasks: set[asyncio.Task[None]] = set()
        self._numbers = count()
        self._serving = False
        self._closing = False
        self._held: dict[str, _Room] = {}
        self.on_progress: Callable[[Progress], None] | None = (
            None  # of matches of competitions, here in memory
        )
        self._answered = 0.0  # monotonic: when the database was last asked whether it is there, and was
        self._asking = asyncio.Lock()

    # ------------------------------------------------------------------------------------------- life of the node

    async def start(self) -> None:
        """Take part. After a time in which no server was there, all running matches are taken up at once, and nobody
        pays for that time (§8.5).
        """
        down_since = await self._store.nodes.join(self._node, self._now(), self.computers.here)
        self.computers.elsewhere = await self._store.nodes.computers(self._node)
        await self._store.notices.listen(
            self._node, self._changed_elsewhere, self._drafted_elsewhere, self._compare
        )
        if down_since is not None:
            await self._take_up(await self._store.matches.unfinished_ids(), down_since)
        await self._sweep()
        self._answered = time.monotonic()
        self._spawn(self._beat())
        self._spawn(self._watch())
        self._serving = True

    @property
    def is_serving(self) -> bool:
        """Whether this node has taken up the matches that it found running."""
        return self._serving

    @property
    def is_closing(self) -> bool:
        """Whether this node is sending its displays away."""
        return self._closing

    async def _take_up(self, match_ids: Sequence[str], down_since: int) -> None:
        """All of them are read before the first is given its time back, so that no reading is on the players' time;
        then they are written together. One that nobody can read is left alone; a database that fails is no start.
        """
        async with contextlib.AsyncExitStack() as kept:
            rooms = []
            for match_id in match_ids:
                try:
                    rooms.append(await kept.enter_async_context(self._using(match_id)))
                except Unreadable:
                    log.exception("match %s cannot be read", match_id)
            await asyncio.gather(*(self._give_back(room, down_since) for room in rooms))

    async def _give_back(self, room: _Room, down_since: int) -> None:
        async with room.lock:
            await self._give_back_since(room, down_since)
            self._look_ahead(room)

    async def _give_back_since(self, room: _Room, since: int) -> None:
        """The room's lock is held. What was written meanwhile was on the players' time, by whichever server."""
        if room.match is not None:
            await self._do(room, lambda at: GiveBack(max(0, at - max(since, room.last_at)), at))

    def _silent_since(self) -> int | None:
        """When the database answered last (ms), if it is away or was until just now."""
        silence_ms = int((time.monotonic() - self._answered) * 1000)
        return self._now() - silence_ms if self._serving and silence_ms > SILENCE_MS else None

    async def _reach_database(self) -> None:
        """Say that this node lives, and find out whether the database does.

        Nobody pays for a time in which it did not answer (§8.5), and what fell due in it waits for that.
        """
        asked = time.monotonic()
        async with self._asking:
            if self._answered >= asked:
                return
            if any(room.stored.state == "playing" for room in self._rooms.values()):
                await self._store.nodes.beat(self._node, self._now())
            else:
                await self._store.matches.due(0, 1)
            since = self._silent_since()
            if since is not None:
                overdue = await self._store.matches.due(self._now() - OVERDUE_MS, 10_000)
                await self._take_up(list(dict.fromkeys([*self._rooms, *overdue])), since)
            self._answered = time.monotonic()

    async def _need_database(self) -> None:
        """A flag is not decided on where it could not be stored: a beat that is late is waited for."""
        if time.monotonic() - self._answered > 1.5 * HEARTBEAT_S:
            await self._reach_database()

    async def _beat(self) -> None:
        """Once a second, and not in the moment in which the watch looks around."""
        await asyncio.sleep(HEARTBEAT_S / 2)
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            try:
                await self._reach_database()
            except Exception:
                log.exception("the database could not be reached")

    @staticmethod
    @contextlib.contextmanager
    def _unharmed(match_id: str) -> Iterator[None]:
        """What is wrong with one match is logged, and the others go on."""
        try:
            yield
        except Exception:
            log.exception("match %s could not be looked after", match_id)

    async def say_goodbye(self) -> None:
        """Send the displays away to come back. What came from them before is done and answered first; what comes later
        is not done.
        """
        self._closing = True

        async def leave(room: _Room) -> None:
            if room.timer:
                room.timer.cancel()
            async with room.lock:
                for display in room.displays:
                    display.close("restart")

        await asyncio.gather(*map(leave, list(self._rooms.values())))

    async def close(self) -> None:
        """Let what is in flight finish, and send the browsers away to come back."""
        await self.say_goodbye()
        await self._store.notices.stop()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._store.nodes.leave(self._node, self._now())

    def require_open(self) -> None:
        """Raises ShuttingDown once the node is closing."""
        if self._closing:
            raise ShuttingDown

    async def _watch(self) -> None:
        """Once a second: look after what no node looks after. What concerns everybody is done in turn, a part in every
        beat, for all at once would hold up plays.
        """
        beats = 0
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            beats += 1
            try:
                await self._sweep()
                await self._take_overdue()
                await self._lend_computers()
                await self._compare_part(beats)
                if beats % COMPARE_EVERY == 0:
                    await self._look_for_computers()
                    await self.check_opened()
                if beats % WAITING_EVERY == 0:
                    await self._expire()
            except Exception:
                log.exception("the watch was disturbed; it goes on")
            self._ping(beats)

    async def _compare_part(self, beats: int) -> None:
        """What is in memory here is compared with what is stored, a part at a time."""
        part = self._part(beats)
        await self._compare_versions(part)
        await self._compare_presence(part)

    def _part(self, beats: int) -> dict[str, _Room]:
        """The rooms whose turn it is to be compared with what is stored."""
        turn = beats % COMPARE_EVERY
        return {id_: room for id_, room in self._rooms.items() if crc32(id_.encode()) % COMPARE_EVERY == turn}

    def _ping(self, beats: int) -> None:
        """Views ask for a pong too: only where none has just been asked for is anything sent. A page hears something
        every ten seconds at least, and knows by it that its line carries.
        """
        for room in self._rooms.values():
            for display in room.displays:
                if display.number % PING_EVERY == beats % PING_EVERY:
                    display.ping(unless_within_s=PING_EVERY * HEARTBEAT_S)

    async def _sweep(self) -> None:
        """Who was connected to a server that died is connected no more (§8.3)."""
        for match_id, seat in await self._store.nodes.sweep(self._node):
            with self._unharmed(match_id):
                async with self._using(match_id) as room, room.lock:
                    await self._say_gone(room, seat)

    async def _take_overdue(self) -> None:
        """Matches whose time has come while no server had them in memory."""
        await self._need_database()
        for match_id in await self._store.matches.due(self._now() - OVERDUE_MS, 100):
            with self._unharmed(match_id):
                async with self._using(match_id) as room, room.lock:
                    if room.match is not None:
                        await self._catch_up(room)
                        await self._carry_out(room, Tick)
                        self._look_ahead(room)

    async def _expire(self) -> None:
        """Matches that have waited too long wait no longer."""
        for match_id in await self._store.matches.expire(self._now(), self._unseen_ms):
            log.info("match %s has waited too long", match_id)
            with self._unharmed(match_id):
                await self.refresh(match_id)

    # -------------------------------------------------------------------------------------------------- computers

    async def _lend_computers(self) -> None:
        """Plays that a computer of this server has owed for some time: the server that has the match in memory lacks
        it, or is gone. Of several servers that play for it, one is stored.
        """
        since = self._now() - COMPUTER_PATIENCE_MS
        for match_id in await self._store.matches.awaiting(self.computers.here, since, 100):
            here = self._rooms.get(match_id)
            if here is not None and here.thinking:
                continue
            with self._unharmed(match_id):
                async with self._using(match_id) as room, room.lock:
                    if room.match is not None:
                        await self._catch_up(room)
                        self._look_ahead(room)

    async def _look_for_computers(self) -> None:
        """A computer that no server has is away, as a player is without a display; the match is settled by §8.3
        unless a server comes that has it.
        """
        self.computers.elsewhere = await self._store.nodes.computers(self._node)
        for room in [room for room in self._rooms.values() if room.stored.computers]:
            with self._unharmed(room.stored.id):
                async with room.lock:
                    await self._note_missing(room)

    async def _note_missing(self, room: _Room) -> None:
        missing = self.computers.is_missing_at(room.stored, room.players)
        if missing is not room.computer_missing:
            room.computer_missing = missing
            room.show_info()
        if not missing or room.match is None:
            return
        for seat in awaited_computers(room.match):
            is_late = self._now() > room.match.shown_at + COMPUTER_PATIENCE_MS
            if is_late and self.computers.is_missing(room.player(seat)):
                await self._carry_out(room, lambda at, seat=seat: Leave(seat, at))  # type: ignore[misc]

    # ---------------------------------------------------------------------------------------------- other servers

    def _changed_elsewhere(self, match_id: str, version: int | None) -> None:
        room = self._rooms.get(match_id)
        if room is not None and (version is None or version > room.version):
            self._spawn(self._follow(room, info_too=version is None or room.match is None), room)

    def _drafted_elsewhere(self, match_id: str, seat: Seat, turn: Turn, hops: tuple[Hop, ...]) -> None:
        room = self._rooms.get(match_id)
        if room is not None and room.match is not None and room.match.turn == turn and room.match.owes(seat):
            room.drafts = room.drafts.with_(seat, hops)
            room.show()

    def _compare(self) -> None:
        """Notices may have been lost: look at every room that somebody sees."""
        for room in list(self._rooms.values()):
            self._spawn(self._follow(room, info_too=True), room)

    async def _compare_versions(self, rooms: dict[str, _Room] | None = None) -> None:
        """Notices are hints; the stored version decides whether one was missed."""
        rooms = dict(self._rooms) if rooms is None else rooms
        for match_id, version in (await self._store.matches.versions(list(rooms))).items():
            room = rooms[match_id]
            if version > room.version or room.stale or room.stale_info:
                with self._unharmed(match_id):
                    await self._follow(room, info_too=True)

    async def _compare_presence(self, rooms: dict[str, _Room]) -> None:
        """Who has gone and is still noted as connected, or the other way round.

        The database, or the server that knew it, was lost then.
        """
        noted = await self._store.nodes.connected(list(rooms))
        for match_id, room in rooms.items():
            for seat in SEATS:
                at, match = noted.get((match_id, seat), frozenset()), room.match
                is_here = self._node in at and not room.has_display(seat)
                is_there = match is not None and match.presence[seat].connected
                is_nowhere = not at and is_there and match is not None and seat not in match.computers
                if not (is_here or is_nowhere or (room.has_display(seat) and not is_there)):
                    continue
                with self._unharmed(match_id):
                    async with room.lock:
                        if is_here or is_nowhere:
                            await self._say_gone(room, seat)
                        await self._say_here(room, seat)

    async def _follow(self, room: _Room, *, info_too: bool) -> None:
        async with room.lock:
            await self._catch_up(room)
            if info_too:
                await self._read_info(room)
                room.show_info()
            room.show()
        self._let_go(room)

    async def _catch_up(self, room: _Room) -> None:
        """Take in what another server has stored since."""
        if room.match is None or room.stale:
            await self._read_again(room)
        else:
            await self._take_in(room)
        for seat in SEATS:
            await self._say_here(room, seat)

    async def _say_here(self, room: _Room, seat: Seat) -> None:
        """Whoever has a display here is connected, whatever another server thought."""
        match = room.match
        if room.has_display(seat) and match and match.score is None and not match.presence[seat].connected:
            await self._carry_out(room, lambda at: Return(seat, at))

    async def _take_in(self, room: _Room) -> bool:
        """Apply the rows that others have written; whether there were any."""
        rows = await self._store.matches.events(room.stored.id, room.version)
        for row in rows:
            assert room.match is not None
            room.version, room.last_at = row.version, max(room.last_at, row.at)
            await self._happened(room, replay(room.match, row.events), row.events)
        return bool(rows)

    def _spawn(self, work: Coroutine[Any, Any, None], room: _Room | None = None) -> None:
        context = apart(match=room.stored.id) if room else apart()
        task = asyncio.get_running_loop().create_task(work, context=context)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a background task failed", exc_info=task.exception())

    # ------------------------------------------------------------------------------------------------- displays

    async def connect(
        self,
        match_id: str,
        account_id: str | None,
        *,
        watch: bool = False,
        token: bytes | None = None,
        link: Link | None = None,
    ) -> Display:
        """A new display for this account's seat, or a spectator's; a bot's is open while its token is valid, that of
        who came by a personal link while this is.

        Raises NoSuchMatch, ShuttingDown.
        """
        self.require_open()
        seats: dict[Seat, Link | None] = {}
        if account_id is not None and not watch:
            seats = await self._store.matches.seats_of(match_id, account_id)
        seat = min(seats, default=None)
        links = {one for one in (link, seats[seat] if seat else None) if one is not None}
        display = Display(match_id, seat, next(self._numbers), token, links)
        async with self._using(match_id) as room, room.lock:
            self.require_open()  # it may have begun to close while this waited
            if seat is None:
                room.require_open_to_all()
            room.displays.append(display)
            try:
                await self._send_away([display])  # what it hangs on may be void since that was looked up
                if display.is_closed:
                    return display
                if seat is not None:
                    await self._store.nodes.seat_connected(match_id, seat, self._node)
                if seat is not None and room.match is not None:
                    await self._carry_out(room, lambda at: Return(seat, at))
            except BaseException:
                room.displays.remove(display)  # nobody will say that it has gone
                raise
            display.show_info(room.info(seat))
            room.show()
        return display

    async def check_opened(self) -> None:
        """Sends the displays away that hang on a token or a personal link which is no longer valid."""
        await self._send_away([one for room in self._rooms.values() for one in room.displays])

    async def _send_away(self, displays: Sequence[Display]) -> None:
        """Those of these that hang on what is no longer valid."""
        tokens = {one.token for one in displays if one.token is not None}
        links = {link for one in displays for link in one.links}
        valid = await self._store.bots.valid(tokens) if tokens else frozenset()
        void = await self._store.accounts.void(links) if links else frozenset()
        for display in displays:
            is_revoked = display.token is not None and display.token not in valid
            if is_revoked or not void.isdisjoint(display.links):
                display.close("revoked")

    async def disconnect(self, display: Display) -> None:
        """The socket has gone. A disconnection is never a resignation (§8.3)."""
        room = self._rooms.get(display.match_id)
        if room is None or display not in room.displays:
            return
        room.users += 1
        try:
            async with room.lock:
                room.displays.remove(display)
                if display.seat is not None and not self._closing:
                    await self._say_gone(room, display.seat)
        finally:
            room.users -= 1
            self._let_go(room)

    async def _say_gone(self, room: _Room, seat: Seat) -> None:
        """A seat has no display here any longer, unless it has another one."""
        if not room.has_display(seat):
            gone = await self._store.nodes.seat_disconnected(room.stored.id, seat, self._node)
            if gone and room.match is not None:
                await self._carry_out(room, lambda at: Leave(seat, at))
            elif gone:
                await self._store.matches.seen(room.stored.id, self._now() + self._unseen_ms)

    def pong(self, display: Display, ping: int) -> bool:
        """A display has answered; the smallest round trip of this turn bounds the lag allowed for (§7.1).

        False for an answer to nothing.
        """
        measured = display.pong(ping)
        room = self._rooms.get(display.match_id)
        if measured is None:
            return False
        sent, took = measured
        if room is not None and display.seat is not None and sent >= room.turn_began:
            room.round_trips[display.seat] = min(took, room.round_trips.get(display.seat, took))
        return True

    # ------------------------------------------------------------------------------------- what a player can do

    async def play(self, display: Display, command_id: str, turn: Turn, moves: Moves) -> bool:
        """Make a play; answered on the display's own socket. Whether it was accepted, now for the first time."""
        seat = self._seat(display)
        hops = _hops(moves)

        def wish(at: int) -> Command:
            round_trip = self._rooms[display.match_id].round_trips.get(seat, 0)
            return MakePlay(seat, turn, hops, at, round_trip)

        return await self._serve(display, command_id, wish, "play", turn, *hops)

    async def resign(self, display: Display, command_id: str, turn: Turn, points: int) -> None:
        """Give up at the price that the player was shown (§8.1)."""
        seat = self._seat(display)
        await self._serve(
            display, command_id, lambda at: Resign(seat, turn, points, at), "resign", turn, points
        )

    async def offer_draw(self, display: Display, command_id: str, turn: Turn) -> None:
        """Offer a draw; it is delivered when the phase closes (§8.5)."""
        seat = self._seat(display)
        await self._serve(display, command_id, lambda at: OfferDraw(seat, turn, at), "offer", turn)

    async def accept_draw(self, display: Display, command_id: str, turn: Turn) -> None:
        """Accept the draw that was offered (§8.5)."""
        seat = self._seat(display)
        await self._serve(display, command_id, lambda at: AcceptDraw(seat, turn, at), "accept", turn)

    async def commit_seed(self, display: Display, command_id: str, hash_: str) -> None:
        """Commit to a client seed (§9.1)."""
        seat = self._seat(display)
        await self._serve(display, command_id, lambda at: CommitSeed(seat, hash_, at), "hash", hash_)

    async def reveal_seed(self, display: Display, command_id: str, seed: str) -> None:
        """Show a client seed (§9.1)."""
        seat = self._seat(display)
        await self._serve(display, command_id, lambda at: RevealSeed(seat, seed, at), "seed", seed)

    def draft(self, display: Display, turn: Turn, moves: Moves) -> None:
        """Note a half-made play: for the player's other tabs, and for an opponent who has played (§5.2).

        Raises NotStarted, StaleTurn, IllegalPlay for what is no path in the step graph.
        """
        seat = self._seat(display)
        hops = _hops(moves)
        room = self._rooms[display.match_id]
        match = room.match
        if match is None or match.turn is None or match.roll is None:
            raise NotStarted
        if match.turn != turn or not match.owes(seat):
            raise StaleTurn(str(turn), str(match.turn))
        graph = match.rules.step_graph(match.position_for(seat), match.roll)
        if graph.follow(hops) is None:
            raise IllegalPlay("The draft", str(match.roll), "not-a-play", "it leaves the legal plays")
        room.drafts = room.drafts.with_(seat, hops)
        room.show()
        self._store.notices.draft(room.stored.id, seat, turn, hops)

    @staticmethod
    def _seat(display: Display) -> Seat:
        if display.seat is None:
            raise NotYourSeat
        return display.seat

    async def _serve(self, display: Display, id_: str, wish: Wish, *said: object) -> bool:
        """Carries a message out and answers it. The same id with something else said is another message."""
        seat = self._seat(display)
        digest = blake2s(" ".join(map(str, said)).encode(), digest_size=6).hexdigest()
        room = self._rooms[display.match_id]
        arrived = self._now()  # nobody pays for what the server waits for (§7.1)
        async with room.lock:
            if display.is_closed:
                return False  # nothing is done that cannot be answered
            if room.match is None:
                raise NotStarted
            try:
                is_new = await self._carry_out(
                    room, wish, command_id=f"{seat.value}:{id_}:{digest}", arrived=arrived
                )
            except (RuleError, AppError) as error:
                log.debug("refused: %s", error.code)
                display.reply(Refused(id_, error))
                return False
            display.reply(Accepted(id_))
            return is_new

    # -------------------------------------------------------------------------------- lock, decide, store, apply

    async def _carry_out(
        self, room: _Room, wish: Wish, *, command_id: str | None = None, arrived: int | None = None
    ) -> bool:
        """Carry out a command; the room's lock is held. Raises RuleError, and nothing has happened.

        Its time is that of its arrival; without one it is what the server itself wants now.
        False where nothing was left to do: it came a second time, or causes nothing.
        """
        since = self._silent_since()
        if since is not None:  # first of all, or what fell due meanwhile would happen before the command
            await self._give_back_since(room, since)
        return await self._do(room, wish, command_id=command_id, arrived=arrived)

    async def _do(
        self, room: _Room, wish: Wish, *, command_id: str | None = None, arrived: int | None = None
    ) -> bool:
        """The story of every command."""
        while True:
            if room.stale:
                await self._read_again(room)
            assert room.match is not None
            at = max(self._now() if arrived is None else arrived, room.last_at)
            try:
                events, after = unfold(room.match, wish(at))
            except RuleError:
                if command_id and await self._store.matches.answer_of(room.stored.id, command_id) is not None:
                    return False  # it came a second time: answered as the first time
                raise
            if not events:
                return False
            views: _Views = {}
            drafts = NO_DRAFTS if _opens(events) else room.drafts
            mover = _mover(events)
            try:
                await self._store.journal.append(
                    room.stored.id,
                    after=room.version,
                    command_id=command_id,
                    at=at,
                    events=events,
                    deadline=next_deadline(after),
                    computer_since=after.shown_at if awaited_computers(after) else None,
                    finish=self._finish(room, after),
                    meanwhile=partial(room.foresee, views, after, drafts, mover),
                )
            except CommandSeen:
                room.stale = not await self._take_in(room)
                room.show()
                return False
            except VersionTaken:
                room.stale = not await self._take_in(room)
                continue
            except BaseException:
                room.stale = True
                raise
            room.version += 1
            room.last_at = at
            if drafts is not room.drafts and not _opens(events):
                views = {}  # a draft has come meanwhile
            await self._happened(room, after, events, views)
            return True

    @staticmethod
    def _finish(room: _Room, after: Match) -> Finish | None:
        if after.score is None:
            return None
        return Finish(after.score, room.stored.players)

    async def _happened(
        self, room: _Room, after: Match, events: tuple[Event, ...], views: _Views | None = None
    ) -> None:
        room.match = after
        if _opens(events):
            room.drafts = NO_DRAFTS
            room.turn_began = time.monotonic()
            room.round_trips.clear()
        if after.score is not None:
            await self._read_ratings(room)
        if self.on_progress is not None and room.stored.competition is not None:
            self.on_progress(_progress(room))
        mover = None if after.score is not None else _mover(events)  # an end is shown to all at once
        room.show(room.all_but(mover), views)
        try:
            if mover is not None:  # he knows what he did: the others come first
                await asyncio.sleep(0)
        finally:
            if mover is not None:
                room.show(room.of(mover))
            self._look_ahead(room)
            self._let_go(room)

    async def _read_again(self, room: _Room) -> None:
        """The stored match decides: another node, or a write whose outcome was not known, has been faster."""
        fresh = await self._read(room.stored.id)
        if (room.match and room.match.turn) != (fresh.match and fresh.match.turn):
            room.turn_began, room.round_trips = fresh.turn_began, fresh.round_trips
        room.stored, room.players, room.match = fresh.stored, fresh.players, fresh.match
        room.version, room.last_at, room.stale = fresh.version, max(room.last_at, fresh.last_at), False
        room.drafts = NO_DRAFTS
        if self.on_progress is not None and room.stored.competition is not None:
            self.on_progress(_progress(room))
        room.show_info()
        room.show()
        self._look_ahead(room)
        self._let_go(room)

    async def _read_ratings(self, room: _Room) -> None:
        """What the end of the match did; the end itself is shown at once if that cannot be read now."""
        try:
            async with asyncio.timeout(INFO_PATIENCE_S):
                await self._read_info(room)
        except Exception as wrong:
            room.stale_info = True
            slow = isinstance(wrong, TimeoutError)  # no fault: the database is busy, as when many matches end
            log.warning(
                "what is around the match could not be read; it will be: %r", wrong, exc_info=not slow
            )
        else:
            room.show_info()

    async def _read_info(self, room: _Room) -> None:
        stored = await self._store.matches.load(room.stored.id)
        assert stored is not None
        room.stored = stored
        room.players = await players_of(self._store, [stored], self._now())
        room.stale_info = False

    def _look_ahead(self, room: _Room) -> None:
        """Set the timer for what is due next, and put the computer to work where it has to play."""
        if room.timer:
            room.timer.cancel()
            room.timer = None
        if room.match is None or room.match.score is not None or self._closing:
            return
        deadline = next_deadline(room.match)
        if deadline is not None:
            delay = max(0.0, (deadline - self._now()) / 1000)
            loop = asyncio.get_running_loop()
            room.timer = loop.call_later(delay, lambda: self._spawn(self._tick(room), room))
        turn = room.match.turn
        for seat in awaited_computers(room.match):
            if turn and (seat, turn) not in room.thinking and self.computers.plays(room.player(seat)):
                room.thinking.add((seat, turn))
                self._spawn(self._think(room, seat, turn), room)

    async def _tick(self, room: _Room) -> None:
        await self._need_database()
        async with room.lock:
            if room.match is not None and room.match.score is None:
                await self._carry_out(room, Tick)
                self._look_ahead(room)
        self._let_go(room)

    async def _think(self, room: _Room, seat: Seat, turn: Turn) -> None:
        """The computer is given a view like any player, and plays like any player."""
        try:
            match, player = room.match, room.player(seat)
            if match is None or player is None or match.turn != turn or not match.owes(seat):
                return
            if not match.presence[seat].connected:  # no server had it until now
                async with room.lock:
                    await self._carry_out(room, lambda at: Return(seat, at))
            rests_at = match.shown_at + self._pace_ms
            hops = await self.computers.choose(match.id, player, view_for(match, seat))
            await asyncio.sleep(max(0, rests_at - self._now()) / 1000)
            async with room.lock:
                await self._carry_out(
                    room,
                    lambda at: MakePlay(seat, turn, hops, at),
                    command_id=f"{seat.value}:computer-{turn}",
                )
        except (MatchIsOver, StaleTurn, AlreadyPlayed):
            pass  # the match went on without it
        except Exception:  # it is asked again, but not at once and again and again
            log.exception("the computer failed at %s", turn)
            await asyncio.sleep(COMPUTER_RETRY_S)
            room.thinking.discard((seat, turn))
            self._look_ahead(room)
        finally:
            room.thinking.discard((seat, turn))
            self._let_go(room)

    # -------------------------------------------------------------------------------- what arbiters and servers want

    async def order(self, match_id: str, wish: Wish, *, command_id: str | None = None) -> bool:
        """Carry out what an arbiter, or the competition of a match, wants of it; whether anything came of it.

        Raises NoSuchMatch, NotStarted, RuleError.
        """
        async with self._using(match_id) as room, room.lock:
            if room.match is None:
                raise NotStarted
            return await self._carry_out(room, wish, command_id=command_id)

    async def hold(self, match_id: str) -> Progress:
        """Keep a match of a competition in memory until it is released, and hear of it by `on_progress`."""
        async with self._using(match_id) as room:
            if match_id not in self._held:
                self._held[match_id] = room
                room.users += 1
            return _progress(room)

    def release(self, match_id: str) -> None:
        """It need not stay in memory any more."""
        room = self._held.pop(match_id, None)
        if room is not None:
            room.users -= 1
            self._let_go(room)

    async def progress(self, match_id: str) -> Progress:
        """How far a match of a competition is. Raises NoSuchMatch."""
        async with self._using(match_id) as room, room.lock:
            if room.match is not None:
                await self._catch_up(room)
            return _progress(room)

    async def disclose(self, match_id: str) -> None:
        """The round of a board is closed, and that is stored: its displays, here and elsewhere, may know its dice."""
        await self.refresh(match_id)

    async def at_round_end(self, match_id: str) -> RoundEnd:
        """A running match as it stood at the end of the last finished round. Raises NoSuchMatch, NotStarted."""
        async with self._using(match_id) as room, room.lock:
            if room.match is not None:
                await self._catch_up(room)
            match = room.match
            if match is None or match.turn is None:
                raise NotStarted
            ended = sum(phase.turn.phase is Phase.K for phase in match.history)
            rules = match.ruleset
            finished = Played(
                VARIANTS[rules.variant],
                rules.opening_double_allowed,
                match.history[: 2 * ended],
                Outcome.FINISHED,
                None,
                None,
            )
            return RoundEnd(ended, leads_for_A(rules, match.round_end), finished)

    async def standing(self, match_id: str) -> Standing | None:
        """How far a match is; None before its first phase. Raises NoSuchMatch."""
        async with self._using(match_id) as room, room.lock:
            if room.match is not None:
                await self._catch_up(room)
            match = room.match
            if match is None or match.turn is None:
                return None
            ended = sum(phase.turn.phase is Phase.K for phase in match.history)
            if match.score is not None:
                return Standing("over", ended, None)
            if match.pause is not None:
                return Standing("paused", ended, match.pause.until)
            return Standing("playing" if match.pause_ordered is None else "pause-ordered", ended, None)

    # ---------------------------------------------------------------------------------------------- in and out

    async def begin(self, match_id: str) -> None:
        """Both seats are taken: the dice can be agreed on."""
        async with self._using(match_id) as room, room.lock:
            await self._read_again(room)
            for seat in SEATS:
                if room.has_display(seat):
                    await self._carry_out(room, lambda at, seat=seat: Return(seat, at))  # type: ignore[misc]
            room.show_info()
            room.show()
        await self._store.notices.changed(match_id)

    async def refresh(self, match_id: str) -> None:
        """Something around the match has changed: tell its displays, here and elsewhere."""
        await self._store.notices.changed(match_id)
        room = self._rooms.get(match_id)
        if room is None:
            return
        async with room.lock:
            await self._read_info(room)
            room.show_info()
            room.show()

    async def renamed(self, account_id: str) -> None:
        """A player has another name: tell the displays of the matches that he plays."""
        playing = await self._store.matches.of_account(account_id, ("waiting", "playing"), _RENAMED_IN)
        for stored in playing:
            await self.refresh(stored.id)

    async def view(self, match_id: str, seat: Seat | None) -> View | None:
        """What a display of this seat would show now; None while the match waits. Raises NoSuchMatch, RoundIsOpen."""
        async with self._using(match_id) as room:
            return room.view(seat) if room.match else None

    async def history(self, match_id: str, seat: Seat | None) -> HistoryView:
        """The finished phases, for the replay. Raises NoSuchMatch, NotStarted, RoundIsOpen."""
        async with self._using(match_id) as room:
            if room.match is None:
                raise NotStarted
            start = boards_of(room.stored.start().games)
            return HistoryView(
                room.info(seat),
                room.view(seat),
                room.stored.dice_id,
                start,
                phases_of(room.match),
                ids_of(room.stored.start().games, room.match),
            )

    async def download(self, match_id: str) -> HistoryView:
        """A finished match, with its seeds. Raises NoSuchMatch, MatchStillRuns, RoundIsOpen."""
        history = await self.history(match_id, None)
        if history.view.stage != "over":
            raise MatchStillRuns
        return history

    async def record(self, match_id: str) -> Record:
        """The record of a finished match, with its seeds.

        Raises NoSuchMatch, NotStarted, MatchStillRuns, RoundIsOpen.
        """
        async with self._using(match_id) as room:
            room.require_open_to_all()
            if room.match is None:
                raise NotStarted
            if room.match.score is None:
                raise MatchStillRuns
            return record_for(room.match, info_of(room.stored, room.players, None))

    @contextlib.asynccontextmanager
    async def _using(self, match_id: str) -> AsyncIterator[_Room]:
        """The room of a match, kept in memory for as long as it is used here. Raises NoSuchMatch."""
        loading = self._loading.get(match_id)
        if loading is None:
            self._loading[match_id] = loading = asyncio.Lock()
        async with loading:
            room = self._rooms.get(match_id)
            if room is None:
                self._rooms[match_id] = room = await self._read(match_id)
                if self._serving:  # before that nothing is due: the time without a server is given back first
                    self._look_ahead(room)
            room.users += 1
        try:
            yield room
        finally:
            room.users -= 1
            self._let_go(room)

    def _let_go(self, room: _Room) -> None:
        """A room that nobody uses and nothing is due in need not stay in memory."""
        is_over = room.match is not None and room.match.score is not None
        is_needed = room.users or room.displays or (room.stored.state == "playing" and not is_over)
        if not is_needed and self._rooms.get(room.stored.id) is room:
            if room.timer:
                room.timer.cancel()
            del self._rooms[room.stored.id]

    async def _read(self, match_id: str) -> _Room:
        stored = await self._store.matches.load(match_id)
        if stored is None:
            raise NoSuchMatch
        players = await players_of(self._store, [stored], self._now())
        if self.computers.is_missing_at(stored, players):  # a server that has it may have come just now
            self.computers.elsewhere = await self._store.nodes.computers(self._node)
        room = _Room(
            stored,
            players,
            turn_began=time.monotonic(),
            computer_missing=self.computers.is_missing_at(stored, players),
        )
        if stored.started_at is None:
            return room
        rows = await self._store.matches.events(match_id)
        room.match = replay(stored.start(), (event for row in rows for event in row.events))
        room.version = rows[-1].version if rows else 0
        room.last_at = rows[-1].at if rows else stored.started_at
        if room.match.score is not None and stored.state == "playing":  # it has ended in between
            return await self._read(match_id)
        return room


def _progress(room: _Room) -> Progress:
    stored, match = room.stored, room.match
    assert stored.competition is not None
    assert match is not None  # the seats of a competition's match are taken when it is made
    return Progress(
        stored.id,
        stored.competition,
        stored.dice_id,
        match.turn,
        match.waits_for,
        match.is_hashed,
        match.waits_for_hashes,
        match.client_seeds.A if match.has_seeds else None,
        match.shared_seed is not None,
        frozenset(seat for seat in SEATS if match.presence[seat].came),
        match.score,
    )


def _opens(events: tuple[Event, ...]) -> bool:
    """Whether a new roll came of them; half-made plays of the one before are no more."""
    return any(isinstance(event, PhaseOpened) for event in events)


def _mover(events: tuple[Event, ...]) -> Seat | None:
    """Who has played, if anybody has."""
    return next((event.seat for event in events if isinstance(event, PlayMade)), None)


def _hops(moves: Moves) -> tuple[Hop, ...]:
    return tuple(Hop(start, end) for start, end in moves)

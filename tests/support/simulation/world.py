"""Servers that crash and stop and start again, people who come and go, and one match among them: the run of a seed."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import hashlib
import logging
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from app.service.accounts import Accounts
from app.service.allowance import Allowance
from app.service.analysis import OFF, Analyses
from app.service.arbiter import Arbiter
from app.service.audit import Audit
from app.service.bots import Bots
from app.service.cards import Cards
from app.service.competitions import Competitions
from app.service.event_file import EventFiles
from app.service.health import Health
from app.service.lobby import Lobby
from app.service.matches import Matches
from app.service.organisers import Organisers
from app.service.pace import Pace
from app.service.readings import Readings
from app.store import Store
from app.store.database import NoAnswer
from app.store.matches import JournalRow, StoredMatch
from app.store.results import Difference
from app.store.seal import Seal
from app.store.tables import results
from app.web.deps import Services, Sessions
from app.web.messages import write_json
from engine.match import replay
from engine.plays import Hop
from engine.position import side
from engine.turn import Seat
from engine.variant import SHORT, VARIANTS
from engine.view import View
from tests.support.computers import only
from tests.support.server import first_way
from tests.support.simulation.checks import problems_of
from tests.support.simulation.disk import Crashed, Disk, Faults, SimulatedDatabase, Unreachable
from tests.support.simulation.loop import EPOCH_MS, Chance, SimulatedTask, VirtualLoop, all_chance_from
from tests.support.simulation.people import Answered, Browser, Habits, Player
from tests.support.simulation.wires import Line, Notices, Sent

SECRET = "a key for tests only"
IDLE_VOID_MS = 120_000  # here nobody waits a day
INJECTED = (Unreachable, NoAnswer, Crashed, TimeoutError)

_NODE: contextvars.ContextVar[Node | None] = contextvars.ContextVar("node", default=None)


Twist = tuple[str, str, str]  # `another play` or `no drafts`, whose, in which turn


class Confused(Unreachable):
    """The computer player failed. Injected."""


class Plain:
    """A computer that plays the first way it sees, and fails now and then."""

    name, version = "Plain", "1"

    def __init__(self, chance: Chance, wild: float) -> None:
        self._chance = chance
        self._wild = wild

    def choose(self, view: View) -> tuple[Hop, ...]:
        if self._wild and self._chance.once_in(30):
            raise Confused("injected")
        assert view.mine is not None
        steps: Any = view.mine.steps
        return tuple(Hop(*move) for move in first_way(steps))


class Node:
    """One server, from its start to its end; started again, it is another one."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.chance = Chance(world.seed, "node", name)
        self.skew_ms = self.chance.choice((0, 0, 3, -3)) if world.wild else 0
        self.dead = False
        self.serving = False
        self.stopping = False
        self.gone_at = float("inf")  # dead, or about to stop
        self.deaf_until = 0.0
        self.began_at = world.loop.time()
        self.lines: list[Line] = []
        self.tasks: dict[asyncio.Task[Any], None] = {}
        self.context = contextvars.Context()
        self.context.run(_NODE.set, self)
        self.faults = Faults(Chance(world.seed, "database", name), 0.0)
        self.database = SimulatedDatabase(
            world.disk, self, self.faults, lambda notice: world.notices.tell(name, notice)
        )
        store = Store(self.database, Seal(SECRET))
        computer = Plain(Chance(world.seed, "computer", name), world.wild)
        pace = Chance(world.seed, "pace").choice((0, 900))
        self.matches = Matches(store, only(computer), name, self.now, computer_pace_ms=pace)
        competitions = Competitions(store, self.matches.computers, self.now)
        analyses = Analyses(store, OFF, (), self.now)
        key = SECRET.encode()
        organisers = Organisers(store, competitions, key, self.now)
        self.services = Services(
            sessions=Sessions(key),
            accounts=Accounts(store, self.now),
            bots=Bots(store, self.now, self.matches),
            bot_pace=Pace(0, 1.0, world.loop.time),
            lobby=Lobby(store, self.matches, key, self.now),
            matches=self.matches,
            competitions=competitions,
            arbiter=Arbiter(store, competitions, self.matches),
            organisers=organisers,
            organisers_allowance=Allowance(600, 60, world.loop.time),
            event_files=EventFiles(
                store,
                competitions,
                self.matches,
                organisers,
                Audit(store, competitions),
                self.now,
                self._same_store,
            ),
            cards=Cards(self.matches, analyses),
            analyses=analyses,
            readings=Readings(),
            health=Health(store, self.matches),
            now=self.now,
            base_url=None,
        )
        self.app = SimpleNamespace(state=SimpleNamespace(services=self.services))

    async def _same_store(self) -> Store:
        return Store(self.database, Seal(SECRET))

    def now(self) -> int:
        return self.world.loop.now() + self.skew_ms

    def run(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Something that this server does."""
        return self.world.loop.create_task(work, context=self.context.copy())

    async def start(self) -> None:
        """Raises whatever came in its way; then it is dead."""
        try:
            await self.run(self.matches.start())
        except BaseException:
            self.crash()
            raise
        self.serving = True
        self.world.now_serving(self)

    def serve(self, line: Line) -> None:
        self.world.lines.append(line)
        self.lines = [other for other in self.lines if other.is_up]
        self.lines.append(line)
        self.run(line.serve()).add_done_callback(self._served)

    def _served(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and task.exception() is not None and not self.dead:
            self.world.noticed(task.exception(), "serving a socket")

    def crash(self) -> None:
        """Everything in memory is lost, at whatever point it was."""
        if self.dead:
            return
        self.dead, self.serving = True, False
        self.gone_at = min(self.gone_at, self.world.loop.time())
        loop = self.world.loop
        # The database notices a dead process at once, and before it can be started again.
        loop.call_later(self.chance.random() / 10, self.world.disk.alive.discard, self.name)
        for line in self.lines:
            line.break_(silent=self.chance.once_in(4))
        for task in list(self.tasks):
            task.cancel()
        self.world.now_gone(self)

    async def stop(self) -> None:
        """As a server is stopped: what is in flight is finished, and browsers are told to come back."""
        self.stopping = True
        self.gone_at = self.world.loop.time()
        if self.chance.once_in(2):
            for line in self.lines:
                line.break_(silent=False)
        try:
            await self.run(self.matches.close())
            self.serving = False
            self.world.now_away()
            await asyncio.sleep(0.5)
        except (*INJECTED, asyncio.CancelledError):
            pass
        self.crash()


class World:
    """One match and all around it."""

    def __init__(self, seed: int, twist: Twist | None = None) -> None:
        self.seed = seed
        self.twist = twist  # what is otherwise, of whom, and in which turn
        self.loop = VirtualLoop()
        self.loop.set_task_factory(self._task)
        self.loop.set_exception_handler(
            lambda _, context: self.noticed(context.get("exception"), str(context["message"]))
        )
        self.context = contextvars.Context()
        chance = self.chance = Chance(seed, "world")
        self.wild = chance.choice((0, 0.3, 1, 1, 3))
        self.disk = Disk(self.loop)
        outsider = SimpleNamespace(name="", dead=False)
        way = SimulatedDatabase(self.disk, outsider, Faults(Chance(0), 0), lambda _: None)
        self._store = Store(way, Seal(SECRET))
        self.notices = Notices(self, self.wild)
        self.nodes: list[Node] = []
        self.calm = False  # nothing bad happens any longer
        self.people: list[Browser] = []
        self.lines: list[Line] = []
        self.strikes: list[tuple[float, str]] = []  # when something bad was done, and what
        self.changes: list[tuple[float, str]] = []  # when servers came and went
        self.sent: list[Sent] = []  # every frame of every server
        self.answered: list[Answered] = []
        self.choices: list[
            tuple[float, str, str]
        ] = []  # when, who, turn: where another play could have been chosen
        self.drafted: list[tuple[float, str, str]] = []  # when, who, turn: where all drafts had been made
        self.polled: list[tuple[float, str]] = []  # what the spectator read over HTTP
        self.problems: list[str] = []  # what should never happen
        self.down: list[tuple[float, float]] = []  # when no server was there
        self._down_from: float | None = None
        self.started = 0
        self.ruleset = a_ruleset(Chance(seed, "ruleset"))
        self.preset = "training" if self.ruleset["clock"]["type"] == "none" else "objective"
        self.number = chance.choice((1, 2, 2))
        self.lasts_s = chance.choice((30, 60, 120, 200))
        self.match_id = ""
        self.stored: StoredMatch | None = None
        self.rows: tuple[JournalRow, ...] = ()
        self.differences: tuple[Difference, ...] = ()  # between stored and recomputed ratings

    def players(self) -> list[Player]:
        return [browser for browser in self.people if isinstance(browser, Player)]

    def is_undisturbed(self, who: str, turn: str) -> bool:
        """Whether this player sat at one page, and did that turn in one go."""
        pages = [player for player in self.players() if player.who == who]
        return len(pages) == 1 and pages[0].tries[turn] == 1

    def ms(self, at: float) -> int:
        """A time of the loop as Unix ms."""
        return EPOCH_MS + int(at * 1000)

    # ----------------------------------------------------------------------------------------------- what is noticed

    def was_troubled(self, at: float, before_s: float, *, without: str = "none of them") -> bool:
        """Whether something bad happened in the time before, other than crashes if they are left out."""
        times = [*(when for when, what in self.strikes if without not in what), *self.disk.trouble]
        times += [until for _, until in self.down if until < at]
        return any(at - before_s <= time <= at for time in times)

    def noticed(self, wrong: BaseException | None, where: str) -> None:
        """An exception that nobody handled; only what was injected may be one."""
        if not isinstance(wrong, INJECTED):
            self.problems.append(f"at {self.loop.time():.3f} s, {where}: {wrong!r}")

    def _task(self, loop: Any, work: Any, **more: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = SimulatedTask(work, loop=loop, **more)
        context = more.get("context")
        node = _NODE.get() if context is None else context.get(_NODE)
        if node is not None:
            node.tasks[task] = None
            task.add_done_callback(lambda task: node.tasks.pop(task, None))
            if node.dead:
                task.cancel()
        return task

    def now_serving(self, node: Node) -> None:
        self.changes.append((self.loop.time(), f"{node.name} serves"))
        if self._down_from is not None:
            self.down.append((self._down_from, node.began_at))
            self._down_from = None

    def now_away(self) -> None:
        if self._down_from is None and not any(node.serving for node in self.nodes):
            self._down_from = self.loop.time()

    def now_gone(self, node: Node) -> None:
        self.nodes.remove(node)
        self.changes.append(
            (self.loop.time(), f"{node.name} {'has stopped' if node.stopping else 'is dead'}")
        )
        self.now_away()
        if not node.stopping:
            self.loop.create_task(self._restart(), context=self.context.copy())

    # --------------------------------------------------------------------------------------------------- the servers

    def a_node(self, chance: Chance) -> Node | None:
        serving = [node for node in self.nodes if node.serving]
        return chance.choice(serving) if serving else None

    async def _start_one(self) -> None:
        self.started += 1
        node = Node(self, f"node-{self.started}")
        self.nodes.append(node)
        if not self.calm and self.wild and self.started > self.number:
            node.faults.wild = self.wild
        with contextlib.suppress(*INJECTED, asyncio.CancelledError):
            await node.start()

    async def _restart(self) -> None:
        await asyncio.sleep(self.chance.choice((0.2, 0.5, 2.0)) + self.chance.random() * 6)
        if len(self.nodes) < self.number:
            await self._start_one()

    # ----------------------------------------------------------------------------------------------------- the match

    async def _make_match(self) -> None:
        node, other = self.nodes[0], self.nodes[-1]
        anna = await node.run(node.services.accounts.sign_in(None, "Anna"))
        boris = await node.run(node.services.accounts.sign_in(None, "Boris"))
        against = "computer" if self.chance.once_in(7) else "anyone"
        made = await node.run(node.services.lobby.create(anna.id, self.preset, self.ruleset, against))
        self.match_id = made.id
        cookie = node.services.sessions._serializer.dumps
        self._add(Seat.A, str(cookie(anna.id)))
        if against != "computer":
            self._add(Seat.B, str(cookie(boris.id)))
        self.people.append(Browser(self, "X", made.id, ""))
        for browser in self.people:
            if browser.who != "B":
                self.loop.call_later(self.chance.random() * 3, self._come_back, browser, context=self.context)
        if against != "computer":
            await asyncio.sleep(self.chance.random() * 3)
            await other.run(other.services.lobby.join_public(made.id, boris.id))
        for browser in self.people:
            if browser.who == "B":
                browser.visit()

    def _add(self, seat: Seat, cookie: str) -> None:
        chance = Chance(self.seed, "habits", seat)
        habits = Habits(
            pace_s=chance.choice((0.3, 1.0, 3.0)),
            dawdles=chance.choice((0, 0.03, 0.2)),
            bad=chance.choice((0, 0.1, 0.4)),
            resigns=chance.choice((0, 0, 0.02, 0.1)),
            hurries=chance.once_in(3),
        )
        tabs = 2 if chance.once_in(4) else 1
        self.people += [
            Player(self, seat.value, self.match_id, cookie, tab, habits=habits) for tab in range(tabs)
        ]

    async def _fate(self) -> None:
        """Bad things, one after the other."""
        if not self.wild:
            return
        for node in self.nodes:
            node.faults.wild = self.wild
        while True:
            await asyncio.sleep(self.chance.expovariate(self.wild / 8))
            self._strike(self.chance.choice(BAD_THINGS))

    def _strike(self, what: str) -> None:
        self.strikes.append((self.loop.time(), what))
        browser, node = self.chance.choice(self.people), self.a_node(self.chance)
        if what == "away":
            browser.leave()
            away_s = self.chance.choice((0.0, 2.0, 30.0)) * self.chance.random()
            self.loop.call_later(away_s, self._come_back, browser, context=self.context)
        elif what in ("break", "break in silence") and browser.line is not None:
            browser.line.break_(silent=what != "break")
        elif what == "stall" and browser.line is not None:
            browser.line.stalled_until = self.loop.time() + self.chance.random() * 30
        elif node is None:
            return
        elif what == "crash":
            node.crash()
        elif what == "crash all":
            for other in list(self.nodes):
                other.crash()
        elif what == "stop" and not node.stopping:
            self.loop.create_task(self._stop_and_start(node), context=self.context.copy())
        elif what == "slow":
            node.faults.slow_until = self.loop.time() + self.chance.random() * 4
        elif what == "deaf":
            node.deaf_until = self.loop.time() + self.chance.random() * 5
            self.loop.call_at(node.deaf_until, self._hears_again, node, context=self.context)
        elif what == "lock lost" and node.database.kept is not None:
            self.disk.alive.discard(node.name)
            node.run(self._hold_again(node))

    def _come_back(self, browser: Browser) -> None:
        if not self.calm:
            browser.visit()

    async def _stop_and_start(self, node: Node) -> None:
        await node.stop()
        await self._restart()

    def _hears_again(self, node: Node) -> None:
        if not node.dead and node.database.missed is not None and self.chance.once_in(2):
            node.database.context.run(node.database.missed)

    async def _hold_again(self, node: Node) -> None:
        """As app/store/line.py does when its connection is lost."""
        await asyncio.sleep(self.chance.random() * 3)
        if node.database.kept is None:
            return
        work, again = node.database.kept
        while True:
            try:
                await node.database.keep(work, again)
                await again()
            except INJECTED:
                await asyncio.sleep(0.1)
            else:
                return

    async def _spectate(self) -> None:
        """What can be read over HTTP without a seat."""
        while True:
            await asyncio.sleep(1.37)
            node = self.a_node(Chance(self.seed, "reads", self.loop.time()))
            if node is None:
                continue
            reading = node.run(node.matches.view(self.match_id, None))
            await asyncio.wait([reading])
            if not reading.cancelled() and not isinstance(reading.exception(), INJECTED):
                self.polled.append((self.loop.time(), write_json(reading.result()).decode()))

    def is_over(self) -> bool:
        state = self.disk.raw.execute("SELECT state FROM matches WHERE id = ?", (self.match_id,)).fetchone()
        return bool(state) and state[0] == "over"

    async def live(self) -> None:
        """From the first server's start to the last one's end."""
        for _ in range(self.number):
            await self._start_one()
        await self._make_match()
        background = [self.loop.create_task(work) for work in (self._fate(), self._spectate())]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.lasts_s):
                await self._until_over()
        for task in background:
            task.cancel()
        await self._calm_down()
        await self._end()

    async def _until_over(self) -> None:
        while not self.is_over():
            await asyncio.sleep(0.5)

    async def _calm_down(self) -> None:
        """From now on nothing bad happens; if the match still runs, the players leave it, or only sit there."""
        self.calm = True
        for node in self.nodes:
            node.faults.wild = 0.0
        for browser in self.people:
            if isinstance(browser, Player):
                browser.plays_on = False
                if self.chance.once_in(2):
                    browser.leave()
        rules = self.ruleset
        bound_s = 90 + (rules["clock"]["bank_ms"] + 60 * rules["clock"]["delay_ms"]) / 1000
        bound_s += rules["grace_s"] + rules["absence_s"] + IDLE_VOID_MS / 1000
        try:
            async with asyncio.timeout(NOTICE_ALL_S):
                await self._until_over()
        except TimeoutError:
            await self._compare_presence()
        try:
            async with asyncio.timeout(bound_s):
                await self._until_over()
        except TimeoutError:
            self.problems.append(f"the match is not over {bound_s} s after its players have left it")

    async def _compare_presence(self) -> None:
        """Long after the last trouble, who is noted as connected is so (§8.3)."""
        stored, rows = await self._read()
        match = replay(stored.start(), (event for row in rows for event in row.events))
        for seat in sorted({Seat(player.who) for player in self.players()}):
            is_there = any(line.is_up and not line.node.dead and line.who == seat for line in self.lines)
            if match.score is None and match.presence[seat].connected != is_there:
                self.problems.append(f"{seat} is noted as {match.presence[seat]}, but there is {is_there}")

    async def _read(self) -> tuple[StoredMatch, tuple[JournalRow, ...]]:
        stored = await self._store.matches.load(self.match_id)
        assert stored is not None
        return stored, await self._store.matches.events(self.match_id)

    async def _end(self) -> None:
        for browser in self.people:
            browser.visit()
        try:
            async with asyncio.timeout(60):
                while not all(_sees_the_end(browser) for browser in self.people):
                    await asyncio.sleep(0.5)
        except TimeoutError:
            blind = [browser for browser in self.people if not _sees_the_end(browser)]
            self.problems += [f"{browser.who} (page {browser.tab}) does not see the end" for browser in blind]
        for browser in self.people:
            browser.leave()
        await asyncio.sleep(NOTICE_ALL_S)
        for node in self.nodes:
            tasks = [task.get_coro().__qualname__ for task in node.matches._tasks]
            if node.matches._rooms or len(tasks) > 2:  # the beat and the watch
                rooms = list(node.matches._rooms)
                self.problems.append(f"{node.name} has the rooms {rooms} and the tasks {tasks} left")
        self.stored, self.rows = await self._read()
        self.differences = await self._store.matches.recompute_ratings()
        for node in list(self.nodes):
            await node.stop()

    # -------------------------------------------------------------------------------------------------- of a whole run

    def results(self) -> Sequence[Any]:
        """The stored results."""
        return self.disk.transaction(lambda connection: connection.execute(results.select()).all())

    def story(self) -> list[str]:
        """The run in order of time: what was done to the world, what was stored, what was sent."""
        told = [(at, f"-- {what}") for at, what in (*self.strikes, *self.changes)]
        told += [(at, "-- trouble with the database") for at in self.disk.trouble]
        for written, row in zip(self.disk.written.get(self.match_id, ()), self.rows, strict=False):
            told.append(
                (
                    written,
                    f"{row.version} {row.command_id or ''} at {row.at}: {', '.join(map(str, row.events))}",
                )
            )
        for line in self.lines:
            told += [(at, f"{line.who} -> {line.node.name}: {text}") for at, _, text in line.reads]
        told += [
            (sent.at, f"{sent.line.node.name} -> {sent.line.who}: {sent.text[:240]}") for sent in self.sent
        ]
        return [f"{at:9.3f} {what}" for at, what in sorted(told, key=lambda said: said[0])]

    def digest(self) -> str:
        """The same for the same seed, on every machine."""
        text = repr([(f"{sent.at:.6f}", sent.line.who, sent.text) for sent in self.sent]) + repr(self.rows)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def _sees_the_end(browser: Browser) -> bool:
    return browser.is_on and browser.view is not None and browser.view["stage"] == "over"


NOTICE_ALL_S = 45.0  # in which every broken line is noticed by its server
BAD_THINGS = (
    *("away", "away", "break", "break", "break in silence", "stall", "crash", "crash", "crash all"),
    *("stop", "slow", "deaf", "lock lost"),
)


def a_ruleset(chance: Chance) -> dict[str, Any]:
    """Clocks of all kinds, as a rule with little on them."""
    clock = chance.choice(("simple", "simple", "bronstein", "fischer", "per_move", "none"))
    return {
        "clock": {
            "type": clock,
            "bank_ms": chance.choice((4_000, 15_000, 40_000)),
            "delay_ms": chance.choice((1_000, 3_000, 12_000)),
        },
        "reveal_ms": chance.choice((0, 0, 300, 1_500)),
        "auto_pass_ms": chance.choice((0, 0, 300, 1_200)),
        "peek": chance.choice(("live", "live", "start", "off")),
        "draw_offers": chance.choice(("off", "draw", "settle")),
        "scoring": chance.choice(("pips", "checkers", "classic")),
        "unfinished": {"mode": chance.choice(("lead", "none"))},
        "time": {
            "mode": chance.choice(("linear", "relative", "off")),
            "threshold_ms": 1_000,
            "ms_per_point": 1_000,
        },
        "grace_s": chance.choice((0, 3, 10, 60)),
        "absence_s": chance.choice((5, 20, 120)),
    }


def a_start(chance: Chance) -> tuple[int, ...]:
    """Where both sides begin: the usual start, or a match that is soon over."""
    if chance.once_in(3):
        return SHORT.start
    points: dict[int, int] = {}
    for _ in range(chance.choice((1, 2, 4, 7))):
        point = chance.randint(2, 6)
        points[point] = points.get(point, 0) + 1
    if chance.once_in(3):
        points[24] = chance.choice((1, 2))
    return side(points)


class _Heard(logging.Handler):
    """Exceptions that the product logs and survives."""

    def __init__(self, world: World) -> None:
        super().__init__(logging.WARNING)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        node = _NODE.get()
        if node is None or not node.dead:
            said = record.args if isinstance(record.args, tuple) else ()
            wrong = next((one for one in said if isinstance(one, BaseException)), None)
            if isinstance(wrong, TimeoutError) and self._world.was_troubled(self._world.loop.time(), 8.0):
                return  # a slow database, and nobody waited
            wrong = record.exc_info[1] if record.exc_info else wrong
            self._world.noticed(wrong, record.getMessage())


@contextlib.contextmanager
def _listening(world: World) -> Iterator[None]:
    log = logging.getLogger("app")
    heard, propagate = _Heard(world), log.propagate
    log.addHandler(heard)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(heard)
        log.propagate = propagate


def run(seed: int, twist: Twist | None = None, until: float | None = None) -> World:
    """The world of this seed, when it has come to its end, or at that time (s)."""
    world = World(seed, twist)
    start = replace(SHORT, start=a_start(Chance(seed, "start")))
    with (
        all_chance_from(seed, world.loop),
        patch.dict(VARIANTS, {"short": start}),
        patch("engine.match.IDLE_VOID_MS", IDLE_VOID_MS),
        patch("app.store.nodes._is_alive", world.disk.is_alive),
        _listening(world),
    ):
        asyncio.set_event_loop(None)
        main = world.loop.create_task(world.live())
        if until is not None:
            world.loop.call_at(until, main.cancel)
        try:
            with contextlib.suppress(asyncio.CancelledError):
                world.loop.run_until_complete(main)
            if until is None:
                world.problems += problems_of(world)
        finally:
            _bury(world)
    return world


def _bury(world: World) -> None:
    """Nothing of the run goes on."""
    for node in list(world.nodes):
        node.stopping = True
        node.crash()
    for _ in range(20):
        left = asyncio.all_tasks(world.loop)
        if not left:
            break
        for task in left:
            task.cancel()
        world.loop.run_until_complete(asyncio.wait(left, timeout=5))
    world.loop.close()

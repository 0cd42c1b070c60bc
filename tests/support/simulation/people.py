"""Browsers, each as static/js/socket.js is one, and the people before them."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from tests.support.server import Steps, owes
from tests.support.simulation.loop import Chance
from tests.support.simulation.wires import Line

SILENT_S, ANSWER_S = 21.0, 6.0
FIRST_WAIT_S, LONGEST_WAIT_S = 0.4, 8.0
REFUSED = 1008
Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answered:
    """What a browser has sent, and how it was answered."""

    at: float
    who: str
    message: Message
    frame: Message


class Browser:
    """One page: it reconnects by itself, answers pings, and sends again what is unanswered."""

    def __init__(self, world: Any, who: str, match_id: str, cookie: str, tab: int = 0) -> None:
        self.world = world
        self.loop = world.loop
        self.who = who
        self.tab = tab
        self.match_id = match_id
        self.cookie = cookie
        self.chance = Chance(world.seed, "browser", who, tab)
        self.line: Line | None = None
        self.is_on = False
        self.view: Any = None
        self.waiting: dict[str, Message] = {}  # what must not be lost
        self.failures = 0
        self.is_open = False  # the page, with or without a line
        self.refused = False  # the server will not have it: asking again would not help
        self._fresh = False
        self._since = self._sent_at = 0.0
        self._lines = 0
        self._retry: asyncio.TimerHandle | None = None
        self._checking: asyncio.TimerHandle | None = None

    # ---------------------------------------------------------------------------------------------------- the page

    def visit(self) -> None:
        """The page is opened."""
        if not self.is_open:
            self.is_open, self.failures = True, 0
            self._check()
            self.connect()

    def leave(self) -> None:
        """The page is closed; what is unanswered is kept for the next visit."""
        self.is_open = self.is_on = False
        for timer in (self._retry, self._checking):
            if timer is not None:
                timer.cancel()
        if self.line is not None:
            self.line.close()
            self.line = None

    def connect(self) -> None:
        if not self.is_open or self.refused or self.line is not None:
            return
        node = self.world.a_node(self.chance)
        if node is None:
            self._lost()
            return
        self._lines += 1
        chance = Chance(self.world.seed, "line", self.who, self.tab, self._lines)
        self.line = Line(self.world, node, self, self.who, self.match_id, self.cookie, chance)
        self._fresh, self._since = True, self.loop.time()
        node.serve(self.line)

    # ---------------------------------------------------------------------------------------------------- the line

    def opened(self, line: Line) -> None:
        if line is self.line:
            self._since = self.loop.time()

    def closed(self, line: Line, code: int) -> None:
        self.refused = self.refused or code == REFUSED
        if line is self.line:
            self._lost()

    def got(self, line: Line, text: str) -> None:
        if line is not self.line:
            return
        self._since = self.loop.time()
        frame = json.loads(text)
        if "ping" in frame:
            line.write(json.dumps({"type": "pong", "ping": frame["ping"]}))
        match frame["type"]:
            case "view":
                fresh, self._fresh = self._fresh, False
                self.failures = 0
                self.is_on = True
                if fresh:
                    for message in list(self.waiting.values()):
                        line.write(json.dumps(message))
                self.view = frame["view"]
                self.shown()
            case "accepted" | "problem":
                message = self.waiting.pop(frame["id"], None)
                self.world.answered.append(Answered(self.loop.time(), self.who, message or {}, frame))
                self.answered(message, frame)
            case "bye":
                self.refused = self.refused or frame["reason"] == "flood"

    def send(self, message: Message) -> bool:
        """What may be lost."""
        if self.line is None or not self.is_on:
            return False
        self.line.write(json.dumps(message))
        return True

    def deliver(self, message: Message) -> None:
        """What must arrive."""
        self.waiting[message["id"]] = message
        self._sent_at = self.loop.time()
        self.send(message)

    def _lost(self) -> None:
        self.line, self.is_on = None, False
        if not self.is_open or self.refused:
            return
        longest = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2**self.failures)
        self.failures += 1
        self._retry = self.loop.call_later(longest * (0.5 + self.chance.random() / 2), self.connect)

    def _check(self) -> None:
        self._checking = self.loop.call_later(1.0, self._check)
        if self.line is None:
            return
        now = self.loop.time()
        silent = now - self._since
        asked = bool(self.waiting) and now - self._sent_at > ANSWER_S and silent > ANSWER_S
        if silent > SILENT_S or asked or (not self.is_on and silent > SILENT_S / 2):
            self._sent_at = now
            self.line.close()
            self._lost()

    # -------------------------------------------------------------------------------------------------- the person

    def shown(self) -> None:
        """A view has come."""

    def answered(self, message: Message | None, frame: Message) -> None:
        """An answer has come."""


@dataclass(frozen=True, slots=True)
class Habits:
    """How somebody plays."""

    pace_s: float  # of a usual play
    dawdles: float  # how often a play takes very long: the share of them
    bad: float  # the share of messages that are wrong, late, doubled
    resigns: float  # the share of plays instead of which he gives up
    hurries: bool  # his clock is ahead: he plays before the dice rest


class Player(Browser):
    """Somebody who plays: thinks, handles his checkers, plays, and makes every mistake now and then."""

    def __init__(self, *args: Any, habits: Habits, **more: Any) -> None:
        super().__init__(*args, **more)
        self.habits = habits
        self.seed = Chance(self.world.seed, "client seed", self.who).randbytes(16).hex()
        self.says_seed = not self.chance.once_in(12)
        self.plays_on = True
        self._sent: set[str] = set()  # turns whose play has been sent
        self.tries: dict[str, int] = {}
        self._acting: asyncio.Task[None] | None = None

    def leave(self) -> None:
        super().leave()
        if self._acting is not None:
            self._acting.cancel()

    # ------------------------------------------------------------------------------------------------ what he does

    def shown(self) -> None:
        if self.view is None:
            return
        if self.view["stage"] == "seeding":
            self._agree_on_dice()
        elif self.view["stage"] == "playing" and self.plays_on:
            self._maybe_draw()
            turn = self.view["turn"]
            idle = self._acting is None or self._acting.done()
            if owes(self.view) and idle and turn not in self._sent:
                self._acting = self.loop.create_task(
                    self._take_turn(turn, self.view), context=self.world.context.copy()
                )

    def answered(self, message: Message | None, frame: Message) -> None:
        if message and message["type"] == "play" and frame.get("problem", {}).get("code") == "illegal-play":
            self._sent.discard(message["turn"])  # he tries again
            self.shown()

    def _agree_on_dice(self) -> None:
        dice, hash_ = self.view["dice"], hashlib.sha256(bytes.fromhex(self.seed)).hexdigest()
        if not self.says_seed:
            return
        if dice["hashes"][self.who] is None and self.who not in dice["defaulted"]:
            if "commit" not in self.waiting:
                self.deliver({"type": "seed-commit", "id": "commit", "hash": hash_})
        elif (
            all(dice["hashes"][seat] or seat in dice["defaulted"] for seat in "AB")
            and "reveal" not in self.waiting
        ):
            self.deliver({"type": "seed-reveal", "id": "reveal", "seed": self.seed})

    def _maybe_draw(self) -> None:
        turn = self.view["turn"]
        chance = Chance(self.world.seed, "draw", self.who, turn)
        lot = chance.random()
        if self.view["draw_offer"] == "theirs" and lot < 0.3:
            self._once({"type": "accept-draw", "id": f"take-{turn}", "turn": turn})
        elif lot > 1 - self.habits.bad / 2:
            self._once({"type": "offer-draw", "id": f"offer-{turn}", "turn": turn})

    def _once(self, message: Message) -> None:
        if message["id"] not in self._sent:
            self._sent.add(message["id"])
            self.deliver(message)

    async def _take_turn(self, turn: str, view: Any) -> None:
        tries = self.tries[turn] = self.tries.get(turn, 0) + 1
        chance = Chance(self.world.seed, "turn", self.who, self.tab, turn, tries)
        steps, price = view["mine"]["steps"], view["mine"]["resign"]["points"]
        way = self._choose(turn, steps, tries)
        think = chance.expovariate(1 / self.habits.pace_s)
        if chance.random() < self.habits.dawdles:
            think += chance.random() * 1.3 * self._time_left_s(view)
        elif not self.habits.hurries:
            think += max(0.0, (view["shown_at"] - self.loop.now()) / 1000)
        drafts = chance.choice((0, 0, 1, 2, 4))
        for number in range(drafts):  # each one changes what he has on the board
            await asyncio.sleep(think / (drafts + 1))
            if self.world.twist == ("no drafts", self.who, turn):
                continue
            self.send({"type": "draft", "turn": turn, "moves": [] if number % 2 else way[:1]})
        await asyncio.sleep(think / (drafts + 1))
        if drafts and tries == 1:
            self.world.drafted.append((self.loop.time(), self.who, turn))
        play = {"type": "play", "id": f"{turn}-{tries}-{self.tab}", "turn": turn, "moves": way}
        wrong = chance.random() < self.habits.bad and tries == 1 and self.tab == 0
        mistake = chance.choice(MISTAKES)
        if chance.random() < self.habits.resigns:
            points = price + chance.once_in(3)
            self.deliver({"type": "resign", "id": f"resign-{turn}-{tries}", "turn": turn, "points": points})
            await asyncio.sleep(1.0)
        self._sent.add(turn)
        if wrong and mistake == "illegal":
            self.deliver({**play, "moves": [[1, 24]]})
            return
        self.deliver(play)
        if wrong:
            await self._make_mistake(mistake, play, steps, chance)

    async def _make_mistake(self, mistake: str, play: Message, steps: Steps, chance: Chance) -> None:
        match mistake:
            case "twice":
                self.send(play)
            case "twice, late":
                await asyncio.sleep(chance.random() * 5)
                self.send(play)
            case "another play under the same id":
                self.send({**play, "moves": a_way(steps, chance)})
            case "another play under another id":
                self.send({**play, "id": play["id"] + "x", "moves": a_way(steps, chance)})
            case "no message at all":
                for text in ("{", '{"type": "play"}', json.dumps({**play, "seat": "B"}), "x" * 5000):
                    if self.line is not None:
                        self.line.write(text)
            case "a turn to come":
                self.send({**play, "id": play["id"] + "y", "turn": "9" + play["turn"]})

    def _choose(self, turn: str, steps: Steps, tries: int) -> list[list[int]]:
        """Any legal play; in a run that is to differ there, another one."""
        chance = Chance(self.world.seed, "choice", self.who, turn, tries)
        way, end = a_walk(steps, chance)
        others = [(w, e) for w, e in (a_walk(steps, chance) for _ in range(6)) if e != end]
        if others:
            self.world.choices.append((self.loop.time(), self.who, turn))
            if self.world.twist == ("another play", self.who, turn):
                return others[0][0]
        return way

    def _time_left_s(self, view: Any) -> float:
        flag_at = view["seats"][self.who]["flag_at"]
        return 3.0 if flag_at is None else max(0.0, (flag_at - self.loop.now()) / 1000)


MISTAKES = (
    "illegal",
    "twice",
    "twice, late",
    "another play under the same id",
    "another play under another id",
    "no message at all",
    "a turn to come",
)


def a_walk(steps: Steps, chance: Chance) -> tuple[list[list[int]], int]:
    """Moves along the step graph to a finished play, and which one that is."""
    node, moves = 0, []
    while steps[node]:
        edge = chance.choice(steps[node])
        moves.append(edge[:2])
        node = edge[4]
    return moves, node


def a_way(steps: Steps, chance: Chance) -> list[list[int]]:
    """Some legal play."""
    return a_walk(steps, chance)[0]

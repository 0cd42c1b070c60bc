"""What must be true of every run. What the servers did is compared with the pure engine and with the network's log."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from app.web.messages import write_json
from engine.dice import DiceSeeds, roll_for
from engine.errors import RuleError
from engine.match import (
    Event,
    Left,
    Match,
    MatchEnded,
    PhaseOpened,
    PlayMade,
    SeedDefaulted,
    TimeGivenBack,
    apply,
    next_deadline,
)
from engine.plays import Hop
from engine.scoring import Outcome
from engine.turn import FIRST_TURN, Seat, Turn
from engine.view import view_for
from tests.support.stubborn import message_of

if TYPE_CHECKING:
    from tests.support.simulation.world import World

LAG_A_TURN_MS, LAG_START_MS, LAG_FILL_MS, LAG_FULL_MS = 1_000, 3_000, 1_000, 7_000  # §7.1
HEARTBEAT_MS = 1_000
PROMPT_MS = 1_000  # a flag is acted on within this time, when nothing is in its way
COMPARED_S = 8.0  # in which a server finds out that a notice was lost
OVERDUE_MS = 2_500  # what no server has in memory is found this much later
TROUBLED_MS = 12_000  # and this late when the way to the database was bad


@dataclass
class Read:
    """A message as a server took it."""

    at: float
    node_ms: int
    node: Any
    message: dict[str, Any]


class Run:
    """A finished run, prepared for being checked."""

    def __init__(self, world: World) -> None:
        self.world = world
        assert world.stored is not None
        self.stored = world.stored
        self.rows = world.rows
        self.written = world.disk.written.get(world.match_id, [])
        self.matches: list[Match] = [self.stored.start()]  # at each version
        for row in self.rows:
            match = self.matches[-1]
            for event in row.events:
                match = apply(match, event)
            self.matches.append(match)
        self.row_of = {message_of(row.command_id): row for row in self.rows if row.command_id}
        self._views: dict[str, list[str]] = {}

    def is_ambiguous(self, who: str, id_: str) -> bool:
        """Whether this player said several things under one id, of which others may well be refused."""
        said = [r.message for r in self.reads.get(who, []) if r.message.get("id") == id_]
        return any(message != said[0] for message in said)

    @cached_property
    def reads(self) -> dict[str, list[Read]]:
        """All messages that servers took from each seat."""
        found: dict[str, list[Read]] = {"A": [], "B": [], "X": []}
        for line in self.world.lines:
            for at, node_ms, text in line.reads:
                try:
                    message = json.loads(text)
                except ValueError:
                    continue
                found[line.who].append(Read(at, node_ms, line.node, message))
        return found

    def view_texts(self, who: str) -> list[str]:
        """What a display of this seat has to show at each version, but for drafts."""
        if who not in self._views:
            seat = None if who == "X" else Seat(who)
            self._views[who] = [
                without_drafts(json.loads(write_json(view_for(match, seat)))) for match in self.matches
            ]
        return self._views[who]

    def version_at(self, at: float) -> int:
        """The newest version that was written by then."""
        return sum(1 for written in self.written if written <= at)


def without_drafts(view: dict[str, Any]) -> str:
    for half in ("mine", "theirs"):
        if view[half] is not None:
            view[half]["draft"] = []
    return json.dumps(view, sort_keys=True)


def problems_of(world: World) -> Iterator[str]:
    """Everything that is wrong with a run, in words."""
    if world.stored is None:
        yield "the run did not come to its end"
        return
    run = Run(world)
    for check in CHECKS:
        for problem in check(run):
            yield f"{check.__name__}: {problem}"


# ------------------------------------------------------------------------------------------------------- durability


def there_is_one_history(run: Run) -> Iterator[str]:
    """Each row once and in order, each play once, one opening a turn."""
    if [row.version for row in run.rows] != list(range(1, len(run.rows) + 1)):
        yield f"versions are {[row.version for row in run.rows]}"
    ats = [row.at for row in run.rows]
    if ats != sorted(ats):
        yield "times go backwards"
    events = [event for row in run.rows for event in row.events]
    opened = [event.turn for event in events if isinstance(event, PhaseOpened)]
    turn = FIRST_TURN
    for found in opened:
        if found != turn:
            yield f"turn {found} was opened where {turn} comes"
        turn = turn.next()
    made = Counter((event.seat, event.turn) for event in events if isinstance(event, PlayMade))
    yield from (f"{seat} played {turn} {n} times" for (seat, turn), n in made.items() if n > 1)
    if [type(event) for event in events].count(MatchEnded) != 1 or not isinstance(events[-1], MatchEnded):
        yield "the match does not end once, and last"


def rolls_follow_from_the_seeds(run: Run) -> Iterator[str]:
    """§9.2: whatever crashed, and whoever opened the turn."""
    clients = run.matches[-1].client_seeds
    if clients.A is None or clients.B is None:
        return
    seeds = DiceSeeds(run.stored.server_seed, run.stored.dice_id, clients)  # type: ignore[arg-type]
    doubles = run.stored.ruleset.opening_double_allowed
    for row in run.rows:
        for event in row.events:
            if isinstance(event, PhaseOpened) and event.roll != roll_for(
                seeds, event.turn, opening_double=doubles
            ):
                yield f"{event.turn} has the roll {event.roll}"


def what_was_acknowledged_is_stored(run: Run) -> Iterator[str]:
    """Before it was acknowledged, once, and as it was sent; and what is stored is never refused."""
    for sent in run.world.sent:
        who, frame = sent.line.who, json.loads(sent.text)
        if frame["type"] not in ("accepted", "problem") or frame["id"] is None:
            continue
        row = run.row_of.get(f"{who}:{frame['id']}")
        is_stored = row is not None and run.written[row.version - 1] <= sent.at
        if frame["type"] == "accepted" and not is_stored:
            yield f"{who} was told at {sent.at:.3f} s that {frame['id']} is accepted, and it is not stored"
        elif frame["type"] == "problem" and is_stored and not run.is_ambiguous(who, frame["id"]):
            code = frame["problem"]["code"]
            yield f"{who} was told {code} of {frame['id']} at {sent.at:.3f} s, which was accepted before"


def what_is_stored_was_sent(run: Run) -> Iterator[str]:
    """A play in the journal is one that its player sent under that id."""
    for row in run.rows:
        for event in row.events:
            if not isinstance(event, PlayMade) or event.kind != "play" or event.seat in run.stored.computers:
                continue
            if row.command_id is None:
                yield f"{event.seat}'s play of {event.turn} was nobody's wish"
                continue
            before = run.matches[row.version - 1]
            wishes = [
                r.message
                for r in run.reads[event.seat]
                if f"{event.seat}:{r.message.get('id')}" == message_of(row.command_id)
            ]
            if event.moves not in [_moves(before, event.seat, wish) for wish in wishes]:
                yield f"{event.seat}'s play of {event.turn} is not what he sent"


def _moves(match: Match, seat: Seat, wish: dict[str, Any]) -> Any:
    if wish["type"] != "play" or match.roll is None:
        return None
    hops = [Hop(*move) for move in wish["moves"]]
    try:
        return match.rules.find_play(match.position_for(seat), match.roll, hops).moves
    except RuleError:
        return None


# ----------------------------------------------------------------------------------------------------- what was seen


def displays_saw_what_was_stored(run: Run) -> Iterator[str]:
    """Each view is that of a stored version, after it was stored, never goes back on one socket, and comes in time."""
    for line in run.world.lines:
        texts, newest = run.view_texts(line.who), 0
        shown: list[tuple[float, int]] = []
        for sent in line.sent:
            frame = json.loads(sent.text)
            if frame["type"] != "view" or frame["view"] is None:
                continue
            text, last = without_drafts(frame["view"]), run.version_at(sent.at)
            found = next((version for version in range(newest, last + 1) if texts[version] == text), None)
            if found is None:
                where = [version for version, other in enumerate(texts) if other == text]
                yield f"{line.who} was shown version {where} at {sent.at:.3f} s, after {newest}; stored was {last}"
                break
            newest = found
            shown.append((sent.at, found))
        yield from _late(run, line, texts, shown)
    texts = run.view_texts("X")
    for at, text in run.world.polled:
        view = json.loads(text)
        if view is not None and without_drafts(view) not in texts[: run.version_at(at) + 1]:
            yield f"what was read at {at:.3f} s is no stored version"


def _late(run: Run, line: Any, texts: list[str], shown: list[tuple[float, int]]) -> Iterator[str]:
    """Versions that an open display was not shown soon, though a notice may have been lost."""
    if not shown or line.stalled_until:
        return
    for version in range(shown[0][1] + 1, len(texts)):
        written = run.written[version - 1]
        is_slow = run.world.was_troubled(written + COMPARED_S, TROUBLED_MS / 1000, without="crash")
        until = written + (COMPARED_S * 4 if is_slow else COMPARED_S)
        if until > line.ended_at:
            return
        if until < shown[0][0]:
            continue
        if texts[[found for at, found in shown if at <= until][-1]] not in texts[version:]:
            yield f"{line.who} was not shown version {version}, stored at {written:.3f} s, by {until:.3f} s"
            return


def the_end_is_the_engines(run: Run) -> Iterator[str]:
    """Result and ratings are those of the journal, replayed."""
    score = run.matches[-1].score
    stored = run.world.results()
    if score is None or len(stored) != 1:
        yield f"{len(stored)} results are stored; the journal's score is {score}"
        return
    row, charged = stored[0], run.matches[-1].charged
    found = (
        row.outcome,
        row.by_seat,
        row.net_for_a,
        row.points_a,
        row.points_b,
        row.credit_for_a,
        row.winner,
    )
    wanted = (
        *(score.outcome.value, score.by and score.by.value, score.net_for_A, score.points.A, score.points.B),
        *(score.credit_for_A, score.winner and score.winner.value),
    )
    if found != wanted or (row.charged_a_ms, row.charged_b_ms) != (charged.A, charged.B):
        yield f"stored is {found} and {row.charged_a_ms} {row.charged_b_ms}, the journal gives {wanted} and {charged}"
    yield from (f"ratings: {difference}" for difference in run.world.differences)


def no_secret_is_told(run: Run) -> Iterator[str]:
    """The server's seed only when the match is over, a player's only when both are known (§9.1, §9.4)."""
    ended = run.written[-1] if run.written else 0.0
    agreed = next(
        (
            run.written[i]
            for i, row in enumerate(run.rows)
            if any(isinstance(e, PhaseOpened) for e in row.events)
        ),
        ended,
    )
    secrets = [(run.stored.server_seed.hex(), ended, "the server's seed")]
    secrets += [(person.seed, agreed, f"{person.who}'s seed") for person in run.world.players()]
    for sent in run.world.sent:
        for secret, until, what in secrets:
            if sent.at < until and secret in sent.text:
                yield f"{what} was told to {sent.line.who} at {sent.at:.3f} s"


# ------------------------------------------------------------------------------------------------------------ clocks


@dataclass
class _Clock:
    """A clock of §7, kept here by itself."""

    rules: Any
    bank_ms: int
    lag_ms: int = LAG_START_MS
    charged_ms: int = 0

    def needed(self) -> int | None:
        if self.rules.type == "none":
            return None
        return self.bank_ms + (self.rules.delay_ms if self.rules.type == "simple" else 0)

    def think(self, thought: int, allowed: int) -> None:
        charged, delay = thought - allowed, self.rules.delay_ms
        self.charged_ms += charged
        self.lag_ms = min(LAG_FULL_MS, self.lag_ms - allowed + LAG_FILL_MS)
        match self.rules.type:
            case "simple":
                self.bank_ms -= max(0, charged - delay)
            case "bronstein":
                self.bank_ms += min(charged, delay) - charged
            case "fischer":
                self.bank_ms += delay - charged
        self.bank_ms = max(self.bank_ms, delay if self.rules.type == "fischer" else 0)


def time_is_charged_from_dice_to_arrival(run: Run) -> Iterator[str]:
    """§7.1, computed anew from when the servers took the messages."""
    rules = run.stored.ruleset
    bank = rules.clock.delay_ms if rules.clock.type == "per_move" else rules.clock.bank_ms
    clocks = {seat: _Clock(rules.clock, bank) for seat in Seat}
    shown_at, opened = 0, 0.0
    for row in run.rows:
        before = run.rows[row.version - 2].at if row.version > 1 else 0
        for event in row.events:
            match event:
                case PhaseOpened(turn=turn, at=at):
                    shown_at, opened = at + rules.reveal_ms, run.written[row.version - 1]
                case TimeGivenBack(ms=ms):
                    shown_at += ms
                case PlayMade(seat=seat, turn=turn, kind=kind, thought_ms=thought, allowed_ms=allowed, at=at):
                    clock = clocks[seat]
                    if kind == "pass":
                        if thought or allowed:
                            yield f"{seat}'s pass of {turn} cost {thought}"
                        if row.command_id is None and at < shown_at + rules.auto_pass_ms:
                            yield f"{seat}'s pass of {turn} came {shown_at + rules.auto_pass_ms - at} ms early"
                        continue
                    if thought != max(0, at - shown_at):
                        yield f"{seat}'s play of {turn} at {at} is {thought} ms after the dice at {shown_at}"
                    if seat not in run.stored.computers and kind == "play":
                        yield from _arrival(run, row, seat, turn, at, before)
                        yield from _lag(run, row, event, clock, opened)
                    clock.think(thought, allowed)
                case MatchEnded(outcome=outcome, by=by, at=at):
                    if outcome is Outcome.TIME and by is not None:
                        yield from _flag(run, row, at, shown_at, clocks[by], by)
                case _:
                    pass
    charged = run.matches[-1].charged
    if (clocks[Seat.A].charged_ms, clocks[Seat.B].charged_ms) != (charged.A, charged.B):
        yield f"charged is {charged}, computed here {clocks}"


def _arrival(run: Run, row: Any, seat: Seat, turn: Turn, at: int, before: int) -> Iterator[str]:
    came = [
        r.node_ms for r in run.reads[seat] if f"{seat}:{r.message.get('id')}" == message_of(row.command_id)
    ]
    if not any(abs(at - max(ms, before)) <= 1 for ms in came):
        yield f"{seat}'s play of {turn} is noted at {at}, but came at {came}; the row before was at {before}"


def _lag(run: Run, row: Any, event: PlayMade, clock: _Clock, opened: float) -> Iterator[str]:
    """Never more than the smallest round trip measured in that turn, nor than the quota."""
    if any(line.stalled_until and line.who == event.seat for line in run.world.lines):
        return  # a ping that waited to be written took longer than is seen from outside
    took = [
        r
        for r in run.reads[event.seat]
        if f"{event.seat}:{r.message.get('id')}" == message_of(row.command_id)
    ]
    most = min(LAG_A_TURN_MS, clock.lag_ms, event.thought_ms)
    if event.allowed_ms > most:
        yield f"{event.seat} was allowed {event.allowed_ms} ms of lag in {event.turn}, at most {most}"
    low = high = 0
    for play in took:
        could, surely = [], []
        for line in run.world.lines:
            if line.who == event.seat and line.node is play.node:
                could += list(_round_trips(line, opened, play.at))
                seen = next((s.at for s in line.sent if _shows(s.text, event.turn) and s.at >= opened), None)
                if seen is not None:
                    surely += list(_round_trips(line, seen, play.at))
        low = min(most, *could) if surely else 0
        high = min(most, *surely) if surely else min(most, max(could, default=0))
        if low - 2 <= event.allowed_ms <= high + 2:
            return
    yield f"{event.seat} was allowed {event.allowed_ms} ms of lag in {event.turn}, where {low} to {high} were measured"


def _shows(text: str, turn: Turn) -> bool:
    return text.startswith('{"type":"view"') and f'"turn":"{turn}","roll"' in text


def _round_trips(line: Any, since: float, until: float) -> Iterator[int]:
    pings = {json.loads(sent.text).get("ping"): sent.at for sent in line.sent if sent.at >= since}
    for at, _, text in line.reads:
        if at <= until and text.startswith('{"type": "pong"'):
            sent_at = pings.get(json.loads(text)["ping"])
            if sent_at is not None:
                yield int((at - sent_at) * 1000)


def _flag(run: Run, row: Any, at: int, shown_at: int, clock: _Clock, by: Seat) -> Iterator[str]:
    needed = clock.needed()
    if needed is None or at < shown_at + needed:
        yield f"{by}'s flag fell at {at}, before its time {needed} after {shown_at}"
        return
    was_away = any(isinstance(event, Left) and event.seat is by for r in run.rows for event in r.events)
    if at != shown_at + needed and not was_away:
        yield f"{by}'s flag fell at {at}, not at its time {needed} after {shown_at}"
    due = at + min(LAG_A_TURN_MS, clock.lag_ms)
    if row.at < due:
        yield f"{by}'s flag was acted on {due - row.at} ms before {due}, with a play perhaps on its way"


def time_does_its_work_in_time(run: Run) -> Iterator[str]:
    """Flags, passes and missing seeds: not before they are due, and within a second, if the servers are well."""
    for row in run.rows:
        due = next_deadline(run.matches[row.version - 1])
        if row.command_id is not None or due is None or not any(map(_is_by_time, row.events)):
            continue
        served_ms = [run.world.ms(at) for at, what in run.world.changes if what.endswith("serves")]
        restarted = max((ms for ms in served_ms if ms <= row.at + 10), default=0)
        most = PROMPT_MS
        if run.world.number > 1 and run.world.started > run.world.number:
            most = PROMPT_MS + OVERDUE_MS  # whoever had it in mind is dead: another server looks it up
        if run.world.was_troubled(run.written[row.version - 1], TROUBLED_MS / 1000, without="crash"):
            most = TROUBLED_MS
        late = row.at - max(due, restarted)
        if row.at < due or late > most:
            yield f"what was due at {due} was done {row.at - due} ms after that: {row.events}"


def _is_by_time(event: Event) -> bool:
    return isinstance(event, SeedDefaulted | MatchEnded) or (
        isinstance(event, PlayMade) and event.kind == "pass"
    )


def downtime_is_given_back(run: Run) -> Iterator[str]:
    """§8.5: all of it, and no more than the heartbeat is coarse."""
    began, ended = run.stored.started_at or 0, run.rows[-1].at
    least = most = 0
    for since, until in run.world.down:
        since_ms, until_ms = run.world.ms(since), run.world.ms(until)
        if since_ms > began and until_ms < ended:
            least += until_ms - since_ms
        is_late = run.world.was_troubled(since, TROUBLED_MS / 1000, without="crash")  # the last heartbeat
        most += until_ms - since_ms + HEARTBEAT_MS + 500 + is_late * TROUBLED_MS
    # One that has lost its lock is thought dead by one that joins then, which gives back the time since its heartbeat.
    most += sum(TROUBLED_MS for _, what in run.world.strikes if what == "lock lost")
    given = 0
    for row in run.rows:
        for event in row.events:
            if isinstance(event, TimeGivenBack):
                given += event.ms
                written = run.written[row.version - 1]
                if run.world.was_troubled(written, event.ms / 1000 + TROUBLED_MS / 1000, without="crash"):
                    most += event.ms  # the database was away while servers lived
    if not least - 10 * len(run.world.down) <= given <= most:
        yield f"{given} ms were given back, of {least} to {most}"


CHECKS: tuple[Callable[[Run], Iterator[str]], ...] = (
    there_is_one_history,
    rolls_follow_from_the_seeds,
    what_was_acknowledged_is_stored,
    what_is_stored_was_sent,
    displays_saw_what_was_stored,
    the_end_is_the_engines,
    no_secret_is_told,
    time_is_charged_from_dice_to_arrival,
    time_does_its_work_in_time,
    downtime_is_given_back,
)

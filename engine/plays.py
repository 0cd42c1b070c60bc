"""Moves and plays of short nardy: what a roll allows, and why something else is not allowed (§2).

One move is one row of a table made once for each die: where from, where to, and what it adds to a number that
stands for the whole position. A position reached in two ways is then the same number, so plays are compared by
where the checkers end, never by how they were written. Which points are closed does not change during a turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from engine.dice import Roll
from engine.errors import IllegalPlay, Param
from engine.position import BAR, OFF, Position


class Move(NamedTuple):
    """One checker by one die, in the mover's own numbering: 25 is the bar, 0 is off (§1)."""

    start: int
    end: int
    die: int
    hit: bool


class Hop(NamedTuple):
    """A move as a player writes it: from where to where."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Play:
    """All moves of one roll, in an order in which they can be made; none when nothing can be played (§1)."""

    moves: tuple[Move, ...]

    def __str__(self) -> str:
        return notation(self.moves)


class Edge(NamedTuple):
    """One move in the step graph, and the node it leads to."""

    start: int
    end: int
    die: int
    hit: int
    node: int


@dataclass(frozen=True, slots=True)
class StepGraph:
    """Every way of making every legal play, one move at a time.

    `nodes[0]` is the position before the roll; each node is the tuple of moves that can follow. A node without
    moves is a finished play: all dice that must be played have been.
    """

    nodes: tuple[tuple[Edge, ...], ...]

    def follow(self, hops: Iterable[Hop]) -> tuple[Move, ...] | None:
        """The moves of a path from the first node, or None where the path leaves the graph."""
        node, moves = 0, []
        for hop in hops:
            edge = next((e for e in self.nodes[node] if e.start == hop.start and e.end == hop.end), None)
            if edge is None:
                return None
            moves.append(Move(edge.start, edge.end, edge.die, bool(edge.hit)))
            node = edge.node
        return tuple(moves)


class _Step(NamedTuple):
    """One move by one die from one point, looked up instead of computed."""

    end: int
    facing: int  # index of the opponent's count on the point landed on; off faces nothing
    change: int  # what the move adds to the position's number
    move: Move
    hit_change: int  # the same when it hits
    hit_move: Move


_NOTHING = 26  # where off looks for an enemy: a count that is always zero


def _step(start: int, die: int) -> _Step:
    end = max(start - die, OFF)
    change = (1 << 8 * end) - (1 << 8 * start)
    return _Step(
        end,
        BAR - end if end else _NOTHING,
        change,
        Move(start, end, die, False),
        change + (1 << (8 * 26 + end)),
        Move(start, end, die, True),
    )


_STEPS = {die: tuple(_step(start, die) for start in range(26)) for die in range(1, 7)}

_Points = tuple[int, ...]  # where checkers may be found: every occupied point, perhaps some empty ones
_Paths = dict[int, tuple[Move, ...]]  # a position's number -> moves that lead to it
_State = tuple[int, tuple[int, ...]]  # a position's number, and the dice still to play


class _Walk:
    """One turn's walk over the moves from one position: they are made and taken back in place.

    The number of a position is the mover's counts read as bytes, with one bit above them for each point where an
    enemy checker was hit.
    """

    __slots__ = ("mine", "number", "outside", "points", "theirs")

    def __init__(self, position: Position) -> None:
        self.mine = list(position.mine)
        self.theirs = [*position.theirs, 0]
        self.number = int.from_bytes(bytes(self.mine), "little")
        self.points = tuple(point for point in range(BAR, 0, -1) if self.mine[point])
        self.outside = sum(
            self.mine[7:]
        )  # checkers not home yet: nothing bears off while there are any (§2.3)

    def moves(self, die: int, points: _Points, highest: int = BAR) -> list[tuple[int, Move]]:
        """Every move by this die from `highest` or lower, with what it adds to the number (§2.1, §2.3)."""
        mine, theirs, steps = self.mine, self.theirs, _STEPS[die]
        if mine[BAR]:
            points = (BAR,)  # checkers on the bar enter first
        found = []
        for start in points:
            if start > highest or not mine[start]:
                continue
            end, facing, change, move, hit_change, hit_move = steps[start]
            enemies = theirs[facing]
            if enemies:
                if enemies == 1:  # two or more close the point
                    found.append((hit_change, hit_move))
                continue
            if not end and (self.outside or (start < die and any(mine[start + 1 : 7]))):
                continue  # all home first; a larger die only when no checker stands higher
            found.append((change, move))
        return found

    def make(self, move: Move) -> None:
        start, end, _, hit = move
        self.mine[start] -= 1
        self.mine[end] += 1
        if hit:
            self.theirs[BAR - end] = 0
        if start > 6 >= end:
            self.outside -= 1

    def take_back(self, move: Move) -> None:
        start, end, _, hit = move
        self.mine[start] += 1
        self.mine[end] -= 1
        if hit:
            self.theirs[BAR - end] = 1
        if start > 6 >= end:
            self.outside += 1


def _with(points: _Points, point: int) -> _Points:
    return points if point in points or point == OFF else (*points, point)


def _two_dice(walk: _Walk, first: int, second: int, one: _Paths, both: _Paths) -> None:
    """Notes the positions that these dice reach in this order."""
    for change, move in walk.moves(first, walk.points):
        number = walk.number + change
        one.setdefault(number, (move,))
        walk.make(move)
        for further, then in walk.moves(second, _with(walk.points, move.end)):
            both.setdefault(number + further, (move, then))
        walk.take_back(move)


def _four_dice(walk: _Walk, die: int) -> _Paths:
    """The positions that a double reaches with as many moves as can be made.

    Moves from high points to low ones reach them all, for whatever is closed stays closed.
    """
    longest: _Paths = {}
    level: list[tuple[int, tuple[Move, ...]]] = [(walk.number, ())]
    for _ in range(4):
        further: _Paths = {}
        for number, path in level:
            for move in path:
                walk.make(move)
            points = walk.points
            for move in path:
                points = _with(points, move.end)
            for change, move in walk.moves(die, points, path[-1].start if path else BAR):
                further.setdefault(number + change, (*path, move))
            for move in reversed(path):
                walk.take_back(move)
        if not further:
            break
        longest, level = further, list(further.items())
    return longest


def _paths(position: Position, roll: Roll) -> _Paths:
    """The positions that legal plays reach, each with one way of getting there (§2.2)."""
    walk = _Walk(position)
    if roll.is_double:
        return _four_dice(walk, roll.first)
    both: _Paths = {}
    by_high: _Paths = {}
    by_low: _Paths = {}
    _two_dice(walk, roll.high, roll.low, by_high, both)
    _two_dice(walk, roll.low, roll.high, by_low, both)
    return both or by_high or by_low


def legal_plays(position: Position, roll: Roll) -> tuple[Play, ...]:
    """The plays this roll allows, one for each different resulting position (§2.2).

    A play uses as many dice as any play can; when only one of two can be used, the larger. Where nothing can be
    played there is one play, the empty one.
    """
    return tuple(Play(moves) for moves in _paths(position, roll).values()) or (Play(()),)


def after(position: Position, hops: Iterable[Move | Hop]) -> Position:
    """The position after these moves: a single enemy checker landed on goes to its bar (§2.1).

    Shows where checkers end, and refuses nothing but taking one from where none is (ValueError).
    """
    mine, theirs = list(position.mine), list(position.theirs)
    for hop in hops:
        if not mine[hop.start]:
            raise ValueError(f"no checker on {hop.start}")
        mine[hop.start] -= 1
        mine[hop.end] += 1
        if hop.end != OFF and theirs[BAR - hop.end] == 1:
            theirs[BAR - hop.end] = 0
            theirs[BAR] += 1
    return Position(tuple(mine), tuple(theirs))


@lru_cache(maxsize=4096)
def step_graph(position: Position, roll: Roll) -> StepGraph:
    """Every way of making every legal play, over all orders of the dice and all intermediate points (§2.2).

    A pure function, remembered for the positions asked for most recently.
    """
    walk = _Walk(position)
    start: tuple[int, ...] = (roll.first,) * 4 if roll.is_double else (roll.high, roll.low)
    reach: dict[_State, tuple[int, list[tuple[Move, _State]]]] = {}

    def explore(number: int, dice: tuple[int, ...], points: _Points) -> int:
        """How many dice can still be played; notes the moves by which."""
        state = number, dice
        if state in reach:
            return reach[state][0]
        longest = 0
        ways: list[tuple[Move, _State]] = []
        for die in dict.fromkeys(dice):
            at = dice.index(die)
            rest = dice[:at] + dice[at + 1 :]
            for change, move in walk.moves(die, points):
                reached = number + change
                walk.make(move)
                length = 1 + explore(reached, rest, _with(points, move.end))
                walk.take_back(move)
                if length > longest:
                    longest, ways = length, []
                if length == longest:
                    ways.append((move, (reached, rest)))
        if longest == 1 and len(dice) == 2 and not roll.is_double:  # one die only: the larger
            ways = [way for way in ways if way[0].die == roll.high] or ways
        reach[state] = longest, ways
        return longest

    explore(walk.number, start, walk.points)
    numbers = {(walk.number, start): 0}
    order = [(walk.number, start)]
    nodes = []
    for state in order:
        edges = []
        for move, following in reach[state][1]:
            if following not in numbers:
                numbers[following] = len(order)
                order.append(following)
            edges.append(Edge(move.start, move.end, move.die, int(move.hit), numbers[following]))
        nodes.append(tuple(edges))
    return StepGraph(tuple(nodes))


def find_play(position: Position, roll: Roll, hops: Sequence[Hop]) -> Play:
    """The legal play that ends where these moves end, in whatever order and over whatever points (§2.2).

    Raises IllegalPlay, saying which rule is in the way.
    """
    try:
        reached = after(position, hops) if len(hops) <= 4 and all(map(_is_hop, hops)) else None
    except ValueError:
        reached = None
    if reached is not None:
        for play in legal_plays(position, roll):
            if after(position, play.moves) == reached:
                return play
    because, detail, params = _reason(position, roll, hops)
    raise IllegalPlay(" ".join(map(_hop_text, hops)), str(roll), because, detail, **params)


def _is_hop(hop: Hop) -> bool:
    return 1 <= hop.start <= BAR and OFF <= hop.end < hop.start


_Reason = tuple[str, str, dict[str, Param]]


def _reason(position: Position, roll: Roll, hops: Sequence[Hop]) -> _Reason:
    """Why these moves are no legal play: the first reason a player would give, as code, words, parameters."""
    if not all(map(_is_hop, hops)):
        return "unknown-point", "points are 1 to 24, 25 the bar, 0 off, and checkers move down", {}
    if len(hops) > 4:
        return "too-many-moves", "a roll has at most four moves", {}
    graph = step_graph(position, roll)
    if not graph.nodes[0]:
        return "no-legal-play", "nothing can be played", {}
    here, node = position, 0
    dice = [roll.first] * 4 if roll.is_double else [roll.high, roll.low]
    for hop in hops:
        if not here.mine[hop.start]:
            return "no-checker", f"there is no checker on {_point(hop.start)}", {"point": hop.start}
        if here.mine[BAR] and hop.start != BAR:
            return "bar-first", "checkers on the bar enter first", {}
        edge = next((e for e in graph.nodes[node] if e.start == hop.start and e.end == hop.end), None)
        if edge is None:
            return _reason_of_move(here, dice, hop, must_be_larger=len(dice) == 2 and _one_die_only(graph))
        dice.remove(edge.die)
        here, node = after(here, [hop]), edge.node
    left = graph.nodes[node][0]  # there is one: a path to a finished node is a legal play
    return (
        "both-dice",
        f"a {left.die} can still be played",
        {"die": left.die, "start": left.start, "end": left.end},
    )


def _reason_of_move(here: Position, dice: Sequence[int], hop: Hop, *, must_be_larger: bool) -> _Reason:
    """Why this move is in no legal play, though the moves before it are."""
    exact = [die for die in dice if hop.start - die == hop.end]
    beyond = [die for die in dice if hop.end == OFF and die > hop.start]
    if not exact and not beyond:
        distance = hop.start - hop.end
        return "not-that-die", f"no die left to play shows {distance}", {"distance": distance}
    if hop.end == OFF:
        outside = next((point for point in range(BAR, 6, -1) if here.mine[point]), None)
        if outside is not None:
            return "not-all-home", f"a checker on {_point(outside)} is not home yet", {"point": outside}
        higher = next((point for point in range(6, hop.start, -1) if here.mine[point]), None)
        if higher is not None and not exact:
            return "higher-first", f"a checker stands higher, on {higher}", {"point": higher}
    elif here.theirs[BAR - hop.end] >= 2:
        return "closed-point", f"point {hop.end} is closed", {"point": hop.end}
    if must_be_larger:
        return "larger-die", f"only one die can be played, and it must be the {max(dice)}", {"die": max(dice)}
    return "both-dice", "the other die could not be played then, and both must be", {}


def _one_die_only(graph: StepGraph) -> bool:
    return not any(graph.nodes[edge.node] for edge in graph.nodes[0])


def notation(moves: Sequence[Move]) -> str:
    """A play in standard notation: `bar/21 13/8(2) 6/5*`; from the highest point down, hits starred, equal moves
    grouped, one hop a die; empty when nothing is played.
    """
    grouped: dict[tuple[int, int], tuple[int, bool]] = {}
    for move in sorted(moves, key=lambda m: (-m.start, m.end)):
        number, hit = grouped.get((move.start, move.end), (0, False))
        grouped[move.start, move.end] = number + 1, hit or move.hit
    return " ".join(
        _hop_text(Hop(*hop)) + "*" * hit + (f"({number})" if number > 1 else "")
        for hop, (number, hit) in grouped.items()
    )


def _hop_text(hop: Hop) -> str:
    return f"{_point(hop.start)}/{_point(hop.end)}"


def _point(point: int) -> str:
    return {BAR: "bar", OFF: "off"}.get(point, str(point))

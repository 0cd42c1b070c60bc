"""Moves and plays of short nardy: what a roll allows, and why something else is not allowed (§2).

One move is one row of a table made once for each die: where from, where to, and what it adds to a number that
stands for the whole position. A position reached in two ways is then the same number, so plays are compared by
where the checkers end, never by how they were written. Which points are closed does not change during a turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from struct import Struct
from typing import NamedTuple

from engine.dice import Roll
from engine.errors import IllegalPlay, Param
from engine.position import BAR, OFF, Position, Side


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
    moves is a finished play: all dice that must be played have been. `reached_from` has for each node the one before
    it on the way by which `play` goes there.
    """

    nodes: tuple[tuple[Edge, ...], ...]
    reached_from: tuple[int, ...]

    def follow(self, hops: Sequence[Hop]) -> tuple[Move, ...] | None:
        """The moves of a path from the first node, or None where no path goes like this.

        A hop does not name its die: a checker that either die bears off is tried with both.
        """
        edges = self._edges(hops, 0)
        return None if edges is None else tuple(map(_move, edges))

    def play(self, hops: Sequence[Hop]) -> Play | None:
        """The play of `find_play` that ends where this path ends; None where it is no path, or not finished."""
        edges = self._edges(hops, 0)
        if edges is None:
            return None
        node = edges[-1].node if edges else 0
        if self.nodes[node]:
            return None
        moves: list[Move] = []
        while node:
            before = self.reached_from[node]
            moves.insert(0, next(_move(edge) for edge in self.nodes[before] if edge.node == node))
            node = before
        if len({move.die for move in moves}) == 1:
            moves.sort(key=lambda move: -move.start)  # of a double from the highest point down
        return Play(tuple(moves))

    def _edges(self, hops: Sequence[Hop], node: int) -> tuple[Edge, ...] | None:
        if not hops:
            return ()
        start, end = hops[0]
        for edge in self.nodes[node]:
            if edge.start == start and edge.end == end:
                rest = self._edges(hops[1:], edge.node)
                if rest is not None:
                    return (edge, *rest)
        return None


def _move(edge: Edge) -> Move:
    return Move(edge.start, edge.end, edge.die, bool(edge.hit))


_Change = tuple[int, Move]  # a move, and what it adds to the position's number


class _Step(NamedTuple):
    """One move by one die from one point, looked up instead of computed."""

    end: int
    facing: int  # index of the opponent's count on the point landed on; off faces nothing
    quiet: _Change
    hitting: _Change


_HITS = 8 * 26  # where in a position's number the bits begin of the points on which a checker was hit
_MINE = Struct("26B4x")  # the counts in a number's 30 bytes
_NOTHING = 26  # where off looks for an enemy: a count that is always zero


def _step(start: int, die: int) -> _Step:
    end = max(start - die, OFF)
    change = (1 << 8 * end) - (1 << 8 * start)
    return _Step(
        end,
        BAR - end if end else _NOTHING,
        (change, Move(start, end, die, False)),
        (change + (1 << (_HITS + end)), Move(start, end, die, True)),
    )


_STEPS = {die: tuple(_step(start, die) for start in range(26)) for die in range(1, 7)}

_Points = tuple[int, ...]  # where checkers may be found: every occupied point, perhaps some empty ones
_Paths = dict[int, tuple[Move, ...]]  # a position's number -> moves that lead to it
_State = tuple[int, int]  # a position's number, and which dice are still to play
_Ways = tuple[tuple[int, int], ...]  # the dice that can be next, each with which are left then


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
        # Checkers not home yet: nothing bears off while there are any (§2.3).
        self.outside = sum(self.mine[7:])

    def is_free(self) -> bool:
        """Whether nobody has to enter, and nobody can bear off after one move."""
        return self.outside >= 2 and not self.mine[BAR]

    def moves(self, die: int, points: _Points, highest: int = BAR) -> list[_Change]:
        """Every move by this die from `highest` or lower, with what it adds to the number (§2.1, §2.3)."""
        mine, theirs, steps = self.mine, self.theirs, _STEPS[die]
        if mine[BAR]:
            points = (BAR,)  # checkers on the bar enter first
        found = []
        for start in points:
            if start > highest or not mine[start]:
                continue
            end, facing, quiet, hitting = steps[start]
            enemies = theirs[facing]
            if enemies:
                if enemies == 1:  # two or more close the point
                    found.append(hitting)
                continue
            if not end and (self.outside or (start < die and any(mine[start + 1 : 7]))):
                continue  # all home first; a larger die only when no checker stands higher
            found.append(quiet)
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


def _two_dice(walk: _Walk, high: int, low: int) -> _Paths:
    """The positions that two different dice reach: both dice, or if that cannot be, the larger (§2.2)."""
    if walk.is_free():
        return _two_dice_freely(walk, high, low)
    both: _Paths = {}
    one: _Paths = {}
    for first, second in ((high, low), (low, high)):
        moves = walk.moves(first, walk.points)
        one = one or {walk.number + change: (move,) for change, move in moves}
        for change, move in moves:
            walk.make(move)
            for further, then in walk.moves(second, _with(walk.points, move.end)):
                both.setdefault(walk.number + change + further, (move, then))
            walk.take_back(move)
    return both or one


def _two_dice_freely(walk: _Walk, high: int, low: int) -> _Paths:
    """The same where nobody has to enter and nobody can bear off: there one move neither allows nor forbids another,
    but to the checker that it moves.
    """
    mine, number = walk.mine, walk.number
    highs, lows = walk.moves(high, walk.points), walk.moves(low, walk.points)
    both: _Paths = {}
    for change, move in highs:
        start, end, _, hit = move
        alone = mine[start] == 1
        for further, then in lows:
            if then.start == start and alone:
                continue
            if hit and then.end == end:  # both land on the same blot, and it is hit once
                further, then = _STEPS[low][then.start].quiet
            both[number + change + further] = (move, then)
    for moves, second in ((highs, low), (lows, high)):
        for change, move in moves:
            if not mine[move.end]:  # else what goes on from there is a pair of moves above
                walk.make(move)
                for further, then in walk.moves(second, (move.end,)):
                    both.setdefault(number + change + further, (move, then))
                walk.take_back(move)
    return both or {number + change: (move,) for change, move in highs or lows}


def _four_dice(walk: _Walk, die: int) -> _Paths:
    """The positions that a double reaches with as many moves as can be made.

    Moves from high points to low ones reach them all, for whatever is closed stays closed.
    """
    reached: tuple[_Paths, ...] = ({}, {}, {}, {})
    _reach(walk, die, reached, walk.number, (), walk.points, BAR)
    return next((paths for paths in reversed(reached) if paths), {})


def _reach(
    walk: _Walk,
    die: int,
    reached: tuple[_Paths, ...],
    number: int,
    path: tuple[Move, ...],
    points: _Points,
    highest: int,
) -> None:
    """Notes what is reached by one move more, and goes on from there."""
    further = reached[len(path)]
    for change, move in walk.moves(die, points, highest):
        further[number + change] = longer = (*path, move)
        if len(longer) < 4:
            walk.make(move)
            _reach(walk, die, reached, number + change, longer, _with(points, move.end), move.start)
            walk.take_back(move)


def _paths(position: Position, roll: Roll) -> _Paths:
    """The positions that legal plays reach, each with one way of getting there (§2.2)."""
    walk = _Walk(position)
    paths = _four_dice(walk, roll.first) if roll.is_double else _two_dice(walk, roll.high, roll.low)
    return paths or {walk.number: ()}


def legal_plays(position: Position, roll: Roll) -> tuple[Play, ...]:
    """The plays this roll allows, one for each different resulting position (§2.2).

    A play uses as many dice as any play can; when only one of two can be used, the larger. Where nothing can be
    played there is one play, the empty one.
    """
    return tuple(map(Play, _paths(position, roll).values()))


def has_play(position: Position, roll: Roll) -> bool:
    """Whether the roll allows anything but the empty play: one move by either die is enough (§2.2)."""
    walk = _Walk(position)
    return any(walk.moves(die, walk.points) for die in {roll.first, roll.second})


def results(position: Position, roll: Roll) -> tuple[Position, ...]:
    """The position after each of the legal plays, in their order."""
    theirs = {0: position.theirs}  # by which of them were hit
    ends = []
    for number in _paths(position, roll):
        hits = number >> _HITS
        if hits not in theirs:
            theirs[hits] = _hit(position.theirs, hits)
        ends.append(Position(_MINE.unpack(number.to_bytes(_MINE.size, "little")), theirs[hits]))
    return tuple(ends)


def _hit(theirs: Side, hits: int) -> Side:
    """Their side when the single checkers on these points of mine, a bit each, are on the bar."""
    counts = [0 if hits >> (BAR - point) & 1 else number for point, number in enumerate(theirs)]
    counts[BAR] += hits.bit_count()
    return tuple(counts)


def _number(before: Position, reached: Position) -> int:
    """The number under which `_paths` knows a position reached from the one before."""
    hits = sum(1 << (BAR - point) for point in range(1, BAR) if reached.theirs[point] < before.theirs[point])
    return int.from_bytes(bytes(reached.mine), "little") + (hits << _HITS)


def after(position: Position, hops: Iterable[Move | Hop]) -> Position:
    """The position after these moves: a single enemy checker landed on goes to its bar (§2.1).

    Shows where checkers end, and refuses nothing but taking one from where none is (ValueError).
    """
    mine, theirs = list(position.mine), position.theirs
    for start, end, *_ in hops:
        if not mine[start]:
            raise ValueError(f"no checker on {start}")
        mine[start] -= 1
        mine[end] += 1
        if end and theirs[BAR - end] == 1:
            struck = list(theirs)
            struck[BAR - end] = 0
            struck[BAR] += 1
            theirs = tuple(struck)
    return Position(tuple(mine), theirs)


_Onward = dict[_State, list[tuple[Move, _State]]]  # the moves that can follow, each with where it leads


def _explore(
    walk: _Walk,
    ways: tuple[_Ways, ...],
    edges: _Onward,
    lengths: dict[_State, int],
    state: _State,
    points: _Points,
) -> int:
    """How many dice can still be played; notes in `edges` the moves by which, and in `lengths` the answer."""
    number, dice = state
    longest = 0
    found: list[tuple[Move, _State]] = []
    for die, left in ways[dice]:
        for change, move in walk.moves(die, points):
            following = number + change, left
            if not left:
                length = 1
            elif following in lengths:
                length = 1 + lengths[following]
            else:
                walk.make(move)
                length = 1 + _explore(walk, ways, edges, lengths, following, _with(points, move.end))
                walk.take_back(move)
            if length > longest:
                longest, found = length, []
            if length == longest:
                found.append((move, following))
    lengths[state], edges[state] = longest, found
    return longest


@lru_cache(maxsize=2048)  # some 6 KiB each
def step_graph(position: Position, roll: Roll) -> StepGraph:
    """Every way of making every legal play, over all orders of the dice and all intermediate points (§2.2).

    A pure function, remembered for the positions asked for most recently.
    """
    walk = _Walk(position)
    # The dice still to play as a number, and for each such number which die can be next and what is left then
    ways: tuple[_Ways, ...]
    if roll.is_double:
        ways = ((), *(((roll.first, left),) for left in range(4)))
    else:
        ways = ((), ((roll.high, 0),), ((roll.low, 0),), ((roll.high, 2), (roll.low, 1)))
    edges: _Onward = {}
    start = walk.number, len(ways) - 1
    longest = _explore(walk, ways, edges, {}, start, walk.points)
    if longest == 1 and not roll.is_double:  # one die only: the larger
        edges[start] = [way for way in edges[start] if way[0].die == roll.high] or edges[start]
    nodes: list[tuple[Edge, ...]] = []
    places, order, reached_from = {start: 0}, [start], [0]
    # Of several ways to one position the one is kept that `_paths` keeps: there two checkers go before one.
    moved_by_high: dict[_State, int] = {}
    if walk.is_free() and not roll.is_double:
        moved_by_high = {to: move.start for move, to in edges[start] if move.die == roll.high}
    for state in order:
        onward = []
        moved = moved_by_high.get(state)
        for (from_, to, die, hit), following in edges.get(state, ()):
            place = places.setdefault(following, len(order))
            if place == len(order):
                order.append(following)
                reached_from.append(len(nodes))
            elif moved is not None and walk.mine[from_] > (from_ == moved):
                reached_from[place] = len(nodes)
            onward.append(Edge(from_, to, die, int(hit), place))
        nodes.append(tuple(onward))
    return StepGraph(tuple(nodes), tuple(reached_from))


def find_play(position: Position, roll: Roll, hops: Sequence[Hop]) -> Play:
    """The legal play that ends where these moves end, in whatever order and over whatever points (§2.2).

    Raises IllegalPlay, saying which rule is in the way.
    """
    try:
        # From the highest point down, each can be made where any order can.
        written = sorted(hops, reverse=True)
        reached = after(position, written) if len(hops) <= 4 and all(map(_is_hop, hops)) else None
    except ValueError:
        reached = None
    if reached is not None:
        moves = _paths(position, roll).get(_number(position, reached))
        if moves is not None:
            return Play(moves)
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


def read_notation(text: str) -> tuple[Hop, ...] | None:
    """The moves of a play in standard notation, `bar/21 13/8(2) 6/5*`, or None if it is not written so.

    Several points in one go, `24/18/13`, are not: `notation` writes one hop a die.
    """
    hops: list[Hop] = []
    for item in text.split():
        match = re.fullmatch(r"(bar|[1-9][0-9]?)/(off|[1-9][0-9]?)\*?(?:\(([2-4])\))?", item)
        if match is None:
            return None
        start = BAR if match[1] == "bar" else int(match[1])
        hops += [Hop(start, OFF if match[2] == "off" else int(match[2]))] * int(match[3] or 1)
    return tuple(hops)


def _hop_text(hop: Hop) -> str:
    return f"{_point(hop.start)}/{_point(hop.end)}"


def _point(point: int) -> str:
    return {BAR: "bar", OFF: "off"}.get(point, str(point))

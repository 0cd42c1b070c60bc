"""What one player did with a roll, as records of backgammon games have it: read from the words of a text, fitted to the
legal plays of the position.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations, product

from engine.dice import Roll
from engine.errors import IllegalPlay
from engine.plays import Hop, Move
from engine.position import BAR, OFF, Position
from engine.records.wanted import Wanted, any_of, phrase
from engine.variant import PlayRules

_Moves = tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Half:
    """What one player did with a roll: `play`, `pass`, or `missed`, a play never made.

    `hops` in the order in which they are written, one a die, equal ones together; `dice` the die of each, none where
    the roll is not known; `hits` the points on which they hit. `tenths` is the thinking in tenths of a second; None
    where the text does not say it.
    """

    kind: str
    hops: tuple[Hop, ...] = ()
    dice: tuple[int, ...] = ()
    hits: frozenset[int] = frozenset()
    tenths: int | None = None

    @property
    def play(self) -> str:
        """In standard notation, `--` for a pass, `==` for a play never made."""
        return {"pass": "--", "missed": "=="}.get(self.kind) or " ".join(self.items("bar", "off"))

    def items(self, bar: str, off: str, *, each: bool = False) -> Iterator[str]:
        """The moves in these words: `13/8`, `6/5*`, `8/4(2)`; with `each`, every one by itself."""
        hits = set(self.hits)
        for hop, number in Counter(self.hops).items():
            text = f"{bar if hop.start == BAR else hop.start}/{off if hop.end == OFF else hop.end}"
            star = "*" if hop.end in hits else ""
            hits.discard(hop.end)
            if each:
                yield text + star
                yield from [text] * (number - 1)
            else:
                yield text + star + (f"({number})" if number > 1 else "")


def of_moves(moves: Sequence[Move]) -> tuple[tuple[Hop, ...], tuple[int, ...], frozenset[int]]:
    """Moves in their order, but equal ones together: hops, dice and hits of a Half."""
    first: dict[tuple[int, int], int] = {}
    for move in moves:
        first.setdefault((move.start, move.end), len(first))
    moves = sorted(moves, key=lambda move: first[move.start, move.end])
    hits = frozenset(move.end for move in moves if move.hit)
    return tuple(Hop(move.start, move.end) for move in moves), tuple(move.die for move in moves), hits


# ------------------------------------------------------------------------------- what was written, as a play of a roll


class Unfit(Exception):
    """What was written is no legal play of the roll, or several; says what was expected."""

    def __init__(self, code: str, expected: Wanted, message: str) -> None:
        super().__init__(message)
        self.code, self.expected, self.message = code, expected, message


@dataclass(frozen=True, slots=True)
class Doubt:
    """It was written otherwise than it is read, and can mean nothing else."""

    code: str
    message: str


def fitted(rules: PlayRules, before: Position, roll: Roll, written: Half) -> tuple[Half, Doubt | None]:
    """The play that was written, one move a die, in an order in which it can be made. Raises Unfit.

    One move over several dice is read where it can end in one position only. A star that is missing is put in; one
    where nothing is hit is refused, for then the position is not the one that its writer saw.
    """
    text = written.play
    moves = _path(rules, before, roll, written.hops)
    if moves is None:
        ways = _ways(rules, before, roll, written)
        if len(ways) != 1:
            raise _refusal(rules, before, roll, written, ways)
        moves = ways[0]
    half = Half("play" if moves else "pass", *of_moves(_as_written(moves, written.hops)), written.tenths)
    if wrong := written.hits - half.hits:
        raise Unfit("no-hit", half.play, f"{text} hits nothing on {min(wrong)}.")
    if sorted(written.hops) != sorted(half.hops):
        return half, Doubt("several-dice", f"{text} was read as {half.play}, one move a die.")
    if missing := half.hits - written.hits:
        points = ", ".join(map(str, sorted(missing)))
        return half, Doubt("star-missing", f"{text} hits on {points}: the star was missing.")
    if written.hops != half.hops:
        return half, Doubt("move-order", f"{text} was read as {half.play}, in an order that can be played.")
    return half, None


def is_as_written(rules: PlayRules, before: Position, roll: Roll, written: Half) -> bool:
    """Whether these moves are a legal play of this roll, each by one die."""
    dice = (roll.first, roll.second)
    if not all(hop.start - hop.end in dice or hop.end == OFF for hop in written.hops):
        return False
    if not written.hops:
        return not rules.legal_plays(before, roll)[0].moves
    moves = _path(rules, before, roll, written.hops)
    return moves is not None and written.hits <= {move.end for move in moves if move.hit}


def is_legal(rules: PlayRules, before: Position, roll: Roll, written: Half) -> bool:
    """Whether they are one, perhaps over several dice at once."""
    if is_as_written(rules, before, roll, written):
        return True
    dice = {roll.first, roll.second}
    reach = {roll.first * n for n in range(1, 5)} if roll.is_double else dice | {roll.first + roll.second}
    could = all(hop.end == OFF or hop.start - hop.end in reach for hop in written.hops)
    return could and bool(_ways(rules, before, roll, written))


def _path(rules: PlayRules, before: Position, roll: Roll, hops: Sequence[Hop]) -> _Moves | None:
    """The moves of a legal play that are these hops: in their order, or else in one that can be played."""
    if not _ends_well(rules, before, roll, hops):
        return None
    downward = _downward(hops)
    moves: _Moves | None = rules.find_play(before, roll, hops).moves
    assert moves is not None
    if list(hops) == downward and sorted(move[:2] for move in moves) == sorted(hops):
        return moves
    graph = rules.step_graph(before, roll)
    orders = [tuple(hops), tuple(downward), *permutations(hops)]
    for order in orders:
        moves = graph.follow(order)
        if moves is not None:
            node = 0
            for move in moves:
                node = next(e.node for e in graph.nodes[node] if e[:3] == move[:3])
            if not graph.nodes[node]:  # else something more could be played
                return moves
    return None


def _ends_well(rules: PlayRules, before: Position, roll: Roll, hops: Sequence[Hop]) -> bool:
    """Whether these moves end where a legal play ends; found without the reasons that `find_play` gives."""
    if len(hops) > 4 or not all(1 <= hop.start <= BAR and OFF <= hop.end < hop.start for hop in hops):
        return False
    try:
        reached = rules.after(before, [Move(*hop, 0, False) for hop in _downward(hops)])
    except ValueError:
        return False
    return reached in rules.results(before, roll)


def _downward(hops: Sequence[Hop]) -> list[Hop]:
    return sorted(hops, key=lambda hop: (-hop.start, hop.end))


def _as_written(moves: _Moves, hops: Sequence[Hop]) -> _Moves:
    """Moves from the highest point down where they were written so: that is how plays are written, even where they are
    made in another order.
    """
    if list(hops) != _downward(hops):
        return moves
    return tuple(sorted(moves, key=lambda move: (-move.start, move.end)))


def _ways(rules: PlayRules, before: Position, roll: Roll, written: Half) -> list[_Moves]:
    """Ways of making hops that go over several dice at once, one for each position that they reach."""
    most = 4 if roll.is_double else 2
    if not 0 < len(written.hops) <= most:
        return []
    ways: dict[Position, _Moves] = {}
    for choice in product(*(_splits(hop, roll) for hop in written.hops)):
        hops = [hop for part in choice for hop in part]
        moves = _path(rules, before, roll, hops) if len(hops) <= most else None
        if moves is not None and written.hits <= {move.end for move in moves if move.hit}:
            ways.setdefault(rules.after(before, moves), moves)
    return list(ways.values())


def _splits(hop: Hop, roll: Roll) -> list[tuple[Hop, ...]]:
    """The hop by itself, and over each order of the dice that it may have used."""
    if roll.is_double:
        orders = [[roll.first] * number for number in (2, 3, 4)]
    else:
        orders = [[roll.first, roll.second], [roll.second, roll.first]]
    ways: list[tuple[Hop, ...]] = [(hop,)]
    for order in orders:
        points = [hop.start]
        for die in order:
            points.append(max(points[-1] - die, OFF))
        if points[-1] == hop.end and points[-2] > OFF:
            ways.append(tuple(Hop(*pair) for pair in pairwise(points)))
    return ways


def _refusal(
    rules: PlayRules, before: Position, roll: Roll, written: Half, ways: Sequence[Sequence[Move]]
) -> Unfit:
    text = written.play
    if ways:
        said = any_of(Half("play", *of_moves(moves)).play for moves in ways)
        return Unfit("ambiguous-play", said, f"{text} can be made in ways that end differently: {said}.")
    plays = [str(play) or "--" for play in rules.legal_plays(before, roll)]
    several = phrase("legal-plays", n=len(plays), roll=roll, play=plays[0])
    expected: Wanted = plays[0] if len(plays) == 1 else several
    try:
        rules.find_play(before, roll, written.hops)
    except IllegalPlay as refused:
        return Unfit("illegal-play", expected, refused.detail)
    # Ends where a legal play ends, but by moves that none of them makes.
    return Unfit("illegal-play", expected, f"{text} is not made by the dice {roll}.")


# ------------------------------------------------------------------------------------------------------- misprints

NEAR = 2  # letters that a misprint changes


def distance(one: str, other: str) -> int:
    """How many letters must be changed, put in, left out or exchanged with their neighbour."""
    if abs(len(one) - len(other)) > NEAR:
        return NEAR + 1
    earlier: Sequence[int] = ()
    previous: Sequence[int] = range(len(other) + 1)
    for i, letter in enumerate(one, 1):
        current = [i]
        for j, there in enumerate(other, 1):
            cost = min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (letter != there))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == there:
                cost = min(cost, earlier[j - 2] + 1)
            current.append(cost)
        earlier, previous = previous, current
    return previous[-1]

"""§2 Short nardy: what a roll allows, how it is written, and why something else is refused."""

import json
import random
from itertools import groupby, permutations
from typing import Any, NamedTuple

import pytest

from engine.dice import Roll
from engine.errors import IllegalPlay
from engine.plays import (
    Edge,
    Hop,
    StepGraph,
    after,
    find_play,
    has_play,
    legal_plays,
    notation,
    read_notation,
    results,
    step_graph,
)
from engine.position import BAR, CHECKERS, OFF, Position
from tests.builders import DATA, a_roll, hops, hops_of, pos

OPENING = "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5"


class Case(NamedTuple):
    """One line of legal_plays.jsonl: a position, a roll, and every position that a legal play leads to."""

    position: Position
    roll: Roll
    results: set[Position]
    tags: str


def the_cases() -> list[Case]:
    lines = (DATA / "legal_plays.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    return [_case(json.loads(line)) for line in lines]


def _case(line: dict[str, Any]) -> Case:
    # A hit cannot be told from the signs alone when nobody has anything off: the boards tell it all.
    reached = {Position.from_signed(board) for board in line["results"]}
    position = Position.from_signed(line["board"])
    return Case(position, Roll(*line["roll"]), reached or {position}, " ".join(line["tags"]) or "plain")


CASES = the_cases()
BY_TAGS = [
    pytest.param(list(cases), id=tags)
    for tags, cases in groupby(sorted(CASES, key=lambda case: case.tags), key=lambda case: case.tags)
]


def test_all_worked_cases_are_here() -> None:
    assert len(CASES) == 2722


@pytest.mark.parametrize("cases", BY_TAGS)
def test_legal_plays_reach_what_independent_engines_agree_on(cases: list[Case]) -> None:
    for case in cases:
        plays = legal_plays(case.position, case.roll)
        reached = [after(case.position, play.moves) for play in plays]
        assert len(reached) == len(set(reached)), f"a result twice: {case.position} {case.roll}"
        assert set(reached) == case.results, f"{case.position} {case.roll}"
        assert results(case.position, case.roll) == tuple(reached), f"{case.position} {case.roll}"


@pytest.mark.parametrize("cases", BY_TAGS)
def test_a_roll_can_be_played_where_independent_engines_leave_the_position(cases: list[Case]) -> None:
    for position, roll, reached, _ in cases:
        assert has_play(position, roll) is (reached != {position})


@pytest.mark.parametrize("cases", BY_TAGS)
def test_the_step_graph_leads_to_the_same_positions_over_legal_moves(cases: list[Case]) -> None:
    for case in cases:
        leaves, lengths = walk(case.position, case.roll, step_graph(case.position, case.roll))
        assert leaves == case.results, f"{case.position} {case.roll}"
        assert len(lengths) == 1, f"some finish earlier: {case.position} {case.roll}"


def walk(position: Position, roll: Roll, graph: StepGraph) -> tuple[set[Position], set[int]]:
    """The positions of the finished plays, and how many dice they have played; checks every edge on the way."""
    dice = [roll.first] * 4 if roll.is_double else [roll.first, roll.second]
    seen: dict[int, tuple[Position, list[int]]] = {0: (position, dice)}
    leaves, lengths = set(), set()
    for node, edges in enumerate(graph.nodes):
        here, left = seen[node]  # a node comes after those that lead to it
        assert len(edges) == len({(edge.start, edge.die) for edge in edges}), "a move is there once"
        for edge in edges:
            assert_one_legal_move(here, left, edge)
            there = after(here, [Hop(edge.start, edge.end)])
            rest = sorted(left)
            rest.remove(edge.die)
            known = seen.setdefault(edge.node, (there, rest))
            assert known == (there, rest), "two positions in one node"
        if not edges:
            leaves.add(here)
            lengths.add(len(left))
    return leaves, lengths


def assert_one_legal_move(here: Position, dice: list[int], edge: Edge) -> None:
    """§2.1 and §2.3 once more, in the plainest words."""
    assert edge.start >= 1
    assert here.mine[edge.start] > 0
    assert edge.die in dice
    assert edge.end == max(OFF, edge.start - edge.die)
    if here.mine[BAR]:
        assert edge.start == BAR
    if edge.end == OFF:
        assert not any(here.mine[7:])
        if edge.die > edge.start:
            assert not any(here.mine[edge.start + 1 : 7])
        assert edge.hit == 0
    else:
        enemies = here.theirs[BAR - edge.end]
        assert enemies < 2
        assert edge.hit == enemies


@pytest.mark.parametrize("cases", BY_TAGS)
def test_every_legal_play_is_a_path_and_is_found_however_it_is_written(cases: list[Case]) -> None:
    for case in cases[:12]:
        graph = step_graph(case.position, case.roll)
        for play in legal_plays(case.position, case.roll)[:12]:
            assert graph.follow(hops_of(play)) == play.moves
            for order in set(permutations(hops_of(play))):
                assert find_play(case.position, case.roll, order) == play


@pytest.mark.parametrize("cases", BY_TAGS)
def test_whichever_path_is_taken_a_play_is_written_in_one_way(cases: list[Case]) -> None:
    rng = random.Random(1906)
    for case in cases[:200]:
        graph = step_graph(case.position, case.roll)
        known = {after(case.position, play.moves): play for play in legal_plays(case.position, case.roll)}
        for _ in range(8):
            path: list[Hop] = []
            node = 0
            while graph.nodes[node]:
                assert graph.play(path) is None, "not finished"
                edge = rng.choice(graph.nodes[node])
                path.append(Hop(edge.start, edge.end))
                node = edge.node
            play = known[after(case.position, path)]
            assert graph.play(path) == find_play(case.position, case.roll, path) == play
            assert graph.play([*path, Hop(1, 0)]) is None, "no path"


@pytest.mark.parametrize(
    ("position", "roll", "plays"),
    [
        pytest.param("12:1 | 22:2 24:2", "6-5", ["12/6"], id="either die but not both: the larger"),
        pytest.param("20:1 | 14:2 10:2", "5-4", ["20/16"], id="larger die blocked: the smaller"),
        pytest.param("bar:2 | 6:2", "6-4", ["bar/21"], id="second checker cannot enter: half a play"),
        pytest.param("bar:1 | 6:2 4:2", "6-4", [""], id="no entry: an empty play"),
        pytest.param(
            "24:1 8:1 6:13 | 21:2 9:2 7:2 6:1 5:1", "6-2", ["24/22 8/2"], id="both dice wherever they go: A1"
        ),
        pytest.param("24:1 | 12:2", "6-5", ["24/18"], id="only one die, and it must be the larger: A2"),
        pytest.param("5:1 2:1 | 6:2", "4-2", ["5/1 2/off", "5/3 3/off"], id="one off, one moved: A4"),
        pytest.param("1:1 | 24:2", "6-5", ["1/off"], id="the last checker needs no second die: A6"),
        pytest.param("bar:1 | 6:2 5:2 4:2 3:2 2:2 1:2", "3-1", [""], id="six closed points: A7"),
        pytest.param("24:1 | 21:2", "5-5", ["24/19 19/14 14/9"], id="a double as far as it goes: A9"),
        pytest.param(
            "2:1 1:1 | 24:2", "2-1", ["2/off 1/off"], id="the last checker does not excuse the other die"
        ),
        pytest.param("6:1 3:1 | 6:2", "4-4", ["6/2 3/off 2/off"], id="a larger die only from the highest"),
        pytest.param(
            "7:1 1:1 | 6:2", "6-1", ["7/1 1/off"], id="home first, then off; 7/6 6/off ends the same"
        ),
        pytest.param(
            "bar:1 | 5:1 10:2", "5-4", ["bar/20* 20/16", "bar/21 21/16"], id="hitting on the way, or not"
        ),
    ],
)
def test_dice_that_must_be_played(position: str, roll: str, plays: list[str]) -> None:
    assert sorted(str(play) for play in legal_plays(pos(position), a_roll(roll))) == sorted(plays)


@pytest.mark.parametrize(("roll", "plays"), [("3-1", 16), ("4-4", 52), ("6-6", 11)])
def test_the_opening_has_so_many_plays(roll: str, plays: int) -> None:
    assert len(legal_plays(pos(OPENING), a_roll(roll))) == plays


def test_a_roll_is_an_unordered_pair() -> None:
    for case in CASES[::40]:
        turned = Roll(case.roll.second, case.roll.first)
        assert set(results(case.position, turned)) == case.results


def test_nothing_is_lost_or_made_by_a_play() -> None:
    for case in CASES:
        for position in results(case.position, case.roll):
            assert sum(position.mine) == sum(position.theirs) == CHECKERS


@pytest.mark.parametrize(
    ("position", "roll", "text", "written"),
    [
        pytest.param(OPENING, "3-1", "6/5 8/5", "8/5 6/5", id="from the highest point down"),
        pytest.param(OPENING, "6-5", "24/13", "24/18 18/13", id="one hop a die"),
        pytest.param(
            OPENING, "3-3", "13/10 13/10 24/21 24/21", "24/21(2) 13/10(2)", id="equal moves grouped"
        ),
        pytest.param(OPENING, "3-3", "13/10(3) 8/5", "13/10(3) 8/5", id="three of them"),
        pytest.param(
            "24:2 6:4 | 7:1 24:4", "6-6", "24/18(2) 18/12(2)", "24/18*(2) 18/12(2)", id="a hit starred once"
        ),
        pytest.param("bar:1 6:2 | 4:1 24:4", "4-2", "bar/21 6/4", "bar/21* 6/4", id="from the bar, hitting"),
        pytest.param("6:1 5:1 | 24:2", "6-5", "5/off 6/off", "6/off 5/off", id="off"),
        pytest.param("bar:1 | 6:2 4:2", "6-4", "", "", id="nothing"),
    ],
)
def test_a_play_is_written_in_standard_notation(position: str, roll: str, text: str, written: str) -> None:
    play = find_play(pos(position), a_roll(roll), hops(text))
    assert str(play) == notation(play.moves) == written


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("24/18 18/13", id="move by move"),
        pytest.param("24/19 19/13", id="over a point that is closed"),
        pytest.param("18/13 24/18", id="the second move first"),
        pytest.param("24/13", id="in one word"),
    ],
)
def test_a_play_is_known_by_where_it_ends_and_not_by_how_it_is_written(text: str) -> None:
    assert str(find_play(pos(OPENING), a_roll("6-5"), hops(text))) == "24/18 18/13"


def test_passing_over_a_blot_is_not_the_same_as_hitting_it() -> None:
    position = pos("24:1 6:2 | 7:1 24:1")  # a blot on my 18, another on my 1
    hitting = find_play(position, a_roll("6-5"), hops("24/18 18/13"))
    quiet = find_play(position, a_roll("6-5"), hops("24/19 19/13"))
    assert (str(hitting), str(quiet)) == ("24/18* 18/13", "24/19 19/13")
    assert len(legal_plays(position, a_roll("6-5"))) == len({*results(position, a_roll("6-5"))})


@pytest.mark.parametrize(
    ("position", "roll", "text", "because", "detail"),
    [
        pytest.param(OPENING, "3-1", "13/8 6/5", "not-that-die", "5", id="no die shows that"),
        pytest.param(OPENING, "3-1", "8/5 13/10", "not-that-die", "3", id="one die played twice"),
        pytest.param(OPENING, "6-5", "24/19 13/7", "closed-point", "19", id="a closed point"),
        pytest.param(OPENING, "3-1", "8/5", "both-dice", "a 1 can still be played", id="half a play"),
        pytest.param(OPENING, "3-1", "", "both-dice", "can still be played", id="no play at all"),
        pytest.param("24:1 | 21:2", "5-5", "24/19 19/14", "both-dice", "a 5", id="two of three: A9"),
        pytest.param("5:1 2:1 | 6:2", "4-2", "5/1", "both-dice", "a 2", id="one off is possible: A4"),
        pytest.param("5:1 2:1 | 6:2", "4-2", "2/off", "both-dice", "a 4", id="the other one still moves: A4"),
        pytest.param(
            "24:1 8:1 6:13 | 21:2 9:2 7:2 6:1 5:1", "6-2", "8/2", "both-dice", "a 2", id="8/2 alone: A1"
        ),
        pytest.param(
            "24:1 8:1 6:13 | 21:2 9:2 7:2 6:1 5:1",
            "6-2",
            "8/6",
            "both-dice",
            "both must be",
            id="8/6 alone: A1",
        ),
        pytest.param("24:1 | 12:2", "6-5", "24/19", "larger-die", "must be the 6", id="the smaller: A2"),
        pytest.param("24:1 | 12:2", "6-5", "", "both-dice", "a 6 can still be played", id="neither: A2"),
        pytest.param("24:1 | 12:2", "6-5", "24/18 18/13", "closed-point", "13", id="the larger and on: A2"),
        pytest.param("bar:2 13:1 | 6:2", "6-4", "13/7 bar/21", "bar-first", "bar", id="the bar waits"),
        pytest.param("bar:2 13:1 | 6:2", "6-4", "bar/21 13/7", "bar-first", "bar", id="half in"),
        pytest.param("13:1 6:1 | 24:2", "6-5", "6/off 13/8", "not-all-home", "13", id="not all home"),
        pytest.param("6:3 3:1 | 6:2", "5-4", "3/off 6/2", "higher-first", "6", id="a checker stands higher"),
        pytest.param(OPENING, "3-1", "10/9 8/5", "no-checker", "10", id="nobody stands there"),
        pytest.param(OPENING, "3-1", "26/25 8/5", "unknown-point", "1 to 24", id="no such point"),
        pytest.param(OPENING, "3-1", "5/6 8/5", "unknown-point", "down", id="backwards"),
        pytest.param(OPENING, "3-1", "0/0", "unknown-point", "down", id="off does not move"),
        pytest.param("2:4 | 24:2", "6-5", "25/24 2/off", "no-checker", "bar", id="nobody is on the bar"),
        pytest.param(OPENING, "3-3", "24/21 13/10(4)", "too-many-moves", "four", id="five moves"),
        pytest.param(
            "bar:1 | 6:2 4:2", "6-4", "bar/21", "no-legal-play", "nothing", id="nothing can be played"
        ),
        pytest.param("1:1 | 24:2", "6-5", "1/off 1/off", "no-checker", "1", id="nothing is left: A6"),
    ],
)
def test_a_refused_play_says_which_rule_is_in_the_way(
    position: str, roll: str, text: str, because: str, detail: str
) -> None:
    with pytest.raises(IllegalPlay) as refused:
        find_play(pos(position), a_roll(roll), hops(text))
    assert refused.value.params["because"] == because
    assert detail in refused.value.detail
    assert refused.value.code == "illegal-play"
    assert refused.value.params["roll"] == roll


def test_a_text_means_the_same_on_either_side_of_the_board() -> None:
    """Numbering is always the mover's own, for White and Black alike: A16."""
    here, play = pos(OPENING), hops("13/7 8/7")
    white = after(here, find_play(here, a_roll("6-1"), play).moves)
    black = after(white.turned(), find_play(white.turned(), a_roll("6-1"), play).moves).turned()
    assert white.mine == black.mine == black.theirs
    assert black.mine[7] == 2


def test_a_hop_that_either_die_makes_is_followed_with_the_die_that_fits() -> None:
    """5/off is the 6 or the 5; only after the 6 can the 5 still play 6/1."""
    graph = step_graph(pos("5:1 4:1 | 24:2"), a_roll("6-5"))
    moves = graph.follow(hops("5/off 4/off"))
    assert moves is not None
    assert sorted(move.die for move in moves) == [5, 6]
    assert graph.follow(hops("5/off 5/off")) is None


@pytest.mark.parametrize("text", ["", "13/8", "bar/21*", "13/7(2) 24/18*(2)", "6/off 5/off", "bar/20 24/23*"])
def test_what_is_written_is_read_again(text: str) -> None:
    assert read_notation(text) == hops(text)


@pytest.mark.parametrize(
    "text", ["13", "13/", "13/8/5", "0/1", "off/3", "13/8(5)", "13/bar", "13-8", "1３/8"]
)
def test_what_is_no_notation_is_not_read(text: str) -> None:
    assert read_notation(text) is None

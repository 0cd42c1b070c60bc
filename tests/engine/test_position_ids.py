"""Positions as the ids of other programs, judged by those programs."""

from __future__ import annotations

import json
import re

import gnubg_nn
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.gnubg import positions
from engine.errors import BadPosition
from engine.position import CHECKERS, Position
from engine.records.ids import (
    BadId,
    Exchange,
    gnu_id,
    match_id,
    position_id,
    read_gnu_id,
    read_position_id,
    read_xgid,
    xgid,
)
from engine.variant import SHORT
from tests.builders import DATA, a_roll, pos

JUDGED = json.loads((DATA / "gnubg" / "ids.json").read_text(encoding="utf-8"))
OPENING = SHORT.opening()


def test_the_opening_has_the_ids_that_everybody_knows() -> None:
    assert position_id(OPENING) == "4HPwATDgc/ABMA"
    assert xgid(Exchange(OPENING)) == "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"


def test_gnu_backgammon_gives_every_position_the_same_ids() -> None:
    """It was told the XGID, and showed its own."""
    assert [xgid(exchange) for exchange in positions(len(JUDGED))] == [case["xgid"] for case in JUDGED]
    for case in JUDGED:
        exchange = read_xgid(case["xgid"])
        assert (position_id(exchange.position), match_id(exchange)) == (case["position"], case["match"])
        assert read_gnu_id(f"{case['position']}:{case['match']}") == exchange


def sides() -> st.SearchStrategy[Position]:
    """Any checkers that can stand together."""

    def position(places: list[int], cut: int) -> Position | None:
        board = [0] * 26
        for k, place in enumerate(places):
            sign = 1 if k < cut else -1
            if place == 0:
                board[25 if sign > 0 else 0] += 1
            elif board[place] * sign >= 0:
                board[place] += sign
        try:
            return Position.from_signed(board)
        except BadPosition:
            return None

    drawn = st.builds(position, st.lists(st.integers(0, 24), max_size=30), st.integers(0, CHECKERS))
    return drawn.filter(lambda found: found is not None)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(sides())
def test_gnubgs_own_library_agrees_on_any_position(position: Position) -> None:
    def board(counts: tuple[int, ...]) -> list[int]:
        return [*counts[1:25], counts[25]]

    expected = gnubg_nn.position_id([board(position.theirs), board(position.mine)])
    assert position_id(position) == expected
    assert gnubg_nn.board_from_position_id(expected) == [board(position.theirs), board(position.mine)]
    assert read_position_id(expected) == position


cubes = st.integers(0, 15).map(lambda power: 2**power)
exchanges = st.builds(
    Exchange,
    sides(),
    st.sampled_from([None, *(a_roll(f"{high}-{low}") for high in range(1, 7) for low in range(1, high + 1))]),
    cubes,
    st.sampled_from([None, "mine", "theirs"]),
    st.tuples(st.integers(0, 32_767), st.integers(0, 32_767)),
    st.integers(1, 32_767),
    st.booleans(),
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(exchanges)
def test_an_id_says_everything_that_it_was_made_from(exchange: Exchange) -> None:
    assert read_gnu_id(gnu_id(exchange)) == exchange
    assert read_xgid(xgid(exchange)) == exchange


def test_a_turned_id_is_read_as_the_side_on_roll_sees_it() -> None:
    """The same position from either side of the table: turned round, capitals and small letters change places."""
    board = "-A-abAE-A-A-dCA--bac--aaAA"
    here = read_xgid(f"XGID={board}:1:-1:-1:21:4:1:0:5:10")
    there = read_xgid(f"XGID={board[::-1].swapcase()}:1:1:1:21:1:4:0:5:10")
    assert here == there
    assert (here.owner, here.score, here.position.mine[21]) == ("mine", (1, 4), 2)
    assert read_xgid(xgid(here)) == here


def test_money_games_say_whether_jacobys_rule_holds() -> None:
    for uses in (True, False):
        exchange = Exchange(OPENING, uses_jacoby=uses)
        assert read_gnu_id(gnu_id(exchange)) == exchange
        assert read_xgid(xgid(exchange)) == exchange


def test_bar_and_off_are_where_they_should_be() -> None:
    exchange = Exchange(pos("bar:2 6:5 1:1 | bar:1 20:2 3:4"), a_roll("5-2"))
    text = xgid(exchange)
    assert (text[5], text[30]) == ("a", "B")
    assert read_xgid(text).position == exchange.position
    assert read_position_id(position_id(exchange.position)) == exchange.position


BAD = [
    ("", "xgid"),
    ("XGID=", "xgid"),
    ("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0", "xgid"),
    ("XGID=-b----E-C---eE---c-e----B-:0:0:2:00:0:0:0:0:10", "xgid"),
    ("XGID=-b----E-C---eE---c-e----B-:0:0:1:70:0:0:0:0:10", "dice"),
    ("XGID=Ab----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", "board"),
    ("XGID=-b----E-C---eE---c-e----Ba:0:0:1:00:0:0:0:0:10", "board"),
    ("XGID=-b----G-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10", "position"),
]


@pytest.mark.parametrize(("text", "because"), BAD)
def test_what_is_no_xgid_is_refused(text: str, because: str) -> None:
    with pytest.raises(BadId) as refused:
        read_xgid(text)
    assert refused.value.params["because"] == because


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("4HPwATDgc/ABM", "length"),
        ("4HPwATDgc/ABM!", "letters"),
        ("//////////////", "position-id"),
        ("4HPwATDgc/ABMA:cAkAAAAAAAA", "length"),
        ("4HPwATDgc/ABMA:cAkAAAAAAAA?", "letters"),
        ("4HPwATDgc/ABMA:IAkAAAAAAAAE", "match-id"),
        ("4PPwATDgc/ABMA", "position"),
    ],
)
def test_what_is_no_gnu_id_is_refused(text: str, because: str) -> None:
    with pytest.raises(BadId) as refused:
        read_gnu_id(text)
    assert refused.value.params["because"] in (because, "position-id")


@given(st.text(max_size=30) | st.from_regex(r"[A-Za-z0-9+/]{14}(:[A-Za-z0-9+/]{12})?", fullmatch=True))
def test_any_text_is_refused_or_read_to_an_id_that_says_the_same(text: str) -> None:
    for read, write in ((read_gnu_id, gnu_id), (read_xgid, xgid)):
        try:
            exchange = read(text)
        except BadId:
            continue
        assert read(write(exchange)) == exchange


def test_an_xgid_of_ours_is_one_word() -> None:
    assert re.fullmatch(
        r"XGID=[-A-Oa-o]{26}(:-?\d+){3}:\d\d(:\d+){5}", xgid(Exchange(OPENING, a_roll("2-6")))
    )
    assert ":62:" in xgid(Exchange(OPENING, a_roll("2-6")))

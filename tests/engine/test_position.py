"""§1 Where checkers stand, and how a position is written."""

import json

import pytest

from engine.dice import Roll
from engine.errors import BadPosition, BadRoll
from engine.position import BAR, CHECKERS, OFF, Position, side
from engine.turn import Color, Game, Phase, Seat, Turn, color_of, game_of, player_of
from engine.variant import LONG, SHORT
from tests.builders import DATA, pos


@pytest.mark.parametrize(
    ("text", "pips", "their_pips", "off"),
    [
        pytest.param("24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5", 167, 167, 0, id="the opening"),
        pytest.param("bar:1 6:14 | 1:1", 25 + 84, 1, 0, id="the bar counts 25"),
        pytest.param("|", 0, 0, 15, id="everybody is off"),
        pytest.param("6:2 | 24:15", 12, 360, 13, id="what is missing is off"),
    ],
)
def test_pips_are_the_sum_of_the_point_numbers(text: str, pips: int, their_pips: int, off: int) -> None:
    position = pos(text)
    assert (position.pips(), position.turned().pips(), position.mine[OFF]) == (pips, their_pips, off)
    assert pos(str(position)) == position


def test_each_variant_opens_alike_for_both_sides() -> None:
    assert str(SHORT.opening()) == "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5"
    assert str(LONG.opening()) == "24:15 | 24:15"
    assert SHORT.opening().pips() == 167


@pytest.mark.parametrize(
    "text",
    [
        "6:2",
        "6:2 | 5:1 | 4:1",
        "25:1 |",
        "0:1 |",
        "6:16 |",
        "x:1 |",
        "6 |",
        "6:-1 |",
        "6: |",
        "6:1 6:2 |",
        "06:1 6:1 |",
    ],
)
def test_a_position_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(BadPosition):
        pos(text)


@pytest.mark.parametrize(
    "board",
    [
        pytest.param([0] * 25, id="a point too few"),
        pytest.param([-1] + [0] * 25, id="a bar less than empty"),
        pytest.param([0] * 25 + [-1], id="the other bar too"),
        pytest.param([0] * 6 + [16] + [0] * 19, id="sixteen checkers"),
        pytest.param([0] * 6 + [True] + [0] * 19, id="not a number"),
    ],
)
def test_a_signed_board_that_cannot_be_is_refused(board: list[int]) -> None:
    with pytest.raises(BadPosition):
        Position.from_signed(board)


def test_a_signed_board_says_all_and_comes_back() -> None:
    lines = (DATA / "legal_plays.jsonl").read_text(encoding="utf-8").splitlines()[1::25]
    for board in (json.loads(line)["board"] for line in lines):
        position = Position.from_signed(board)
        assert position.signed() == board
        assert position.turned().turned() == position
        assert sum(position.mine) == sum(position.theirs) == CHECKERS


def test_a_side_has_fifteen_checkers() -> None:
    assert side({6: 5}, bar=2)[OFF] == 8
    assert side({6: 5}, bar=2)[BAR] == 2
    with pytest.raises(BadPosition):
        side({6: 5}, bar=-1)
    with pytest.raises(BadPosition):
        side({6: -5})


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 7), (-1, 3)])
def test_a_die_shows_one_to_six(first: int, second: int) -> None:
    with pytest.raises(BadRoll):
        Roll(first, second)


@pytest.mark.parametrize(
    ("seat", "phase", "game", "color"),
    [
        (Seat.A, Phase.W, Game.X, Color.WHITE),
        (Seat.B, Phase.W, Game.Y, Color.WHITE),
        (Seat.A, Phase.K, Game.Y, Color.BLACK),
        (Seat.B, Phase.K, Game.X, Color.BLACK),
    ],
)
def test_both_play_the_same_color_on_different_boards(
    seat: Seat, phase: Phase, game: Game, color: Color
) -> None:
    assert game_of(seat, phase) is game
    assert color_of(seat, game) is phase.color is color
    assert player_of(game, color) is seat
    assert game_of(seat.other, phase) is game.other


@pytest.mark.parametrize(
    ("text", "turn", "then"),
    [("1W", Turn(1), "1K"), ("1K", Turn(1, black=True), "2W"), ("12K", Turn(12, black=True), "13W")],
)
def test_phase_k_follows_w_and_a_round_follows_k(text: str, turn: Turn, then: str) -> None:
    assert Turn.parse(text) == turn
    assert (str(turn), str(turn.next())) == (text, then)
    assert turn < turn.next()


@pytest.mark.parametrize("text", ["", "W", "0W", "01W", "1w", "1X", "1W ", "1W\n", "-1W", "1234567W", "١W"])
def test_what_names_no_turn_is_none(text: str) -> None:
    assert Turn.parse(text) is None


@pytest.mark.parametrize(
    ("loser", "short", "long"),
    [
        pytest.param("1:14", "oin", "oin", id="one is off"),
        pytest.param("24:14", "oin", "oin", id="one is off, the others far back"),
        pytest.param("6:15", "mars", "mars", id="none off"),
        pytest.param("18:1 6:14", "mars", "mars", id="just outside the winner's home"),
        pytest.param("19:1 6:14", "koks", "mars", id="just inside it"),
        pytest.param("24:1 6:14", "koks", "mars", id="deep inside it"),
        pytest.param("bar:1 6:14", "koks", "mars", id="on the bar"),
    ],
)
def test_the_class_of_a_lost_game(loser: str, short: str, long: str) -> None:
    """§2.4, §3.4: A13."""
    side = pos(f"{loser} |").mine
    assert (SHORT.loss_class(side), LONG.loss_class(side)) == (short, long)

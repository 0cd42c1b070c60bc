"""What a match was worth (§6.4): errors, luck, the objective result."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from engine.analysis import (
    Chances,
    Conceded,
    Judge,
    Played,
    TurnJudged,
    analysed,
    grade_of,
    outlook,
    played,
    possible_rolls,
    settled,
    turn_judged,
    work,
)
from engine.bot import worth
from engine.dice import Roll
from engine.match import Made, PhasePlayed, Resign, resign_price
from engine.plays import find_play, results
from engine.position import CHECKERS, OFF, Position
from engine.scoring import Outcome
from engine.turn import FIRST_TURN, Game, Games, Phase, Seat, Seats, Turn, game_of
from engine.variant import SHORT
from tests.builders import A, B, a_match, a_roll, hops, pos
from tests.support.selfplay import MIDDLE, Player, careless, leading, self_play, swapped, variant_from, whole

# ------------------------------------------------------------------------------------------------------ evaluators


class Pips:
    """Who is ahead in the race is likely to win it; how much that says, the fewer pips there are, the more."""

    name, version = "pips", "1"

    def chances(self, positions: Sequence[Position]) -> list[Chances]:
        found = []
        for position in positions:
            mine, theirs = position.pips(), position.turned().pips()
            lead = (theirs - 4 - mine) / (mine + theirs + 8)
            found.append(Chances(min(1.0, max(0.0, 0.5 + 2 * lead)), 0, 0, 0, 0))
        return found


class Race:
    """Bearing off: pips and what is wasted with each checker, against how much the dice still vary."""

    name, version = "race", "1"

    def chances(self, positions: Sequence[Position]) -> list[Chances]:
        found = []
        for position in positions:
            left = [
                side_pips + 2.5 * (CHECKERS - side[OFF])
                for side_pips, side in (
                    (position.pips(), position.mine),
                    (position.turned().pips(), position.theirs),
                )
            ]
            ahead = (left[1] - 4 - left[0]) / math.sqrt(1.4 * sum(left))
            found.append(Chances(0.5 + 0.5 * math.erf(ahead / math.sqrt(2)), 0, 0, 0, 0))
        return found


class AtAGlance:
    """The built-in player's worth, made into a chance of winning."""

    name, version = "glance", "1"

    def chances(self, positions: Sequence[Position]) -> list[Chances]:
        return [
            Chances(0.5 + 0.5 * value / (abs(value) + 600), 0.1, 0, 0.1, 0)
            for value in ((worth(position) - worth(position.turned())) / 2 for position in positions)
        ]


class Clueless:
    """Every game is even."""

    name, version = "clueless", "1"

    def chances(self, positions: Sequence[Position]) -> list[Chances]:
        return [Chances(0.5, 0, 0, 0, 0)] * len(positions)


class Asked:
    """What another says, and what it was asked for."""

    name, version = "asked", "1"

    def __init__(self) -> None:
        self.positions: list[Position] = []
        self.calls = 0

    def chances(self, positions: Sequence[Position]) -> list[Chances]:
        self.calls += 1
        self.positions += positions
        return Pips().chances(positions)


# --------------------------------------------------------------------------------------------------------- matches


def a_played(
    *phases: tuple[str, str, str, str],
    x: str,
    y: str | None = None,
    from_: str | None = None,
    outcome: Outcome = Outcome.FINISHED,
    conceded: Conceded | None = None,
) -> Played:
    """Phases as (turn, roll, A's play, B's play) after one before them that ends in these games, as White sees them."""
    games = Games(pos(x), pos(y or x))
    idle = Made.of("pass", (), 0)
    first = Turn.parse(phases[0][0])
    assert first is not None
    found = []
    turn = FIRST_TURN
    while turn != first:  # so that turns, rounds and places agree
        found.append(PhasePlayed(turn, Roll(1, 2), Seats(idle, idle), games))
        turn = turn.next()
    for name, roll_text, *texts in phases:
        turn, roll = Turn.parse(name), a_roll(roll_text)
        assert turn is not None
        made = []
        for seat, text in zip(Seat, texts, strict=True):
            game = game_of(seat, turn.phase)
            before = games[game].turned() if turn.phase is Phase.K else games[game]
            if text == "==":
                made.append(Made.of("missed", (), 0))
                continue
            play = find_play(before, roll, hops(text))
            end = SHORT.rules.after(before, play.moves)  # type: ignore[union-attr]
            made.append(Made.of("play" if play.moves else "pass", play.moves, 0))
            games = games.with_(game, end.turned() if turn.phase is Phase.K else end)
        found.append(PhasePlayed(turn, roll, Seats(*made), games))
    return Played(SHORT, False, tuple(found), outcome, conceded, None)


SELF_PLAY = self_play(Seats(leading, careless), Random(7), MIDDLE)


# ------------------------------------------------------------------------------------------------------------ luck


@pytest.mark.parametrize("evaluator", [Pips(), AtAGlance(), Clueless()], ids=["pips", "glance", "clueless"])
def test_the_luck_of_all_rolls_of_a_position_is_zero_in_the_mean(evaluator: Pips) -> None:
    for index in [0, 1, 2, 11, len(SELF_PLAY.phases) - 2, len(SELF_PLAY.phases) - 1]:
        for seat in Seat:
            seen = outlook(SELF_PLAY, index, seat, evaluator)
            rolls = possible_rolls(SELF_PLAY.phases[index].turn, opening_double=False)
            assert sum(weight for _, weight in rolls) == (30 if index == 0 else 36)
            assert abs(sum(weight * seen.luck(roll) for roll, weight in rolls)) < 1e-12


def test_a_re_rolled_opening_has_thirty_rolls_and_no_double() -> None:
    rolls = possible_rolls(FIRST_TURN, opening_double=False)
    assert len(rolls) == 15
    assert {weight for _, weight in rolls} == {2}
    assert not any(roll.is_double for roll, _ in rolls)
    assert len(possible_rolls(FIRST_TURN, opening_double=True)) == 21
    assert len(possible_rolls(Turn(1, black=True), opening_double=False)) == 21
    allowed = replace(SELF_PLAY, opening_double=True)
    assert len(outlook(allowed, 0, A, Pips()).worth) == 21


def test_a_roll_is_as_lucky_whichever_die_came_first() -> None:
    seen = outlook(SELF_PLAY, 0, A, Pips())
    assert seen.luck(Roll(5, 2)) == seen.luck(Roll(2, 5))


def test_the_luck_in_the_analysis_is_that_of_the_outlook() -> None:
    for index in (0, 1, 8):
        judged = turn_judged(SELF_PLAY, index, Judge(Pips()))
        for seat in Seat:
            seen = outlook(SELF_PLAY, index, seat, Pips())
            assert judged.halves[seat].luck == seen.luck(SELF_PLAY.phases[index].roll)
            assert judged.halves[seat].mean == seen.mean


# ----------------------------------------------------------------------------------------------------- the symmetry


@pytest.mark.parametrize("judge", [Judge(Pips()), Judge(Pips(), AtAGlance())], ids=["one", "two"])
def test_exchanged_players_negate_everything_to_the_last_digit(judge: Judge) -> None:
    there, back = whole(SELF_PLAY, judge), whole(swapped(SELF_PLAY), judge)
    assert back.luck_for_A == -there.luck_for_A != 0
    assert back.result_for_A == -there.result_for_A
    assert back.objective_for_A == -(there.objective_for_A or 0) != 0
    assert back.players == Seats(there.players.B, there.players.A)


def test_equal_play_gives_exactly_nothing() -> None:
    match = self_play(Seats(leading, leading), Random(3))
    found = whole(match, Judge(Pips(), AtAGlance()))
    assert found.parted is None
    assert (found.luck_for_A, found.result_for_A, found.objective_for_A) == (0, 0, 0)
    assert found.players.A == found.players.B
    assert found.players.A.luck != 0


# ------------------------------------------------------------------------------------------------------- decisions


@pytest.mark.parametrize(
    ("loss", "grade"),
    [
        (0, "fine"),
        (0.0199, "fine"),
        (0.02, "doubtful"),
        (0.05, "mistake"),
        (0.0999, "mistake"),
        (0.1, "blunder"),
    ],
)
def test_grades(loss: float, grade: str) -> None:
    assert grade_of(loss) == grade


def test_forced_plays_and_passes_count_for_nothing() -> None:
    # A has one legal play; B, whose last checker is shut out, none.
    match = a_played(
        ("2W", "6-5", "20/9", "--"),
        x="20:1 | 1:2 2:2 24:2",
        y="bar:1 | 1:2 2:2 3:2 4:2 5:2 6:2",
    )
    found = turn_judged(match, 2, Judge(Pips()))
    assert [found.halves[seat].kind for seat in Seat] == ["forced", "pass"]
    assert [found.halves[seat].grade for seat in Seat] == [None, None]
    summary = analysed(match, list(work(match, Judge(Pips())))).players.A
    assert (summary.decisions, summary.loss, summary.error_rate) == (0, 0, None)


def test_an_error_is_what_the_best_play_would_have_kept_and_names_up_to_three_better_ones() -> None:
    found = whole(SELF_PLAY, Judge(AtAGlance()))
    errors = 0
    for index, turn in enumerate(found.turns):
        for seat in Seat:
            half, phase = turn.halves[seat], SELF_PLAY.phases[index]
            if half.kind != "choice":
                continue
            game = SELF_PLAY.games_before(index)[half.game]
            before = game.turned() if phase.turn.phase is Phase.K else game
            best = outlook(SELF_PLAY, index, seat, AtAGlance()).worth[Roll(phase.roll.high, phase.roll.low)]
            assert half.loss == pytest.approx(best - half.equity, abs=1e-15)
            assert half.loss >= 0
            assert len(half.better) <= 3
            assert (half.loss > 0) is bool(half.better)
            for better in half.better:
                errors += 1
                find_play(before, phase.roll, hops(better.play))  # legal
                assert better.equity > half.equity
            assert [b.equity for b in half.better] == sorted((b.equity for b in half.better), reverse=True)
    assert errors > 10
    for summary in (found.players.A, found.players.B):
        assert summary.error_rate == summary.loss / summary.decisions > 0
        assert sum(summary.grades.values()) == summary.decisions


def test_the_closer_look_judges_the_play_and_the_quick_one_the_luck() -> None:
    both, quick, close = (
        turn_judged(SELF_PLAY, 6, judge)
        for judge in (Judge(Pips(), AtAGlance()), Judge(Pips()), Judge(AtAGlance()))
    )
    for seat in Seat:
        assert both.halves[seat].luck == quick.halves[seat].luck
        assert both.halves[seat].value == quick.halves[seat].value
        assert both.halves[seat].equity == close.halves[seat].equity


def test_one_call_for_each_phase_and_no_position_twice() -> None:
    match = self_play(Seats(leading, careless), Random(7), most=2)
    asked = Asked()
    turn_judged(match, 0, Judge(asked))
    assert asked.calls == 1
    assert len(asked.positions) == len(set(asked.positions))


# --------------------------------------------------------------------------------------------------- the last move


def test_the_last_move_is_worth_what_it_makes_final() -> None:
    """White is off. Black has two checkers on his 6-point: any double but 1-1 and 2-2 ties, and 6-5 does not."""
    match = a_played(
        ("2W", "6-5", "6/off 5/off", "24/18 13/8"),
        ("2K", "6-5", "13/7 13/8", "6/off 6/1"),
        x="6:1 5:1 | 6:2",
        y="24:2 13:2 | 24:2 13:2",
    )
    tying = 1 + 1 + 1 + 1  # 3-3, 4-4, 5-5, 6-6
    seen = outlook(match, 3, B, Clueless())
    assert seen.worth[Roll(6, 6)] == seen.worth[Roll(3, 3)] == 0
    assert seen.worth[Roll(2, 2)] == seen.worth[Roll(6, 5)] == -1
    assert seen.mean == pytest.approx(-(36 - tying) / 36, abs=1e-15)
    found = analysed(match, list(work(match, Judge(Clueless()))))
    last_of_b, last_of_a = found.turns[3].halves.B, found.turns[2].halves.A
    assert last_of_b.luck == pytest.approx(-tying / 36, abs=1e-15)
    assert last_of_b.loss == 0  # 6/off 6/1 and 6/1 6/off end alike
    # A's last roll on X: the value of being off is the mean of what Black still may do
    assert last_of_a.equity == pytest.approx((36 - tying) / 36, abs=1e-15)
    assert found.result_for_A == 1  # X is won as ойн; Y is unfinished, and the evaluator calls it even


@pytest.mark.parametrize(
    ("position", "roll", "value"),
    [
        pytest.param(" | 6:2", "6-6", 0, id="both off: a tie"),
        pytest.param(" | 6:2", "6-5", -1, id="ойн"),
        pytest.param(" | 6:15", "5-4", -2, id="nothing off: марс"),
        pytest.param(" | 6:14 1:1", "2-1", -1, id="the first checker off in the last move saves from марс"),
        pytest.param(" | 24:1 6:14", "2-1", -3, id="still in White's home: кокс"),
        pytest.param(" | 24:1 6:14", "6-1", -2, id="out of White's home in time: марс"),
    ],
)
def test_final_values_after_the_last_move(position: str, roll: str, value: int) -> None:
    black = pos(position).turned()
    best = max(
        chances.equity
        for end in results(black, a_roll(roll))
        if (chances := settled(SHORT, end, Phase.K)) is not None
    )
    assert best == value


def test_black_finishing_in_phase_k_wins_and_white_gets_nothing_more() -> None:
    end = pos(" | 6:2")
    won = settled(SHORT, end, Phase.K)
    assert won is not None
    assert won.equity == 1
    mars = settled(SHORT, pos(" | 6:15"), Phase.K)
    koks = settled(SHORT, pos(" | bar:1 6:14"), Phase.K)
    assert mars is not None
    assert koks is not None
    assert (mars.equity, koks.equity) == (2, 3)
    assert settled(SHORT, pos("6:1 | 6:1"), Phase.K) is None


def test_a_last_move_never_made_is_no_decision_but_costs_what_it_costs() -> None:
    """A, Black on Y, could tie with 6-6, and is away; on X it is Black's turn too, for B."""
    match = a_played(
        ("2W", "6-5", "24/18 13/8", "6/off 5/off"),
        ("2K", "6-6", "==", "13/7(2) 24/18(2)"),
        x="24:2 13:2 | 24:2 13:2",
        y="6:1 5:1 | 6:2",
    )
    found = whole(match, Judge(Clueless()))
    half = found.turns[3].halves.A
    assert (half.kind, half.grade, half.loss, half.equity) == ("missed", None, 1, -1)
    assert found.players.A.decisions == 1  # the one of 2W
    assert found.result_for_A == -1


def test_a_tie_thrown_away_with_the_last_move_is_a_whole_point() -> None:
    """Black, B on X, has checkers on 4 and 1 and rolls 4-1: both off is a tie; 4/3 3/off leaves one."""
    match = a_played(
        ("2W", "6-5", "6/off 5/off", "24/18 13/8"),
        ("2K", "4-1", "13/9 13/12", "4/3 3/off"),
        x="6:1 5:1 | 4:1 1:1",
        y="24:2 13:2 | 24:2 13:2",
    )
    found = whole(match, Judge(Clueless()))
    half = found.turns[3].halves.B
    assert (half.kind, half.grade, half.loss, half.equity) == ("choice", "blunder", 1, -1)
    assert [(better.play, better.equity) for better in half.better] == [("4/off 1/off", 0)]
    assert found.result_for_A == 1


def test_a_tied_game_counts_nothing() -> None:
    match = a_played(
        ("2W", "6-5", "6/off 5/off", "24/18 13/8"),
        ("2K", "6-6", "13/7(2) 24/18(2)", "6/off(2)"),
        x="6:1 5:1 | 6:2",
        y="24:2 13:2 | 24:2 13:2",
    )
    assert whole(match, Judge(Clueless())).result_for_A == 0


# ----------------------------------------------------------------------------------- a small endgame, by hand


def ties(text: str) -> int:
    """How many of 36 rolls bear these off at once."""
    return sum(
        weight
        for roll, weight in possible_rolls(Turn(2), opening_double=False)
        if any(end.mine[OFF] == CHECKERS for end in results(pos(f"{text} | "), roll))
    )


@pytest.fixture
def endgame() -> Played:
    """Each side has checkers on 6 and 2. Only Black's 2-1 is played differently: A keeps one checker, B two."""
    return a_played(
        ("2W", "5-1", "6/5 5/off", "6/5 5/off"),
        ("2K", "2-1", "6/5 2/off", "6/4 4/3"),
        ("3W", "2-1", "2/off", "2/off"),
        ("3K", "6-2", "5/off", "3/off 2/off"),
        x="6:1 2:1 | 6:1 2:1",
    )


def test_a_small_endgame_counted_by_hand(endgame: Played) -> None:
    """The evaluator knows nothing: it calls even all that is not over."""
    found = whole(endgame, Judge(Clueless()))
    # 6 and 2 are borne off by 6-2 … 6-5 (8), 6-6, 5-5, 4-4, 3-3 and 2-2 (each 1): 13 rolls of 36.
    assert ties("6:1 2:1") == 13
    # 2W: with those White is off, and Black, who has as much left, has the last move: 13 of 36 tie. Else it is even.
    mean = 13 / 36 * (1 - 13 / 36)
    # 2K: with the same 13 Black is off before White, who has one checker left: ойн. Else it is even.
    for seat in Seat:
        assert [found.turns[index].halves[seat].mean for index in (2, 3)] == pytest.approx(
            [mean, 13 / 36], abs=1e-15
        )
        assert [found.turns[index].halves[seat].luck for index in (2, 3)] == pytest.approx(
            [-mean, -13 / 36], abs=1e-15
        )
        assert [found.turns[index].halves[seat].loss for index in (2, 3)] == [0, 0]
    # 3W: a checker on 2 goes off with every roll: no choice, no luck.
    for seat in Seat:
        half = found.turns[4].halves[seat]
        assert (half.kind, half.luck) == ("forced", pytest.approx(0, abs=1e-15))
    # 3K: one on 5 ties with all but 1-1, 2-1, 3-1; 3 and 2 with no 1 at all.
    assert (ties("5:1"), ties("3:1 2:1")) == (31, 25)
    assert found.turns[5].halves.A.mean == pytest.approx(-5 / 36, abs=1e-15)
    assert found.turns[5].halves.B.mean == pytest.approx(-11 / 36, abs=1e-15)
    assert found.turns[5].halves.A.luck == pytest.approx(5 / 36, abs=1e-15)
    assert found.turns[5].halves.B.luck == pytest.approx(11 / 36, abs=1e-15)
    # Both games are tied. B had the luck; A's play of 2-1 was worth exactly these 6 chances of 36 more.
    assert found.result_for_A == 0
    assert found.luck_for_A == pytest.approx(-6 / 36, abs=1e-14)
    assert found.objective_for_A == pytest.approx(6 / 36, abs=1e-14)


# ------------------------------------------------------------------------------------------------- ended early


def test_a_game_given_up_counts_as_lost_and_the_other_as_it_stood_at_the_rounds_end() -> None:
    table = a_match().play_until("3K")
    price = resign_price(table.match, A)
    assert price is not None
    table.do(Resign(A, table.turn, price.points, table.at(5000)))
    match = played(table.match)
    assert len(match.phases) == 5  # 3W is finished; 3K is open and counts for nobody
    assert match.conceded is not None
    given_up, other = match.conceded.game, match.conceded.game.other
    assert match.conceded.points_for_A == -{"oin": 1, "mars": 2, "koks": 3}[price.loss_class]
    found = whole(match, Judge(Pips()))
    end = match.phases[3].games[other]  # as at the end of round 2
    (as_black,) = Pips().chances([end.turned()])
    value = -as_black.equity if other is Game.X else as_black.equity
    assert found.result_for_A == match.conceded.points_for_A + value
    # Of 3W the luck counts on the board that was given up, and on the other it does not.
    halves = found.turns[4].halves
    on_board = {halves[seat].game: seat for seat in Seat}
    for game, counts in ((given_up, True), (other, False)):
        seat = on_board[game]
        luck = sum(turn.halves[seat].luck for turn in found.turns[: 5 if counts else 4])
        assert found.players[seat].luck == pytest.approx(luck, abs=1e-12)
    assert found.objective_for_A == found.result_for_A - found.luck_for_A
    back = whole(swapped(match), Judge(Pips()))
    assert back.objective_for_A == -found.objective_for_A


def test_given_up_in_the_first_round_the_other_game_is_worth_the_start() -> None:
    table = a_match().play_until("1K")
    price = resign_price(table.match, B)
    assert price is not None
    table.do(Resign(B, table.turn, price.points, table.at(5000)))
    match = played(table.match)
    found = whole(match, Judge(Pips()))
    assert match.conceded is not None
    white = A if match.conceded.game.other is Game.X else B
    start = found.turns[0].halves[white].mean
    assert found.result_for_A == match.conceded.points_for_A + (start if white is A else -start)


def test_a_match_that_was_agreed_on_is_two_unfinished_games() -> None:
    match = replace(SELF_PLAY, phases=SELF_PLAY.phases[:7], outcome=Outcome.AGREED)
    found = whole(match, Judge(Pips()))
    games = match.phases[5].games
    x, y = (chances.equity for chances in Pips().chances([games.X.turned(), games.Y.turned()]))
    assert found.result_for_A == -x + y
    assert found.players.A.luck == pytest.approx(
        sum(turn.halves.A.luck for turn in found.turns[:6]), abs=1e-12
    )


@pytest.mark.parametrize("outcome", [Outcome.VOID, Outcome.ABORTED])
def test_what_counts_for_nothing_has_no_objective_result(outcome: Outcome) -> None:
    for phases in ((), SELF_PLAY.phases[:3]):
        assert (
            whole(replace(SELF_PLAY, phases=phases, outcome=outcome), Judge(Pips())).objective_for_A is None
        )


# ------------------------------------------------------------------------------------------------- kept and resumed


def test_judged_phases_are_kept_as_plain_data_and_the_work_goes_on_from_them() -> None:
    judge = Judge(Pips())
    at_once = whole(SELF_PLAY, judge)
    kept = []
    for turn in work(SELF_PLAY, judge):
        kept.append(json.dumps(turn.to_plain()))
        if len(kept) == 5:
            break
    kept += [json.dumps(turn.to_plain()) for turn in work(SELF_PLAY, judge, done=len(kept))]
    turns = [TurnJudged.from_plain(json.loads(line)) for line in kept]
    assert analysed(SELF_PLAY, turns) == at_once
    assert {type(turn.halves[seat].win) for turn in turns for seat in Seat} == {float}
    assert json.loads(json.dumps(at_once.to_plain()))["objective_for_A"] == at_once.objective_for_A


def test_the_analysis_waits_for_all_phases() -> None:
    with pytest.raises(AssertionError):
        analysed(SELF_PLAY, list(work(SELF_PLAY, Judge(Pips())))[:-1])


# --------------------------------------------------------------------------------------------- what it is good for

RACE = variant_from("6:2 5:2 4:1")


def spread(evaluator: Pips, players: Seats[Player], number: int) -> tuple[list[float], list[float]]:
    """E and E − L of so many matches."""
    dice, results_, objective = Random(11), [], []
    for _ in range(number):
        found = whole(self_play(players, dice, RACE), Judge(evaluator))
        assert found.objective_for_A is not None
        results_.append(found.result_for_A)
        objective.append(found.objective_for_A)
    return results_, objective


@pytest.mark.parametrize("evaluator", [Race(), Clueless()], ids=["good", "clueless"])
def test_luck_expects_nothing_whatever_the_evaluator_is_worth(evaluator: Pips) -> None:
    """The spread with a strong one, and whole games: tests/app/test_judge.py."""
    raw, objective = spread(evaluator, Seats(leading, careless), 150)
    luck = [e - o for e, o in zip(raw, objective, strict=True)]
    assert abs(statistics.mean(luck)) < 3 * statistics.stdev(luck) / len(luck) ** 0.5
    if evaluator.name == "race":
        assert statistics.variance(raw) > statistics.variance(objective)
        assert (
            statistics.mean(objective) > 3 * statistics.stdev(objective) / len(objective) ** 0.5
        )  # A is better

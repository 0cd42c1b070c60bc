"""§4 The paired match: phases and rounds, the last move, passes, and commands that come at the wrong moment."""

from typing import Any

import pytest

from engine.dice import client_hash
from engine.errors import (
    AlreadyPlayed,
    CannotResign,
    IllegalPlay,
    MatchIsOver,
    NoDrawOffer,
    NotStarted,
    PriceChanged,
    RuleError,
    StaleTurn,
    TimeIsUp,
)
from engine.match import (
    AcceptDraw,
    Command,
    CommitSeed,
    GiveBack,
    Leave,
    MakePlay,
    Match,
    MatchEnded,
    OfferDraw,
    PhaseOpened,
    PlayMade,
    Resign,
    Return,
    RevealSeed,
    Tick,
    decide,
    next_deadline,
    replay,
    unfold,
)
from engine.plays import Hop
from engine.position import BAR, OFF
from engine.scoring import Outcome
from engine.turn import Game, Seat, Turn
from engine.view import view_for
from tests.builders import CLIENT_SEEDS, MADE_AT, A, B, Table, a_match, a_new_match, a_phase, hops, rules

OPENING = "24:2 13:5 8:3 6:5 | 24:2 13:5 8:3 6:5"
SHUT_OUT = "bar:1 6:14 | 6:2 5:2 4:2 3:2 2:2 1:5"  # a checker on the bar, six closed points


def opened(table: Table) -> list[str]:
    """The phases that have been opened, with their rolls."""
    return [f"{event.turn} {event.roll}" for event in table.events if isinstance(event, PhaseOpened)]


# ------------------------------------------------------------------------------------------- §4.1 phases and rounds


def test_a_match_is_two_games_and_one_roll_for_both() -> None:
    match = a_match().match
    assert str(match.games.X) == str(match.games.Y) == OPENING
    assert (str(match.turn), str(match.roll)) == ("1W", "6-4")
    assert match.position_for(A) == match.position_for(B)


def test_in_phase_w_both_play_white_each_on_another_board() -> None:
    table = a_match()
    table.play(A, "24/18 13/9")
    table.play(B, "24/14")
    x, y = table.match.games.X, table.match.games.Y
    assert (x.mine[24], x.mine[18], x.mine[9]) == (1, 1, 1)
    assert (y.mine[24], y.mine[14]) == (1, 1)
    assert x.theirs == y.theirs == a_match().match.games.X.theirs


def test_in_phase_k_the_displays_are_swapped_and_both_play_black() -> None:
    table = a_match().play_until("1K")
    before = table.match.games
    assert table.match.position_for(A) == before.Y.turned()
    assert table.match.position_for(B) == before.X.turned()
    table.play(A, "13/8 13/11")
    table.play(B, "13/6")
    assert table.match.games.Y.theirs[11] == 1
    assert table.match.games.X.theirs[13] == 4
    assert (table.match.games.X.mine, table.match.games.Y.mine) == (before.X.mine, before.Y.mine)


def test_the_next_phase_opens_when_both_have_played_and_not_before() -> None:
    table = a_match()
    table.play(B)
    assert (str(table.turn), opened(table)) == ("1W", ["1W 6-4"])
    table.play(A)
    assert (str(table.turn), opened(table)) == ("1K", ["1W 6-4", "1K 5-2"])
    table.play_until("3W")
    assert opened(table) == ["1W 6-4", "1K 5-2", "2W 5-5", "2K 3-3", "3W 2-4"]


@pytest.mark.parametrize("first", list(Seat))
def test_it_does_not_matter_who_plays_first(first: Seat) -> None:
    """CASES B5, D1: both within the same millisecond, in either order."""
    table = a_match()
    for _ in range(6):
        turn = table.turn
        plays = {seat: table.a_play(seat, after=700) for seat in Seat if table.match.owes(seat)}
        for seat in (first, first.other):
            if table.match.turn == turn and seat in plays:
                table.do(plays[seat])
    reference = a_match()
    for _ in range(6):
        reference.play_phase(after=700)
    assert opened(table) == opened(reference)
    assert table.match.games == reference.match.games
    assert table.match.clocks == reference.match.clocks


def test_two_plays_close_a_phase_exactly_once() -> None:
    """CASES D1, D2: whatever is sent again, there is one roll for a phase."""
    table = a_match()
    plays = [table.a_play(seat, after=500) for seat in Seat]
    table.do(*plays)
    for again in plays * 2:
        with pytest.raises(StaleTurn):
            table.do(again)
    assert opened(table) == ["1W 6-4", "1K 5-2"]
    assert sum(isinstance(event, PlayMade) for event in table.events) == 2


def test_a_finished_phase_is_kept_with_its_roll_and_both_plays() -> None:
    table = a_match()
    table.play(A, "24/18 13/9", after=2_000)
    table.play(B, "24/14", after=3_000)
    (phase,) = table.match.history
    assert (str(phase.turn), str(phase.roll)) == ("1W", "6-4")
    assert (phase.plays.A.text, phase.plays.B.text) == ("24/18 13/9", "24/18 18/14")
    assert (phase.plays.A.charged_ms, phase.plays.B.charged_ms) == (2_000, 3_000)
    assert phase.games == table.match.games
    assert table.match.record == (("1W", (6, 4), "24/18 13/9", "24/18 18/14", 2_000, 3_000),)


def test_the_round_in_which_the_games_part_is_noted_once() -> None:
    table = a_match()
    for seat in Seat:
        table.play(seat, "24/18 13/9")
    assert table.match.parted is None
    for seat in Seat:
        table.play(seat, "13/8 13/11")
    assert table.match.parted is None
    assert str(table.turn) == "2W"
    table.play(A, "13/3(2)")
    table.play(B, "13/8(3) 8/3")
    assert table.match.parted == 2
    table.play_until("4W")
    assert table.match.parted == 2


# ------------------------------------------------------------------------------------- §4.2, §4.3 the last move right


def test_when_white_is_off_black_still_plays_on_both_boards() -> None:
    table = a_phase("9W", "6-5", x="2:1 1:1 | 6:3 5:2", y="6:5 | 6:5")
    table.play(A, "2/off 1/off")
    table.play(B)
    assert table.match.score is None
    assert str(table.turn) == "9K"
    assert table.match.owes(A)
    assert table.match.owes(B)
    table.play(A)
    assert table.match.score is None
    table.play(B)
    assert table.match.score is not None
    assert table.match.score.outcome is Outcome.FINISHED
    assert table.match.score.games.X.outcome == "W"
    assert table.match.score.games.X.position.turned().pips() < 28, "B has made his last move"


def test_when_black_is_off_white_gets_nothing_more() -> None:
    table = a_phase("9K", "6-5", x="6:3 5:2 | 2:1 1:1", y="6:5 | 6:5")
    before = table.match.games.X.mine
    table.play(B, "2/off 1/off")
    assert table.match.score is None, "A still has his half of the phase"
    table.play(A)
    score = table.match.score
    assert score is not None
    assert (score.games.X.outcome, score.games.X.winner) == ("K", B)
    assert score.games.X.position.mine == before


@pytest.mark.parametrize(
    ("x", "y", "outcomes", "winner"),
    [
        pytest.param(
            "| 2:1 1:1", "6:5 | 6:5", "T-", None, id="tied by the last move: nobody won, and it is over"
        ),
        pytest.param("| 2:1 1:1", "| 2:1 1:1", "TT", None, id="both tied"),
        pytest.param("| 6:3", "6:5 | 6:5", "W-", A, id="not tied: White has won"),
        pytest.param("| 6:3", "| 6:3", "WW", None, id="both Whites: one each, the same"),
        pytest.param("| 6:3", "| 6:4", "WW", B, id="both Whites: the dearer game"),
        pytest.param("| 6:3", "6:5 | 2:1 1:1", "WK", A, id="A in both games: they add"),
        pytest.param("| 2:1 1:1", "| 6:3", "TW", B, id="one tied, one won"),
    ],
)
def test_the_last_move_of_the_round_can_tie_a_game(
    x: str, y: str, outcomes: str, winner: Seat | None
) -> None:
    table = a_phase("9K", "6-5", x=x, y=y, ruleset=rules(unfinished="none"))
    table.play_phase()
    score = table.match.score
    assert score is not None
    assert score.games.X.outcome + score.games.Y.outcome == outcomes
    assert score.winner is winner
    assert (score.points.A > 0) is (winner is A)


def test_a_finished_game_is_announced_at_the_end_of_the_round() -> None:
    table = a_phase("9W", "6-5", x="2:1 1:1 | 6:3 5:2", y="6:5 | 6:5")
    table.play(A, "2/off 1/off")
    for seat in (B, None):
        view = view_for(table.match, seat)
        assert view.boards.X["white"][OFF] == 13
        assert view.result is None
    table.play(B)
    assert view_for(table.match, None).result is None
    assert view_for(table.match, None).stage == "playing"


def test_all_four_sides_have_had_the_same_number_of_turns() -> None:
    table = a_match(rules(clock="none"))
    while table.match.score is None:
        table.play_phase() or table.wait(table.match.ruleset.auto_pass_ms)
    turns = [str(phase.turn) for phase in table.match.history]
    rounds = len(turns) // 2
    assert turns == [f"{n}{phase}" for n in range(1, rounds + 1) for phase in "WK"]
    assert table.match.score.outcome is Outcome.FINISHED


# ------------------------------------------------------------------------------------------------------ §4.5 passes


@pytest.mark.parametrize("connected", [True, False])
def test_who_has_no_legal_play_is_passed_by_the_server(connected: bool) -> None:
    """A moment after the dice rest, uncharged, connected or not."""
    table = a_phase("5W", "3-1", x=SHUT_OUT, ruleset=rules(auto_pass_ms=1_200))
    if not connected:
        table.leave(A, after=0)
    assert next_deadline(table.match) == table.at(1_200)
    assert table.wait(1_199) == []
    (event,) = table.wait(1_200)
    assert isinstance(event, PlayMade)
    assert (event.seat, event.kind, event.moves, event.thought_ms) == (A, "pass", (), 0)
    assert table.match.clocks.A.charged_ms == 0
    assert table.match.presence.A.away_ms == 0
    table.play(B, "8/5 6/5", after=2_000)
    assert str(table.turn) == "5K"
    assert table.match.record[0][2] == "--"


def test_both_without_a_legal_play_are_passed_and_the_match_goes_on() -> None:
    table = a_phase("5W", "3-1", x=SHUT_OUT, y=SHUT_OUT)
    table.wait(1_200)
    assert str(table.turn) == "5K"
    assert table.match.record[0][2:] == ("--", "--", 0, 0)


def test_an_empty_play_of_ones_own_is_the_same_pass_and_free() -> None:
    table = a_phase("5W", "3-1", x=SHUT_OUT)
    table.play(A, "", after=900)
    made = table.match.plays.A
    assert made is not None
    assert (made.kind, made.text, made.charged_ms) == ("pass", "--", 0)


def test_who_has_no_legal_play_cannot_make_one() -> None:
    table = a_phase("5W", "3-1", x=SHUT_OUT)
    with pytest.raises(IllegalPlay) as refused:
        table.play(A, "bar/22")
    assert refused.value.params["because"] == "no-legal-play"


def test_one_legal_play_still_waits_for_the_player() -> None:
    table = a_phase("5W", "6-4", x="bar:2 6:13 | 6:2 1:13")
    assert [str(play) for play in table.plays_of(A)] == ["bar/21"]
    assert table.wait(11_999) == []
    assert table.match.owes(A)


# --------------------------------------------------------------------------------- commands at the wrong moment


def in_the_middle() -> Table:
    """5K: A has played and B has not; draws may be offered."""
    table = a_phase("5K", "3-1", ruleset=rules(draw_offers="draw"))
    table.play(A, "8/5 6/5", after=2_000)
    return table


T, BEFORE, LATER = Turn(5, black=True), Turn(5), Turn(6)
WRONG: list[Any] = [
    pytest.param(lambda at: MakePlay(A, T, hops("8/5 6/5"), at), AlreadyPlayed, id="a second play"),
    pytest.param(
        lambda at: MakePlay(B, BEFORE, hops("8/5 6/5"), at), StaleTurn, id="a play of the turn before"
    ),
    pytest.param(
        lambda at: MakePlay(B, LATER, hops("8/5 6/5"), at), StaleTurn, id="a play of the turn to come"
    ),
    pytest.param(lambda at: MakePlay(B, T, hops("8/2"), at), IllegalPlay, id="no die for it"),
    pytest.param(lambda at: MakePlay(B, T, hops("8/5"), at), IllegalPlay, id="half a play"),
    pytest.param(lambda at: MakePlay(B, T, (), at), IllegalPlay, id="a pass although there are plays"),
    pytest.param(lambda at: MakePlay(B, T, (Hop(26, 1),), at), IllegalPlay, id="no such point"),
    pytest.param(lambda at: MakePlay(B, T, (Hop(8, 5),) * 5, at), IllegalPlay, id="five moves"),
    pytest.param(lambda at: Resign(A, T, 130, at), CannotResign, id="giving up while nothing is owed"),
    pytest.param(lambda at: Resign(B, T, 129, at), PriceChanged, id="giving up at another price"),
    pytest.param(lambda at: Resign(B, T, -130, at), PriceChanged, id="giving up for the other side"),
    pytest.param(lambda at: Resign(B, BEFORE, 130, at), StaleTurn, id="giving up a turn ago"),
    pytest.param(lambda at: AcceptDraw(B, T, at), NoDrawOffer, id="accepting what nobody has offered"),
    pytest.param(lambda at: OfferDraw(B, BEFORE, at), StaleTurn, id="offering a turn ago"),
    pytest.param(lambda at: CommitSeed(A, "0" * 64, at), RuleError, id="a seed when the dice are agreed on"),
    pytest.param(lambda at: RevealSeed(A, "0" * 32, at), RuleError, id="the other half of it"),
]


@pytest.mark.parametrize(("wish", "error"), WRONG)
def test_a_refused_command_changes_nothing(wish: Any, error: type[RuleError]) -> None:
    """CASES D7. Neither the match nor its clocks, its log, or what any display shows."""
    table = in_the_middle()
    match, events = table.match, list(table.events)
    views = [view_for(match, seat) for seat in (A, B, None)]
    with pytest.raises(error) as refused:
        table.do(wish(table.at(4_000)))
    assert refused.value.code
    assert (table.match, table.events) == (match, events)
    assert [view_for(table.match, seat) for seat in (A, B, None)] == views
    assert decide(match, Tick(table.at(4_000))) == ()
    table.play(B, "8/5 6/5", after=4_000)
    assert str(table.turn) == "6W"


def test_nothing_is_played_before_the_dice_are_agreed_on() -> None:
    table = a_new_match()
    for wish in (
        MakePlay(A, Turn(1), (), MADE_AT),
        Resign(A, Turn(1), 0, MADE_AT),
        OfferDraw(A, Turn(1), MADE_AT),
        AcceptDraw(A, Turn(1), MADE_AT),
    ):
        with pytest.raises(NotStarted):
            table.do(wish)


def finished() -> Match:
    table = a_phase("9K", "6-5", x="| 6:3", y="6:5 | 6:5")
    table.play_phase()
    assert table.match.score is not None
    return table.match


@pytest.mark.parametrize(
    "wish",
    [
        pytest.param(MakePlay(A, Turn(9, black=True), (), MADE_AT), id="a play"),
        pytest.param(Resign(A, Turn(9, black=True), 0, MADE_AT), id="giving up"),
        pytest.param(OfferDraw(A, Turn(9, black=True), MADE_AT), id="an offer"),
        pytest.param(CommitSeed(A, client_hash(CLIENT_SEEDS.A), MADE_AT), id="a seed"),
    ],
)
def test_nothing_can_be_done_in_a_finished_match(wish: Command) -> None:
    with pytest.raises(MatchIsOver):
        decide(finished(), wish)


def test_time_and_presence_change_nothing_any_more_in_a_finished_match() -> None:
    match = finished()
    at = match.shown_at + 10**9
    for wish in (Tick(at), Leave(A, at), Return(B, at), GiveBack(5_000, at)):
        assert decide(match, wish) == ()
    assert next_deadline(match) is None


def test_what_is_due_is_done_before_what_is_wished() -> None:
    """A play that comes after a flag finds the match over, even if no timer has run."""
    table = in_the_middle()
    with pytest.raises(MatchIsOver):
        table.play(B, "8/5 6/5", after=10_000_000)
    with pytest.raises(TimeIsUp):
        table.play(B, "8/5 6/5", after=240_000 + 12_000)
    table.wait(10_000_000)
    assert isinstance(table.match.ended, MatchEnded)
    assert table.match.ended.at == table.at(252_000)


# ------------------------------------------------------------------------------------------- reload and restart


def test_the_dice_of_a_phase_do_not_change_whatever_happens_in_it() -> None:
    """CASES A12. Half a play, a second tab, a reconnect, a restart from the stored events."""
    table = a_match().play_until("2W")
    roll, dice_view = table.roll, view_for(table.match, A).roll
    table.leave(A, after=100)
    table.back(A, after=200)
    with pytest.raises(IllegalPlay):
        table.play(A, "13/8")
    table.wait(300)
    table.do(GiveBack(60_000, table.at(400)))
    restarted = replay(table.start, table.events)
    assert restarted == table.match
    assert restarted.roll == roll
    assert view_for(restarted, A).roll == dice_view == (5, 5)


def test_the_events_alone_give_the_match_back() -> None:
    table = a_match().play_until("6W")
    assert replay(table.start, table.events) == table.match
    events, after = unfold(table.match, table.a_play(A, after=100))
    assert after == replay(table.match, events)


def test_fifteen_checkers_a_side() -> None:
    table = a_match().play_until("12W")
    for phase in table.match.history:
        for game in Game:
            position = phase.games[game]
            assert sum(position.mine) == sum(position.theirs) == 15
            assert len(position.mine) == len(position.theirs) == BAR + 1

"""Matches in step (§12.1): phases open from outside, the first phase is conceded like any other."""

from __future__ import annotations

import pytest

from engine.dice import NO_SEED, DiceSeeds, client_hash, roll_for
from engine.errors import BadDecision, BadSeed, NotStarted, RuleError, StaleTurn
from engine.match import (
    SEED_PATIENCE_MS,
    CloseHashes,
    CombineSeeds,
    Command,
    CommitSeed,
    Leave,
    MakePlay,
    Match,
    OpenPhase,
    OrderPause,
    Resign,
    Return,
    RevealSeed,
    Tick,
    new_match,
    next_deadline,
    resign_price,
    unfold,
)
from engine.plays import Hop
from engine.ruleset import DEFAULT
from engine.scoring import Outcome
from engine.turn import FIRST_TURN, Seat, Seats, Turn
from engine.view import view_for

A, B = Seat.A, Seat.B
AT = 1_000_000
RULES = DEFAULT.changed({"reveal_ms": 0, "auto_pass_ms": 0, "forfeit_cap": 90})
SERVER_SEED = bytes(range(32))
MINE, SHARED = "ab" * 16, "cd" * 16
K1 = Turn(1, black=True)


def do(match: Match, *commands: Command) -> Match:
    for command in commands:
        _, match = unfold(match, command)
    return match


def a_board() -> Match:
    """The entrant is A, the computer B."""
    start = new_match("cup-S1R1T7M1", RULES, SERVER_SEED, AT, computers=[B], dice_id="cup-Q1", in_step=True)
    return do(start, Return(A, AT))


def seeded() -> Match:
    return do(a_board(), CommitSeed(A, client_hash(MINE), AT), CloseHashes(AT), RevealSeed(A, MINE, AT))


def begun(at: int = AT) -> Match:
    return do(seeded(), CombineSeeds(SHARED, at), OpenPhase(FIRST_TURN, at))


def first(match: Match, seat: Seat) -> tuple[Hop, ...]:
    assert match.roll is not None
    nodes, node, hops = match.rules.step_graph(match.position_for(seat), match.roll).nodes, 0, list[Hop]()
    while nodes[node]:
        start, end, _, _, node = nodes[node][0]
        hops.append(Hop(start, end))
    return tuple(hops)


def both_play(match: Match, at: int = AT) -> Match:
    assert match.turn is not None
    for seat in Seat:
        if match.owes(seat):
            match = do(match, MakePlay(seat, match.turn, first(match, seat), at))
    return match


def test_nobody_shows_his_seed_before_all_have_committed() -> None:
    with pytest.raises(BadSeed):
        do(a_board(), CloseHashes(AT))  # he himself has not
    match = do(a_board(), CommitSeed(A, client_hash(MINE), AT))
    with pytest.raises(BadSeed):
        do(match, RevealSeed(A, MINE, AT))
    assert next_deadline(match) is None, "his seed is not replaced while others have still to commit"
    assert do(match, Tick(AT + 10**9)).client_seeds.A is None
    view = view_for(match, A)
    assert (view.waits, view.dice.defaulted) == (True, ())
    told = do(match, CloseHashes(AT + 5))
    view = view_for(told, A)
    assert (view.waits, view.dice.defaulted) == (False, ("B",))
    assert unfold(told, CloseHashes(AT + 9))[0] == ()
    assert next_deadline(told) == AT + 5 + SEED_PATIENCE_MS
    assert do(told, Tick(AT + 5 + SEED_PATIENCE_MS)).client_seeds == Seats(NO_SEED, NO_SEED)
    assert do(told, RevealSeed(A, MINE, AT + 6)).client_seeds.A == MINE


def test_who_does_not_commit_in_time_has_zeros_and_holds_nobody_up() -> None:
    match = a_board()
    assert next_deadline(match) == AT + SEED_PATIENCE_MS
    match = do(match, Tick(AT + SEED_PATIENCE_MS))
    assert (match.client_seeds.A, match.defaulted) == (NO_SEED, (A,))
    assert view_for(match, A).waits
    match = do(match, CloseHashes(AT + SEED_PATIENCE_MS), CombineSeeds(SHARED, AT + SEED_PATIENCE_MS))
    assert match.waits_for == FIRST_TURN


def test_no_phase_opens_by_itself() -> None:
    match = seeded()
    assert match.turn is None
    assert next_deadline(match) is None
    assert do(match, Tick(AT + 10**9)).turn is None
    match = both_play(begun())
    assert (match.turn, match.waits_for) == (FIRST_TURN, K1)
    assert next_deadline(match) is None
    assert do(match, Tick(AT + 10**9)).turn == FIRST_TURN
    assert do(match, OpenPhase(K1, AT + 5)).turn == K1


def test_the_dice_come_from_the_seed_that_all_share() -> None:
    match = begun()
    seeds = DiceSeeds(SERVER_SEED, "cup-Q1", Seats(SHARED, NO_SEED))
    assert match.roll == roll_for(seeds, FIRST_TURN, opening_double=False)
    assert match.client_seeds == Seats(MINE, NO_SEED)  # what he showed can be checked for ever


def test_what_comes_a_second_time_changes_nothing() -> None:
    match = begun()
    assert unfold(match, CombineSeeds("ef" * 16, AT + 1))[0] == ()
    assert unfold(match, OpenPhase(FIRST_TURN, AT + 1))[0] == ()
    match = do(both_play(match), OpenPhase(K1, AT))
    assert unfold(match, OpenPhase(FIRST_TURN, AT + 1))[0] == ()
    assert unfold(match, OpenPhase(K1, AT + 1))[0] == ()


def test_no_phase_opens_too_early() -> None:
    with pytest.raises(BadSeed):
        do(a_board(), CombineSeeds(SHARED, AT))
    with pytest.raises(NotStarted):
        do(seeded(), OpenPhase(FIRST_TURN, AT))
    with pytest.raises(StaleTurn):
        do(begun(), OpenPhase(K1, AT))
    with pytest.raises(StaleTurn):
        do(both_play(begun()), OpenPhase(Turn(2), AT))
    ordinary = new_match("m", RULES, SERVER_SEED, AT, computers=[B])
    for command in (CombineSeeds(SHARED, AT), OpenPhase(FIRST_TURN, AT)):
        with pytest.raises(RuleError):
            do(do(ordinary, CommitSeed(A, client_hash(MINE), AT)), command)


def test_whoever_shows_no_seed_in_time_has_zeros() -> None:
    match = a_board()
    assert next_deadline(match) == AT + 20_000
    match = do(match, Tick(AT + 20_000))
    assert match.has_seeds
    assert match.client_seeds.A == NO_SEED
    assert next_deadline(match) is None


def test_the_wait_for_others_is_free() -> None:
    match = both_play(begun(), AT + 20_000)
    charged = match.charged.A
    match = do(match, OpenPhase(K1, AT + 900_000))
    assert match.shown_at == AT + 900_000
    match = do(match, MakePlay(A, K1, first(match, A), AT + 901_000))
    assert (charged, match.charged.A) == (20_000, 21_000)


def test_leaving_in_the_first_phase_is_a_concession() -> None:
    """A flag, a match left or never begun: mars at the start, 167 pips, at most 90 (§8.1, §12.6)."""
    match = begun()
    price = resign_price(match, A)
    assert price is not None
    assert price.points == 90
    resigned = do(match, Resign(A, FIRST_TURN, 90, AT + 1))
    gone = do(match, MakePlay(B, FIRST_TURN, first(match, B), AT), Leave(A, AT + 1), Tick(AT + 121_001))
    flag = do(match, MakePlay(B, FIRST_TURN, first(match, B), AT), Tick(AT + 260_000))
    for ended, outcome in (
        (resigned, Outcome.RESIGNED),
        (gone, Outcome.ABANDONED),
        (flag, Outcome.TIME),
    ):
        assert ended.score is not None
        assert (ended.score.outcome, ended.score.by, ended.score.points) == (outcome, A, Seats(-90, 90))


def test_nothing_of_the_seed_is_shown_before_the_round_is_closed() -> None:
    match = do(begun(), Resign(A, FIRST_TURN, 90, AT + 1))
    for seat in (A, B, None):
        view = view_for(match, seat)
        assert (view.stage, view.dice.seed) == ("over", None)
        assert view.dice.commitment
        closed = view_for(match, seat, round_closed=True)
        assert closed.dice.seed == SERVER_SEED.hex()
        assert closed.dice.seeds == Seats(SHARED, NO_SEED)


def test_a_display_says_that_it_waits_for_others() -> None:
    assert not view_for(a_board(), A).waits
    assert view_for(seeded(), A).waits
    assert not view_for(begun(), A).waits
    match = begun()
    played = do(match, MakePlay(A, FIRST_TURN, first(match, A), AT))
    assert not view_for(played, A).waits  # the computer has not played yet
    assert view_for(both_play(match), A).waits
    assert not view_for(do(match, Resign(A, FIRST_TURN, 90, AT)), A).waits


def test_one_board_is_not_paused_alone() -> None:
    with pytest.raises(BadDecision):
        do(begun(), OrderPause("arbiter", "noise", AT))


def test_a_match_for_both_waits_until_both_have_come() -> None:
    """A no-show is found by his not coming, and not by his clock (§12.6)."""
    match = new_match("cup-S1R1T1M1", RULES, SERVER_SEED, AT, for_both=True)
    assert next_deadline(match) is None
    match = do(match, Return(A, AT + 1_000), CommitSeed(A, client_hash(MINE), AT + 1_000))
    assert do(match, Tick(AT + 10**8)).turn is None
    match = do(match, Return(B, AT + 200_000))
    assert next_deadline(match) == AT + 220_000
    gone = do(match, Leave(B, AT + 201_000))
    gone = do(gone, Tick(AT + 220_000), RevealSeed(A, MINE, AT + 221_000))
    assert gone.turn == FIRST_TURN  # he has come, so his clock runs

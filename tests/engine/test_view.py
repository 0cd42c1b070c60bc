"""§5 What a display may know: exactly this, for each player and for a spectator, at every stage of a match."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from engine.dice import client_hash, commitment
from engine.match import CommitSeed, Match, OfferDraw, OrderPause, Resign, RevealSeed, Tick
from engine.plays import Hop
from engine.turn import Seat, Seats
from engine.view import NO_DRAFTS, Drafts, View, phases_of, view_for
from tests.builders import (
    CLIENT_SEEDS,
    MADE_AT,
    SERVER_SEED,
    A,
    B,
    Table,
    a_match,
    a_new_match,
    a_phase,
    hops,
    rules,
)

SHUT_OUT = "bar:1 6:14 | 6:2 5:2 4:2 3:2 2:2 1:5"
DISPLAYS = (A, B, None)  # None is a spectator


def on_the_wire(view: View) -> bytes:
    return msgspec.json.encode(view)


def known(view: View) -> str:
    """What this display has been given beside what everybody has, in a word each."""
    mine, theirs = view.mine, view.theirs
    given = {
        "steps": mine and mine.steps is not None,
        "draft": mine and mine.draft,
        "price": mine and mine.resign is not None,
        "played": mine and mine.played,
        "his board": theirs,
        "his draft": theirs and theirs.draft,
        "his play": theirs and theirs.played,
        "offer": view.draw_offer,
        "seeds": view.dice.seeds != Seats(None, None),
        "server's seed": view.dice.seed,
        "result": view.result,
    }
    return ", ".join(word for word, is_given in given.items() if is_given)


Stage = tuple[Match, Drafts]


def the_seats_are_taken() -> Stage:
    return a_new_match().match, NO_DRAFTS


def both_have_committed() -> Stage:
    table = a_new_match()
    table.do(*(CommitSeed(seat, client_hash(CLIENT_SEEDS[seat]), MADE_AT) for seat in Seat))
    return table.match, NO_DRAFTS


def a_has_revealed() -> Stage:
    match, _ = both_have_committed()
    table = Table(match)
    table.do(RevealSeed(A, CLIENT_SEEDS.A, MADE_AT))
    return table.match, NO_DRAFTS


def nobody_has_played() -> Stage:
    return a_phase("5W", "3-1").match, NO_DRAFTS


def both_lay_out() -> Stage:
    return a_phase("5W", "3-1").match, Seats(hops("8/5"), hops("6/5"))


def a_has_played() -> Stage:
    table = a_phase("5W", "3-1", ruleset=rules(draw_offers="draw"))
    table.play(A, "8/5 6/5", after=700)
    return table.match, Seats(hops("8/5"), hops("6/5"))


def a_has_passed() -> Stage:
    table = a_phase("5W", "3-1", x=SHUT_OUT)
    table.wait(1_200)
    return table.match, Seats((), hops("6/5"))


def a_has_offered_a_draw() -> Stage:
    table = a_phase("5W", "3-1", ruleset=rules(draw_offers="draw"))
    table.do(OfferDraw(A, table.turn, table.at(100)))
    return table.match, NO_DRAFTS


def the_offer_is_delivered() -> Stage:
    table = Table(a_has_offered_a_draw()[0])
    table.play_phase()
    return table.match, NO_DRAFTS


def only_the_last_move_is_open() -> Stage:
    return a_phase("9K", "3-1", x="| 6:3", y="6:5 | 6:5").match, NO_DRAFTS


def it_is_paused() -> Stage:
    table = a_phase("5W", "3-1")
    table.do(OrderPause("Olga", "a fire alarm", table.at(0)))
    table.play_phase(after=500)
    return table.match, Seats(hops("8/5"), hops("6/5"))


def it_is_over() -> Stage:
    table = a_phase("9K", "3-1", x="| 6:3", y="6:5 | 6:5")
    table.play_phase(after=500)
    return table.match, Seats(hops("8/5"), hops("6/5"))


def it_ended_in_an_open_phase() -> Stage:
    match, drafts = a_has_played()
    table = Table(match)
    table.do(Resign(B, table.turn, 130, table.at(900)))
    return table.match, drafts


STAGES: list[tuple[Any, str, str, str, str]] = [
    (the_seats_are_taken, "seeding", "", "", ""),
    (both_have_committed, "seeding", "", "", ""),
    (a_has_revealed, "seeding", "", "", ""),
    (nobody_has_played, "playing", "steps, price, seeds", "steps, price, seeds", "seeds"),
    (both_lay_out, "playing", "steps, draft, price, seeds", "steps, draft, price, seeds", "seeds"),
    (a_has_played, "playing", "played, his board, his draft, seeds", "steps, draft, price, seeds", "seeds"),
    (a_has_passed, "playing", "played, his board, his draft, seeds", "steps, draft, price, seeds", "seeds"),
    (a_has_offered_a_draw, "playing", "steps, price, offer, seeds", "steps, price, seeds", "seeds"),
    (the_offer_is_delivered, "playing", "steps, price, offer, seeds", "steps, price, offer, seeds", "seeds"),
    (only_the_last_move_is_open, "playing", "steps, price, seeds", "steps, price, seeds", "seeds"),
    (it_is_paused, "paused", "seeds", "seeds", "seeds"),
    (it_is_over, "over", *["seeds, server's seed, result"] * 3),
    (it_ended_in_an_open_phase, "over", *["seeds, server's seed, result"] * 3),
]
IDS = [stage[0].__name__.replace("_", " ") for stage in STAGES]


@pytest.mark.parametrize(("stage", "name", "a", "b", "spectator"), STAGES, ids=IDS)
def test_what_each_display_is_given(stage: Any, name: str, a: str, b: str, spectator: str) -> None:
    match, drafts = stage()
    views = [view_for(match, seat, drafts) for seat in DISPLAYS]
    assert {view.stage for view in views} == {name}
    assert [known(view) for view in views] == [a, b, spectator]
    assert [view.seat for view in views] == ["A", "B", None]


OWN = {"seat", "mine", "theirs", "draw_offer"}


@pytest.mark.parametrize("stage", [stage[0] for stage in STAGES], ids=IDS)
def test_the_rest_is_the_same_for_everybody(stage: Any) -> None:
    match, drafts = stage()
    public = [
        {
            key: value
            for key, value in msgspec.to_builtins(view_for(match, seat, drafts)).items()
            if key not in OWN
        }
        for seat in DISPLAYS
    ]
    assert public[0] == public[1] == public[2]
    assert set(public[0]) == {
        *(
            "match",
            "stage",
            "turn",
            "roll",
            "shown_at",
            "waits",
            "boards",
            "seats",
            "last",
            "record",
            "parted",
            "pause",
        ),
        *("dice", "result"),
    }


@pytest.mark.parametrize("stage", [stage[0] for stage in STAGES], ids=IDS)
def test_a_players_own_drafts_and_plays_stay_out_of_the_public_part(stage: Any) -> None:
    """CASES C1, C4: of the opponent there is his state, his clock, whether he is there; nothing else."""
    match, drafts = stage()
    if match.score is not None:
        return
    for seat in Seat:
        view = view_for(match, seat, drafts).seats[seat.other]
        assert view.state in {"thinking", "played", "passed", "idle"}
        assert msgspec.to_builtins(view).keys() == {
            *("state", "connected", "away_until", "bank_ms", "free_until", "flag_at", "charged_ms")
        }
    spectator = view_for(match, None, drafts)
    assert (spectator.mine, spectator.theirs, spectator.draw_offer) == (None, None, None)
    assert spectator.boards.X["white"] == match.games.X.mine
    assert len(spectator.record) == len(phases_of(match)) == len(match.history)


@pytest.mark.parametrize(
    ("stage", "a", "b"),
    [
        (the_seats_are_taken, "idle", "idle"),
        (nobody_has_played, "thinking", "thinking"),
        (a_has_played, "played", "thinking"),
        (a_has_passed, "passed", "thinking"),
        (it_is_paused, "idle", "idle"),
        (it_is_over, "idle", "idle"),
    ],
)
def test_the_state_of_each_player_is_public(stage: Any, a: str, b: str) -> None:
    match, drafts = stage()
    for seat in DISPLAYS:
        seats = view_for(match, seat, drafts).seats
        assert (seats.A.state, seats.B.state) == (a, b)


# ------------------------------------------------------------------------------------------------- §5.1 the secret


@pytest.mark.parametrize("display", [B, None], ids=["B", "a spectator"])
@pytest.mark.parametrize(
    "plays",
    [
        pytest.param(("8/5 6/5", "24/23 13/10"), id="two quiet plays"),
        pytest.param(("10/7* 10/9", "6/5 6/3"), id="a hit and none"),
    ],
)
def test_two_matches_that_differ_in_a_hidden_play_look_alike(display: Any, plays: tuple[str, str]) -> None:
    seen = set()
    for play in plays:
        x = "24:1 13:3 10:2 8:3 6:5 | 18:1 6:5"
        table = a_phase("5W", "3-1", x=x, y=x)
        table.play(A, play, after=1_234)
        seen.add(on_the_wire(view_for(table.match, display)))
    assert len(seen) == 1


@pytest.mark.parametrize("display", [B, None], ids=["B", "a spectator"])
def test_a_draft_is_not_seen_by_one_who_has_not_played(display: Any) -> None:
    match = a_phase("5W", "3-1").match
    drafts = [NO_DRAFTS, Seats(hops("8/5"), ()), Seats(hops("8/5 6/5"), ()), Seats(hops("6/5"), ())]
    assert len({on_the_wire(view_for(match, display, each)) for each in drafts}) == 1


def test_ones_own_draft_is_on_ones_other_tabs() -> None:
    match = a_phase("5W", "3-1").match
    mine = view_for(match, A, Seats(hops("8/5 5/4"), ())).mine
    assert mine is not None
    assert mine.draft == ((8, 5, 3, 0), (5, 4, 1, 0))


@pytest.mark.parametrize("draft", [(Hop(8, 6),), (Hop(26, 2),), hops("8/5 8/5"), hops("8/5 6/5 6/5")])
def test_a_draft_that_is_no_path_is_none(draft: tuple[Hop, ...]) -> None:
    mine = view_for(a_phase("5W", "3-1").match, A, Seats(draft, ())).mine
    assert mine is not None
    assert mine.draft == ()


@pytest.mark.parametrize(("peek", "sees"), [("live", True), ("start", False), ("off", False)])
def test_what_one_who_has_played_sees_of_the_other_board(peek: str, sees: bool) -> None:
    """§5.2: as he handles it; or as it stood at the start of the phase, which is what is there anyway; or not."""
    table = a_phase("5W", "3-1", ruleset=rules(peek=peek))
    drafts: Drafts = Seats((), hops("6/5"))
    assert view_for(table.match, A, drafts).theirs is None
    table.play(A, "8/5 6/5")
    theirs = view_for(table.match, A, drafts).theirs
    assert (theirs is not None) is sees
    if theirs is not None:
        assert (theirs.game, theirs.color, theirs.draft, theirs.played) == (
            "Y",
            "white",
            ((6, 5, 1, 0),),
            None,
        )
    assert view_for(table.match, A, drafts).boards.Y["white"] == table.match.games.Y.mine


def test_a_peek_follows_the_draft_from_node_to_node() -> None:
    table = a_phase("5W", "3-1")
    table.play(A, "8/5 6/5")
    seen = []
    for text in ("", "8/5", "8/5 5/4", "6/5"):
        theirs = view_for(table.match, A, Seats((), hops(text))).theirs
        assert theirs is not None
        seen.append([move[:2] for move in theirs.draft])
    assert seen == [[], [(8, 5)], [(8, 5), (5, 4)], [(6, 5)]]


def test_there_is_no_board_to_lay_out_on_once_one_has_played() -> None:
    """§5.2: there is no undo after that."""
    match, drafts = a_has_played()
    mine = view_for(match, A, drafts).mine
    assert mine is not None
    assert (mine.steps, mine.draft, mine.resign) == (None, (), None)
    assert mine.played is not None
    assert (mine.played.play, mine.played.turn, mine.played.color) == ("8/5 6/5", "5W", "white")


def test_both_boards_are_as_of_the_last_finished_phase() -> None:
    table = a_phase("5W", "3-1")
    before = {display: view_for(table.match, display).boards for display in DISPLAYS}
    table.play(A, "8/5 6/5")
    assert {display: view_for(table.match, display).boards for display in DISPLAYS} == before
    table.play(B, "8/4")
    assert view_for(table.match, A).boards != before[A]
    assert view_for(table.match, A).last.Y == view_for(table.match, None).last.Y
    last = view_for(table.match, None).last
    assert last.X is not None
    assert last.Y is not None
    assert (last.X.play, last.Y.play) == ("8/5 6/5", "8/5 5/4")


def test_a_view_does_not_change_with_the_hour() -> None:
    table = a_phase("5W", "3-1")
    before = on_the_wire(view_for(table.match, A))
    for at in range(0, 60_000, 1_000):
        table.do(Tick(table.at(at)))
    assert on_the_wire(view_for(table.match, A)) == before


def test_the_steps_are_those_of_ones_own_half() -> None:
    table = a_phase("5W", "3-1", x="13:2 | 6:2", y="8:2 | 6:2")
    a, b = view_for(table.match, A).mine, view_for(table.match, B).mine
    assert a is not None
    assert b is not None
    assert (a.game, b.game) == ("X", "Y")
    assert a.steps is not None
    assert b.steps is not None
    assert {edge.start for edge in a.steps[0]} == {13}
    assert {edge.start for edge in b.steps[0]} == {8}


# --------------------------------------------------------------------------- §8.3 the clock of one who is away


def there(_: Table) -> None:
    """He has never left."""


def away(table: Table) -> None:
    table.leave(A, after=5_000)


def away_at_zero(table: Table) -> None:
    table.leave(A, after=13_000)


def back_before_zero(table: Table) -> None:
    away(table)
    table.back(A, after=10_000)


def back_within_the_grace(table: Table) -> None:
    away(table)
    table.back(A, after=30_000)


def away_again_within_the_grace(table: Table) -> None:
    back_within_the_grace(table)
    table.leave(A, after=40_000)


def away_once_the_grace_is_used(table: Table) -> None:
    """In the phase after it there is the delay of 3 s and nothing else."""
    back_within_the_grace(table)
    table.play(A, "8/5 6/5", after=40_000)
    table.leave(A, after=1_000)


SIMPLE = {"type": "simple", "bank_ms": 10_000, "delay_ms": 3_000}


@pytest.mark.parametrize(
    ("story", "changes", "zero", "patience"),
    [
        pytest.param(there, {}, 13_000, None, id="there: bank and delay"),
        pytest.param(away, {}, 13_000, 65_000, id="away before zero: the grace is the others' patience"),
        pytest.param(away, {"absence_s": 20}, 13_000, 25_000, id="away: the absence ends before the grace"),
        pytest.param(away, {"grace_s": 0}, 13_000, 13_000, id="away, and there is no grace"),
        pytest.param(away_at_zero, {}, 13_000, 13_000, id="away when it is too late"),
        pytest.param(back_before_zero, {}, 13_000, None, id="back before zero: as if nothing had been"),
        pytest.param(back_within_the_grace, {}, 65_000, None, id="back within the grace: until its end"),
        pytest.param(away_again_within_the_grace, {}, 13_000, 65_000, id="away again: no more grace"),
        pytest.param(
            away_once_the_grace_is_used, {}, 3_000, 3_000, id="away, the grace is used: zero is the end"
        ),
        pytest.param(away, {"clock": {"type": "none"}}, None, None, id="away without a clock"),
    ],
)
def test_the_clock_of_one_who_is_away_runs_to_the_end_of_his_bank(
    story: Callable[[Table], None], changes: dict[str, Any], zero: int | None, patience: int | None
) -> None:
    """A clock that went up by a minute when he left would say that leaving gives time."""
    table = a_phase(
        "5W", "3-1", ruleset=rules(**{"clock": SIMPLE, "absence_s": 600, "grace_s": 60, **changes})
    )
    table.play(B, "8/5 6/5")
    story(table)
    for display in DISPLAYS:
        seat = view_for(table.match, display).seats.A
        assert seat.flag_at == (None if zero is None else table.at(zero))
        assert seat.away_until == (None if patience is None else table.at(patience))
        assert seat.free_until == (None if zero is None else table.at(3_000))


# ------------------------------------------------------------------------------------- §9.3, §9.4 seeds and rolls


@pytest.mark.parametrize("stage", [stage[0] for stage in STAGES], ids=IDS)
@pytest.mark.parametrize("display", DISPLAYS, ids=["A", "B", "a spectator"])
def test_the_servers_seed_is_nowhere_before_the_end(stage: Any, display: Any) -> None:
    match, drafts = stage()
    wire = on_the_wire(view_for(match, display, drafts))
    assert (SERVER_SEED.hex().encode() in wire) is (match.score is not None)
    if match.score is None:  # nothing of a view comes from it but the commitment
        other = replace(match, server_seed=bytes(32))
        swapped = on_the_wire(view_for(other, display, drafts))
        assert swapped.replace(commitment(bytes(32)).encode(), commitment(SERVER_SEED).encode()) == wire


@pytest.mark.parametrize("stage", [the_seats_are_taken, both_have_committed, a_has_revealed])
@pytest.mark.parametrize("display", DISPLAYS, ids=["A", "B", "a spectator"])
def test_a_clients_seed_is_secret_until_both_are_known(stage: Any, display: Any) -> None:
    match, _ = stage()
    wire = on_the_wire(view_for(match, display))
    for seed in (CLIENT_SEEDS.A, CLIENT_SEEDS.B):
        assert seed.encode() not in wire


def test_no_roll_is_told_before_both_have_played() -> None:
    table = a_match()
    table.play(A)
    for display in DISPLAYS:
        view = view_for(table.match, display)
        assert (view.turn, view.roll) == ("1W", (6, 4))
    assert len(table.match.history) == 0
    table.play(B)
    assert view_for(table.match, None).roll == (5, 2)


def test_all_is_told_when_it_is_over() -> None:
    match, _ = it_ended_in_an_open_phase()
    view = view_for(match, None)
    assert view.dice.seed == SERVER_SEED.hex()
    assert view.dice.seeds == CLIENT_SEEDS
    assert view.record[-1] == ("5W", (3, 1), "8/5 6/5", "==", 700, 0)
    assert view.result is not None
    assert (view.result.outcome, view.result.by, view.result.points) == ("resigned", "B", Seats(130, -130))
    assert (view.result.games.X["outcome"], view.result.games.Y["outcome"]) == ("C", "-")
    assert view.result.games.X["white_pips"] == 130


def test_the_public_history_holds_finished_phases_only() -> None:
    """CASES C2"""
    table = a_match().play_until("3W")
    table.play(A)
    phases = phases_of(table.match)
    assert [phase.turn for phase in phases] == ["1W", "1K", "2W", "2K"]
    assert [phase.roll for phase in phases] == [(6, 4), (5, 2), (5, 5), (3, 3)]
    assert phases[-1].boards == view_for(table.match, None).boards
    assert [line[2:4] for line in table.match.record] == [(p.plays.A.play, p.plays.B.play) for p in phases]

"""§9.1 Agreeing on the dice: the server commits first, each browser commits, then both reveal. Times in ms."""

from typing import Any

import pytest

from engine.dice import NO_SEED, client_hash
from engine.errors import BadSeed
from engine.match import (
    CommitSeed,
    Leave,
    PhaseOpened,
    RevealSeed,
    SeedDefaulted,
    Tick,
    new_match,
    next_deadline,
)
from engine.ruleset import DEFAULT
from engine.turn import Seats
from engine.view import view_for
from tests.builders import CLIENT_SEEDS, MADE_AT, SERVER_SEED, A, B, Table, a_new_match

HASHES = Seats(client_hash(CLIENT_SEEDS.A), client_hash(CLIENT_SEEDS.B))
OTHER = "0" * 31 + "1"


def commit(seat: Any, at: int = 0) -> CommitSeed:
    return CommitSeed(seat, HASHES[seat], MADE_AT + at)


def reveal(seat: Any, at: int = 0) -> RevealSeed:
    return RevealSeed(seat, CLIENT_SEEDS[seat], MADE_AT + at)


def tick(at: int) -> Tick:
    return Tick(MADE_AT + at)


def test_the_servers_commitment_is_there_from_the_beginning() -> None:
    view = view_for(a_new_match().match, None)
    assert view.stage == "seeding"
    assert view.dice.commitment == "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd"
    assert view.dice.seed is None


def test_the_first_roll_comes_when_both_seeds_are_in_and_not_before() -> None:
    table = a_new_match()
    for command in (commit(A), commit(B), reveal(B)):
        table.do(command)
        assert table.match.roll is None
    (_, opened) = table.do(reveal(A, at=400))
    assert isinstance(opened, PhaseOpened)
    assert (str(opened.turn), str(opened.roll), opened.at) == ("1W", "6-4", MADE_AT + 400)
    assert table.match.client_seeds == CLIENT_SEEDS


@pytest.mark.parametrize(
    ("done", "command", "because"),
    [
        pytest.param([], reveal(A), "early", id="revealing before both hashes are in"),
        pytest.param([commit(A)], reveal(A), "early", id="revealing while one hash is missing"),
        pytest.param([], CommitSeed(A, "0" * 63, MADE_AT), "malformed", id="a hash too short"),
        pytest.param([], CommitSeed(A, "A" * 64, MADE_AT), "malformed", id="a hash in capitals"),
        pytest.param([], CommitSeed(A, "", MADE_AT), "malformed", id="no hash"),
        pytest.param([commit(A)], commit(A), "repeated", id="a hash twice"),
        pytest.param([commit(A)], CommitSeed(A, HASHES.B, MADE_AT), "repeated", id="another hash"),
        pytest.param([commit(A), commit(B)], RevealSeed(A, OTHER, MADE_AT), "mismatch", id="another seed"),
        pytest.param(
            [commit(A), commit(B)], RevealSeed(A, CLIENT_SEEDS.B, MADE_AT), "mismatch", id="the other's"
        ),
        pytest.param(
            [commit(A), commit(B)], RevealSeed(A, "0" * 31, MADE_AT), "malformed", id="a seed too short"
        ),
        pytest.param([commit(A), commit(B), reveal(A)], reveal(A), "late", id="a seed twice"),
        pytest.param(
            [commit(A), commit(B), reveal(A), reveal(B)], commit(A), "late", id="after the dice have fallen"
        ),
        pytest.param([tick(20_000)], commit(A, at=20_000), "late", id="after zeros stand in its place"),
    ],
)
def test_a_seed_that_is_refused(done: list[Any], command: Any, because: str) -> None:
    table = a_new_match()
    table.do(*done)
    before = table.match
    with pytest.raises(BadSeed) as refused:
        table.do(command)
    assert refused.value.params["because"] == because
    assert table.match == before


def defaulted(table: Table) -> list[Any]:
    return [event.seat for event in table.events if isinstance(event, SeedDefaulted)]


@pytest.mark.parametrize(
    ("done", "deadline", "who"),
    [
        pytest.param([], 20_000, [A, B], id="nobody has done anything"),
        pytest.param([commit(A, at=5_000)], 20_000, [B], id="one hash is missing"),
        pytest.param([commit(A), commit(B, at=5_000)], 25_000, [A, B], id="both hashes, no seed"),
        pytest.param(
            [commit(A), commit(B, at=5_000), reveal(B, at=6_000)], 25_000, [A], id="one seed is missing"
        ),
    ],
)
def test_zeros_stand_in_the_place_of_a_seed_that_does_not_come(
    done: list[Any], deadline: int, who: list[Any]
) -> None:
    table = a_new_match()
    table.do(*done)
    assert next_deadline(table.match) == MADE_AT + deadline
    assert table.do(tick(deadline - 1)) == []
    table.do(tick(deadline))
    assert defaulted(table) == who
    for seat in who:
        assert table.match.client_seeds[seat] == NO_SEED == "0" * 32
    assert view_for(table.match, None).dice.defaulted == tuple(seat.value for seat in who)


def test_who_committed_in_time_has_twenty_seconds_from_the_others_default() -> None:
    table = a_new_match()
    table.do(commit(A, at=100), tick(20_000))
    assert table.match.roll is None
    assert next_deadline(table.match) == MADE_AT + 40_000
    table.do(reveal(A, at=39_999))
    assert (table.match.client_seeds.A, table.match.client_seeds.B) == (CLIENT_SEEDS.A, NO_SEED)
    assert table.match.roll is not None


def test_the_match_begins_by_itself_though_nobody_is_there() -> None:
    table = Table(new_match("m-0001", DEFAULT, SERVER_SEED, MADE_AT))
    table.do(tick(20_000))
    assert str(table.turn) == "1W"


def test_the_computers_seed_is_zeros_and_always_there() -> None:
    table = a_new_match(computers=[B])
    with pytest.raises(BadSeed):
        table.do(commit(B))
    table.do(commit(A), reveal(A))
    assert table.match.client_seeds == Seats(CLIENT_SEEDS.A, NO_SEED)
    assert str(table.turn) == "1W"
    assert view_for(table.match, None).dice.defaulted == ("B",)


def test_leaving_does_not_stop_the_seeds() -> None:
    table = a_new_match()
    table.do(commit(A), commit(B), Leave(A, MADE_AT + 10), Leave(B, MADE_AT + 10), tick(20_000))
    assert str(table.turn) == "1W"


@pytest.mark.parametrize(
    ("seed", "dice_id"),
    [
        pytest.param(b"short", "m-0001", id="a short seed"),
        pytest.param(SERVER_SEED, "a|b", id="an id that disturbs the text"),
        pytest.param(SERVER_SEED, "", id="no id"),
    ],
)
def test_no_match_is_made_whose_dice_could_not_be_checked(seed: bytes, dice_id: str) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        new_match("m-0001", DEFAULT, seed, MADE_AT, dice_id=dice_id)


def test_a_duplicate_board_rolls_by_the_id_that_all_share() -> None:
    """§12.1"""

    def rolls(match_id: str, dice_id: str) -> list[str]:
        table = Table(new_match(match_id, DEFAULT, SERVER_SEED, MADE_AT, computers=[A, B], dice_id=dice_id))
        table.do(tick(0))
        return [str(phase.roll) for phase in table.play_until("6W").match.history]

    assert rolls("m-1", "cup-Q1") == rolls("m-2", "cup-Q1") != rolls("m-1", "cup-Q2")

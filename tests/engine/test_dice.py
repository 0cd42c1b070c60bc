"""§9 The dice: drawn from seeds that nobody alone could choose, and checkable by anyone."""

import ast
import hashlib
import hmac
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.dice import DiceSeeds, Roll, client_hash, commitment, is_client_seed, is_dice_id, roll_for
from engine.match import CommitSeed, RevealSeed
from engine.turn import Seat, Seats, Turn
from tests.builders import MADE_AT, SERVER_SEED, Table, a_match, a_new_match, data

VECTORS = [pytest.param(vector, id=vector["match_id"]) for vector in data("dice_vectors.json")["vectors"]]


def seeds_of(vector: dict[str, Any]) -> DiceSeeds:
    return DiceSeeds(
        server=bytes.fromhex(vector["server_seed_hex"]),
        dice_id=vector["match_id"],
        clients=Seats(vector["client_seed_white_in_X"], vector["client_seed_white_in_Y"]),
    )


@pytest.mark.parametrize("vector", VECTORS)
def test_the_published_vectors(vector: dict[str, Any]) -> None:
    seeds = seeds_of(vector)
    assert commitment(seeds.server) == vector["commit_sha256"]
    for number, phase, (first, second) in vector["rolls"]:
        assert roll_for(seeds, Turn(number, phase == "K"), opening_double=False) == Roll(first, second)
    allowed = roll_for(seeds, Turn(1), opening_double=True)
    assert [allowed.first, allowed.second] == vector["opening_allow_double_r1_W"]


# The dice by the published text alone: nothing of this project is used here (§9.2; B1).


def dice_by_the_text(server_hex: str, match_id: str, a: str, b: str, number: int, phase: str) -> list[int]:
    dice: list[int] = []
    counter = 0
    while len(dice) < 64:
        text = f"nardy-dice/1|{match_id}|{a}|{b}|{number}|{phase}|{counter}"
        block = hmac.new(bytes.fromhex(server_hex), text.encode("ascii"), hashlib.sha256).digest()
        dice += [byte % 6 + 1 for byte in block if byte < 252]
        counter += 1
    return dice


def roll_by_the_text(dice: list[int], reroll_doubles: bool) -> tuple[int, int]:
    while reroll_doubles and dice[0] == dice[1]:
        dice = dice[2:]
    return dice[0], dice[1]


@pytest.mark.parametrize("vector", VECTORS)
def test_the_message_and_its_code_are_as_published(vector: dict[str, Any]) -> None:
    message = "nardy-dice/1|{match_id}|{client_seed_white_in_X}|{client_seed_white_in_Y}|1|W|0".format(
        **vector
    )
    assert message == vector["message_r1_W"]
    key = bytes.fromhex(vector["server_seed_hex"])
    digest = hmac.new(key, message.encode(), hashlib.sha256).digest()
    assert digest.hex() == vector["hmac_r1_W"]
    first, second = (byte % 6 + 1 for byte in [byte for byte in digest if byte < 252][:2])
    assert roll_for(seeds_of(vector), Turn(1), opening_double=True) == Roll(first, second)


@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize("opening_double", [False, True], ids=["re-rolled", "allowed"])
def test_anybody_recomputes_every_roll(vector: dict[str, Any], opening_double: bool) -> None:
    seeds = seeds_of(vector)
    for number in range(1, 150):
        for phase in "WK":
            dice = dice_by_the_text(
                vector["server_seed_hex"], seeds.dice_id, seeds.clients.A, seeds.clients.B, number, phase
            )
            expected = roll_by_the_text(dice, number == 1 and phase == "W" and not opening_double)
            roll = roll_for(seeds, Turn(number, phase == "K"), opening_double=opening_double)
            assert (roll.first, roll.second) == expected


def test_the_rolls_of_a_played_match_are_those_that_its_seeds_give() -> None:
    """A finished match is checked from what its view then shows."""
    table = a_match().play_until("9W")
    a, b = table.match.client_seeds.A, table.match.client_seeds.B
    assert a is not None
    assert b is not None
    for played in table.match.history:
        turn = played.turn
        dice = dice_by_the_text(SERVER_SEED.hex(), "m-0001", a, b, turn.round, turn.phase.value)
        expected = roll_by_the_text(dice, str(turn) == "1W")
        assert (played.roll.first, played.roll.second) == expected


def some_seeds(number: int) -> DiceSeeds:
    return DiceSeeds(hashlib.sha256(number.to_bytes(4)).digest(), f"m-{number}", Seats("0" * 32, "1" * 32))


def test_the_opening_is_never_a_double_and_goes_on_in_its_own_stream() -> None:
    rerolled = 0
    for number in range(600):
        seeds = some_seeds(number)
        allowed = roll_for(seeds, Turn(1), opening_double=True)
        opening = roll_for(seeds, Turn(1), opening_double=False)
        assert not opening.is_double
        if allowed.is_double:
            rerolled += 1
            a, b = seeds.clients.A, seeds.clients.B
            stream = dice_by_the_text(seeds.server.hex(), seeds.dice_id, a, b, 1, "W")
            assert roll_by_the_text(stream, True) == (opening.first, opening.second)
        else:
            assert opening == allowed
    assert 70 < rerolled < 130


@pytest.mark.parametrize("turn", [Turn(1, black=True), Turn(2), Turn(2, black=True)], ids=str)
def test_only_the_first_roll_is_rolled_again(turn: Turn) -> None:
    assert any(roll_for(some_seeds(n), turn, opening_double=False).is_double for n in range(100))


def test_the_dice_are_even() -> None:
    """A sanity check, not a proof: 1-in-1000 limits of chi-square on fixed seeds."""
    rolls = [
        roll_for(some_seeds(number), Turn(round_, black), opening_double=True)
        for number in range(100)
        for round_ in range(1, 101)
        for black in (False, True)
    ]
    faces = Counter(die for roll in rolls for die in (roll.first, roll.second))
    pairs = Counter((roll.first, roll.second) for roll in rolls)
    assert (len(faces), len(pairs)) == (6, 36)
    assert chi_square(faces) < 20.5  # 5 degrees of freedom
    assert chi_square(pairs) < 66.6  # 35


def chi_square(counts: Counter[Any]) -> float:
    mean = counts.total() / len(counts)
    return sum((n - mean) ** 2 / mean for n in counts.values())


@pytest.mark.parametrize(
    ("change", "same"),
    [
        pytest.param({}, True, id="nothing"),
        pytest.param({"dice_id": "m-0002"}, False, id="the match"),
        pytest.param({"server": bytes(32)}, False, id="the server's seed"),
        pytest.param({"clients": Seats("1" * 32, "2" * 32)}, False, id="a client's seed"),
        pytest.param({"clients": Seats("2" * 32, "0" * 32)}, False, id="the seats of the seeds"),
    ],
)
def test_every_part_of_the_text_counts(change: dict[str, Any], same: bool) -> None:
    whole = {"server": SERVER_SEED, "dice_id": "m-0001", "clients": Seats("0" * 32, "2" * 32)}
    turns = [Turn(n, black) for n in range(1, 20) for black in (False, True)]
    before = [roll_for(DiceSeeds(**whole), turn, opening_double=True) for turn in turns]  # type: ignore[arg-type]
    after = [roll_for(DiceSeeds(**{**whole, **change}), turn, opening_double=True) for turn in turns]  # type: ignore[arg-type]
    assert (before == after) is same


def test_swapped_players_who_keep_the_seeds_of_their_seats_get_the_same_dice() -> None:
    """The order of commits, reveals and plays, and who sits where, change no roll."""

    def rolls(first: Seat) -> list[Roll]:
        table = a_new_match()
        seeds = Seats("a" * 32, "b" * 32)
        for seat in (first, first.other):
            table.do(CommitSeed(seat, client_hash(seeds[seat]), MADE_AT))
        for seat in (first.other, first):
            table.do(RevealSeed(seat, seeds[seat], MADE_AT + 5))
        while table.turn < Turn(8):
            play_in_order(table, first)
        return [phase.roll for phase in table.match.history]

    assert rolls(Seat.A) == rolls(Seat.B)


def play_in_order(table: Table, first: Seat) -> None:
    turn = table.turn
    for seat in (first, first.other):
        if table.match.turn == turn and table.match.owes(seat):
            table.play(seat, after=1_000)


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("0" * 32, True),
        ("0123456789abcdef" * 2, True),
        ("0123456789ABCDEF" * 2, False),
        ("0" * 31, False),
        ("0" * 33, False),
        ("0" * 32 + "\n", False),
        ("g" * 32, False),
        ("", False),
    ],
)
def test_a_client_seed_is_32_lower_case_hex_digits(text: str, good: bool) -> None:
    assert is_client_seed(text) is good


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("m-0001", True),
        ("T7-R3-B12", True),
        ("", False),
        ("a|b", False),
        ("a b", False),
        ("ж", False),
        ("a\n", False),
    ],
)
def test_a_match_id_cannot_disturb_the_text(text: str, good: bool) -> None:
    assert is_dice_id(text) is good


def test_seeds_do_not_show_themselves_where_they_are_printed() -> None:
    """§9.4: not in a log, not in an error."""
    seeds = some_seeds(1)
    assert seeds.server.hex() not in repr(seeds)
    assert repr(seeds.server) not in repr(seeds)
    assert repr(SERVER_SEED) not in repr(a_match().match)


def test_the_engine_knows_no_clock_no_chance_and_no_world() -> None:
    """The only source of dice is the keyed code above; the server's seed comes in from outside."""
    allowed = {
        *(
            "__future__",
            "abc",
            "base64",
            "binascii",
            "bisect",
            "codecs",
            "collections",
            "contextlib",
            "dataclasses",
            "datetime",
            "difflib",
            "enum",
            "fractions",
            "functools",
            "hashlib",
            "unicodedata",
        ),
        *(
            "heapq",
            "hmac",
            "itertools",
            "json",
            "math",
            "operator",
            "re",
            "statistics",
            "string",
            "struct",
            "textwrap",
        ),
        *("types", "typing", "engine"),
    }
    assert engine.__file__ is not None
    for file in Path(engine.__file__).parent.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = (
                [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            for name in names:
                top = name.partition(".")[0]
                known = top in allowed or (top == "networkx" and file.name == "pairing.py")
                assert known, f"{file.name} imports {name}"
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"open", "print", "input", "eval", "exec", "__import__", "id"}, (
                    file.name
                )

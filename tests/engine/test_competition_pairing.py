"""§12.3 A Swiss round: no repeat while another pairing exists, fair byes, like with like; judged by other programs."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pairing_core.errors import PairingError as TheirRefusal
from py4swiss.engines.common import PairingError

from engine.competition.pairing import Field, Paired, couple, pair
from tests.support.pairers import History, Pairs, by_pairing_core, by_py4swiss


def a_field(scores: Sequence[int], **more: object) -> Field:
    """Players 1, 2, 3 … in this order, with these scores."""
    return Field(range(1, len(scores) + 1), dict(enumerate(scores, 1)), **more)  # type: ignore[arg-type]


def met(*couples: tuple[int, int]) -> Counter[tuple[int, int]]:
    return Counter(couple(*both) for both in couples)


def of_history(history: History) -> Field:
    done = len(history.results[1])
    scores = {player: history.score(player) for player in history.results}
    return Field(history.ranking(), scores, history.met(), history.byes(), rounds_left=history.rounds - done)


def play_on(history: History, paired: Paired, rng: random.Random) -> None:
    for one, other in paired.pairs:
        history.play(one, other, rng.choice((0, 0, 1, 2, 2)))
    if paired.bye is not None:
        history.rest(paired.bye)


@pytest.mark.parametrize(
    ("field", "pairs", "bye"),
    [
        pytest.param(
            a_field([0] * 8), [(1, 5), (2, 6), (3, 7), (4, 8)], None, id="all equal: upper half, lower half"
        ),
        pytest.param(a_field([0] * 5), [(1, 3), (2, 4)], 5, id="the bye goes to the lowest"),
        pytest.param(
            a_field([2, 2, 0, 0, 0], byes=Counter({5: 1})), [(1, 2), (3, 5)], 4, id="who has had none yet"
        ),
        pytest.param(
            a_field([2, 2, 0, 0, 0], byes=Counter({5: 1}), unpaired=Counter({4: 1})),
            [(1, 2), (4, 5)],
            3,
            id="of those, who has missed no round",
        ),
        pytest.param(a_field([4, 4, 2, 2]), [(1, 2), (3, 4)], None, id="like with like"),
        pytest.param(
            a_field([4, 4, 2, 2], met=met((1, 2))),
            [(1, 3), (2, 4)],
            None,
            id="rather a difference than a repeat",
        ),
        pytest.param(
            a_field([4, 2, 2, 0]), [(1, 2), (3, 4)], None, id="rather two small differences than one large"
        ),
        pytest.param(
            a_field([2, 2, 2, 2], forbidden=[(3, 1)]),
            [(1, 2), (3, 4)],
            None,
            id="a forbidden pair is not paired",
        ),
        pytest.param(
            a_field([2, 2, 0, 0], forbidden=[(1, 2)], met=met((1, 3), (2, 4), (1, 4), (2, 3))),
            [(1, 3), (2, 4)],
            None,
            id="rather a repeat than a forbidden pair",
        ),
        pytest.param(a_field([2, 0], met=met((1, 2))), [(1, 2)], None, id="a repeat if there is nobody else"),
        pytest.param(
            a_field([2, 0], forbidden=[(1, 2)]), [(1, 2)], None, id="even a forbidden pair, if nobody else"
        ),
        pytest.param(
            a_field([31, 30, 12, 11, -40, -44]), [(1, 2), (3, 4), (5, 6)], None, id="by points: the nearest"
        ),
        pytest.param(
            a_field([4, 4, 3, 3, 0, 0], met=met((1, 2), (3, 4))),
            [(1, 3), (2, 4), (5, 6)],
            None,
            id="the sum of the differences is the least",
        ),
    ],
)
def test_who_meets_whom(field: Field, pairs: list[tuple[int, int]], bye: int | None) -> None:
    found = pair(field)
    assert (list(found.pairs), found.bye) == (pairs, bye)


def test_of_unavoidable_repeats_the_pair_that_has_met_least_often() -> None:
    before = met((1, 2), (3, 4), (1, 3), (2, 4), (1, 4), (2, 3), (1, 2), (3, 4))
    found = pair(a_field([0, 0, 0, 0], met=before))
    assert (2, 2) not in [(before[couple(*both)],) * 2 for both in found.pairs]
    assert found.repeats == 2


def all_pairings(there: Sequence[int]) -> Iterator[tuple[tuple[int, int], ...]]:
    """Every way to pair these."""
    if not there:
        yield ()
        return
    first, *others = there
    for other in others:
        for rest in all_pairings([each for each in others if each != other]):
            yield ((first, other), *rest)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(0, 6), min_size=2, max_size=9),
    st.sets(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=30),
    st.sets(st.integers(1, 9)),
)
def test_nothing_is_better_than_the_pairing_found(
    scores: list[int], before: set[tuple[int, int]], rested: set[int]
) -> None:
    """Every pairing of few entrants, one after the other: none has fewer repeats, nor a fairer bye, nor less sum."""
    scores.sort(reverse=True)
    before = {couple(*both) for both in before if both[0] != both[1]}
    field = a_field(scores, met=Counter(before), byes=Counter(rested))
    found = pair(field)

    def cost(pairs: Sequence[tuple[int, int]], bye: int | None) -> tuple[int, ...]:
        rest = (int(bye in rested), -bye) if bye else (0, 0)
        repeats = sum(couple(*both) in before for both in pairs)
        return (repeats, *rest, sum(abs(field.scores[a] - field.scores[b]) for a, b in pairs))

    everyone = list(field.ranking)
    byes: list[int | None] = [*everyone] if len(everyone) % 2 else [None]
    best = min(
        cost(pairs, bye) for bye in byes for pairs in all_pairings([each for each in everyone if each != bye])
    )
    assert cost(found.pairs, found.bye) == best
    assert (
        sorted([each for both in found.pairs for each in both] + [found.bye] * (found.bye is not None))
        == everyone
    )


@pytest.mark.parametrize(
    ("players", "rounds"),
    [(4, 3), (5, 4), (5, 5), (6, 5), (7, 6), (7, 7), (8, 7), (9, 8), (10, 9)],
)
def test_few_entrants_and_many_rounds_run_into_no_repeat(players: int, rounds: int) -> None:
    """CASES G1, G6. As many rounds as there are new opponents: one choice looks as far as the last of them."""
    for seed in range(8):
        rng, history = random.Random(seed), History(players, rounds)
        for _ in range(rounds):
            field = of_history(history)
            found = pair(field)
            assert found.repeats == 0
            if found.bye is not None:
                without = [each for each in field.ranking if field.byes[each] == min(field.byes.values())]
                assert found.bye == without[-1]
            play_on(history, found, rng)
        assert max(history.byes().values()) <= 1


def sum_of(history: History, pairs: Sequence[tuple[int, int]]) -> int:
    return sum(abs(history.score(a) - history.score(b)) for a, b in pairs)


def compare(judge: Callable[[History], Pairs], players: int, rounds: int, seed: int) -> int:
    """Plays an event by our pairings and asks the judge about every round; how often it had an answer."""
    rng, history, answers = random.Random(seed), History(players, rounds), 0
    for _ in range(rounds):
        field = of_history(history)
        ours = pair(field)
        try:
            theirs, bye = judge(history)
        except (PairingError, TheirRefusal):
            pass  # colours, or more than it can look through
        else:
            answers += 1
            assert ours.repeats == 0
            place = {player: number for number, player in enumerate(field.ranking)}
            if bye is not None and ours.bye is not None:
                assert field.byes[ours.bye] == 0
                assert place[ours.bye] >= place[bye]
            if bye == ours.bye:
                assert sum_of(history, ours.pairs) <= sum_of(history, theirs)
        play_on(history, ours, rng)
    return answers


@pytest.mark.parametrize("judge", [by_py4swiss, by_pairing_core])
def test_other_programs_find_nothing_better(judge: Callable[[History], Pairs]) -> None:
    """Never a repeat where they find none, byes no higher than theirs, differences of score no larger."""
    rng = random.Random(2019)
    answers = 0
    for seed in range(20):
        players = rng.randint(4, 24)
        answers += compare(judge, players, min(players - 1 - (players % 2 == 0), rng.randint(3, 8)), seed)
    assert answers > 60


@pytest.mark.parametrize(("players", "rounds"), [(64, 5), (121, 3), (200, 2)])
def test_other_programs_find_nothing_better_in_large_fields(players: int, rounds: int) -> None:
    assert compare(by_py4swiss, players, rounds, players) == rounds


@pytest.mark.parametrize("spread", [pytest.param(8, id="match points"), pytest.param(900, id="points")])
def test_two_hundred_are_paired_in_seconds_and_always_alike(spread: int) -> None:
    rng = random.Random(7)
    scores = sorted((rng.randrange(spread) for _ in range(200)), reverse=True)
    before = met(*((rng.randint(1, 100), rng.randint(101, 200)) for _ in range(700)))
    began = time.process_time()
    found = pair(a_field(scores, met=before))
    assert time.process_time() - began < 15  # 2 s on the machine of docs/PERFORMANCE.md
    assert found.repeats == 0
    again = a_field(scores, met=Counter(dict(sorted(before.items(), reverse=True))))
    assert found == pair(again)

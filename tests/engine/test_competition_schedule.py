"""§12.2–12.3 All-play-all, groups and brackets: who meets whom before a single match is played."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pairing_core.roundrobin import round_robin

from engine.competition import bracket
from engine.competition.pairing import couple
from engine.competition.schedule import all_play_all, exchanged, snake, tiers


def one_to(n: int) -> range:
    return range(1, n + 1)


# ---------------------------------------------------------------------------------------------------- all play all


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 3))
def test_each_two_meet_once_a_leg_and_nobody_twice_in_a_round(entrants: int, legs: int) -> None:
    rounds = all_play_all(one_to(entrants), legs)
    times = Counter(couple(*both) for pairs in rounds for both in pairs)
    assert times == Counter(dict.fromkeys(combinations(one_to(entrants), 2), legs))
    for pairs in rounds:
        named = [each for both in pairs for each in both]
        assert len(named) == len(set(named)) >= entrants - 1 - (entrants % 2 == 0)


def test_four_play_three_rounds() -> None:
    assert all_play_all([1, 2, 3, 4]) == (((1, 4), (2, 3)), ((1, 3), (4, 2)), ((1, 2), (3, 4)))


def test_of_five_each_rests_once() -> None:
    resting = [
        set(one_to(5)) - {each for both in pairs for each in both} for pairs in all_play_all(one_to(5))
    ]
    assert sorted(each for (each,) in resting) == [1, 2, 3, 4, 5]


def test_in_the_second_leg_seats_are_exchanged() -> None:
    first, second = all_play_all([1, 2], 2)
    assert (first, second) == (((1, 2),), ((2, 1),))


@pytest.mark.parametrize("entrants", [4, 5, 8, 11, 20])
def test_as_many_rounds_as_berger_s_tables_have(entrants: int) -> None:
    theirs = round_robin(entrants)
    ours = all_play_all(one_to(entrants))
    assert len(ours) == len(theirs)
    assert {couple(*both) for both in ours[0]} == {couple(a, b) for a, b in theirs[0] if b is not None}


# ---------------------------------------------------------------------------------------------------------- groups


@settings(deadline=None)
@given(st.integers(2, 300), st.integers(2, 20), st.sampled_from([tiers, snake]))
def test_groups_are_as_few_as_can_be_and_alike_in_size(entrants: int, size: int, divide: object) -> None:
    """§12.2: ⌈n/g⌉ groups, sizes differing by at most one."""
    groups = divide(one_to(entrants), size)  # type: ignore[operator]
    sizes = [len(group) for group in groups]
    assert len(groups) == -(-entrants // size)
    assert max(sizes) - min(sizes) <= 1
    assert sorted(each for group in groups for each in group) == list(one_to(entrants))


@pytest.mark.parametrize(
    ("entrants", "size", "sizes"),
    [
        pytest.param(64, 8, [8] * 8, id="sixty-four by eight"),
        pytest.param(5, 8, [5], id="five are one group"),
        pytest.param(9, 8, [5, 4], id="nine are two"),
        pytest.param(20, 8, [7, 7, 6], id="larger ones at the top"),
    ],
)
def test_leaders_play_leaders(entrants: int, size: int, sizes: list[int]) -> None:
    groups = tiers(one_to(entrants), size)
    assert [len(group) for group in groups] == sizes
    assert [each for group in groups for each in group] == list(one_to(entrants))


def test_groups_of_like_strength_are_dealt_to_and_fro() -> None:
    assert snake(one_to(9), 3) == ((1, 6, 7), (2, 5, 8), (3, 4, 9))


@pytest.mark.parametrize(
    ("groups", "count", "order"),
    [
        pytest.param([[1, 2, 3, 4], [5, 6, 7, 8]], 0, [1, 2, 3, 4, 5, 6, 7, 8], id="nobody"),
        pytest.param([[1, 2, 3, 4], [5, 6, 7, 8]], 1, [1, 2, 3, 5, 4, 6, 7, 8], id="the last for the first"),
        pytest.param(
            [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11]],
            1,
            [1, 2, 3, 5, 4, 6, 7, 9, 8, 10, 11],
            id="in the middle both ways",
        ),
        pytest.param([[1, 2], [3, 4]], 5, [1, 3, 2, 4], id="never more than half of a group"),
    ],
)
def test_the_best_of_a_group_change_places_with_the_last_above(
    groups: list[list[int]], count: int, order: list[int]
) -> None:
    assert list(exchanged(groups, count)) == order


# -------------------------------------------------------------------------------------------------------- brackets


def play(
    slots: tuple[bracket.Slot, ...], entrants: int, winner_of: object
) -> tuple[dict[str, bracket.Filled], Counter[int]]:
    """Plays a bracket slot by slot; the slots at the end, and how often each has lost."""
    met: dict[str, tuple[int | None, int | None]] = {}
    lost: Counter[int] = Counter()
    while True:
        filled = bracket.fill(slots, one_to(entrants), met)
        ready = [slot for slot in filled.values() if slot.is_ready]
        if not ready:
            return filled, lost
        for slot in ready:
            one, other = slot.entrants
            assert one is not None
            assert other is not None
            winner = winner_of(one, other)  # type: ignore[operator]
            loser = other if winner == one else one
            met[slot.slot.name] = (winner, loser)
            lost[loser] += 1


def test_seeds_of_eight_stand_apart() -> None:
    assert bracket.seed_order(8) == (1, 8, 4, 5, 2, 7, 3, 6)


@pytest.mark.parametrize("entrants", [*range(2, 35), 63, 64, 65, 127, 128, 129, 200])
def test_a_single_elimination_of_any_size(entrants: int) -> None:
    """Byes for the best seeds; all but the winner are out by one loss; the best seeds meet last."""
    slots = bracket.single(entrants, third_place=False)
    start = bracket.fill(slots, one_to(entrants), {})
    size = 1 << (entrants - 1).bit_length()
    byes = {
        next(filter(None, s.entrants)) for n, s in start.items() if n.startswith("W1.") and None in s.entrants
    }
    assert byes == set(one_to(size - entrants))
    filled, lost = play(slots, entrants, min)
    assert sum(lost.values()) == entrants - 1
    assert lost == Counter(range(2, entrants + 1))
    assert bracket.order(filled, one_to(entrants)) == tuple(one_to(entrants))
    assert not any(bracket.is_in(filled, entrant) for entrant in one_to(entrants))


def test_the_losers_of_the_semi_finals_play_for_the_third_place() -> None:
    filled, _ = play(bracket.single(4, third_place=True), 4, max)
    assert filled["T"].entrants == (1, 2)
    assert bracket.order(filled, one_to(4)) == (4, 3, 2, 1)


@pytest.mark.parametrize("entrants", [*range(2, 35), 63, 64, 65, 128, 129, 200])
def test_a_double_elimination_of_any_size(entrants: int) -> None:
    """Two losses are out, one never is; no more and no fewer meetings than that takes."""
    slots = bracket.double(entrants, reset=True)
    for winner_of in (min, max, lambda one, other: one if (one * 7 + other * 13) % 3 else other):
        filled, lost = play(slots, entrants, winner_of)
        champion, *others = bracket.order(filled, one_to(entrants))
        assert lost[champion] <= 1
        assert {lost[each] for each in others} == {2}
        assert not any(bracket.is_in(filled, each) for each in one_to(entrants))


def test_the_final_is_played_again_when_its_loser_has_lost_for_the_first_time() -> None:
    slots = bracket.double(2, reset=True)
    met: dict[str, tuple[int | None, int | None]] = {"W1.1": (1, 2), "F": (2, 1)}
    assert bracket.fill(slots, [1, 2], met)["R"].is_ready
    met["F"] = (1, 2)
    assert not bracket.fill(slots, [1, 2], met)["R"].is_ready
    assert "R" not in bracket.fill(bracket.double(2, reset=False), [1, 2], {})


def test_two_who_both_stay_away_leave_the_next_one_alone() -> None:
    slots = bracket.single(4, third_place=False)
    filled = bracket.fill(slots, [1, 2, 3, 4], {"W1.1": (None, None), "W1.2": (2, 3)})
    assert (filled["W2.1"].over, filled["W2.1"].winner) == (True, 2)


@settings(deadline=None, max_examples=30)
@given(st.integers(5, 64), st.booleans())
def test_who_met_in_the_upper_half_do_not_meet_at_once_below(entrants: int, low: bool) -> None:
    """In a double elimination nobody meets the same opponent twice in the first two rounds below."""
    slots = bracket.double(entrants, reset=True)
    filled, _ = play(slots, entrants, min if low else max)
    early = [
        couple(*slot.entrants)  # type: ignore[arg-type]
        for name, slot in filled.items()
        if name.split(".")[0] in ("W1", "W2", "L1", "L2") and None not in slot.entrants
    ]
    assert len(early) == len(set(early))

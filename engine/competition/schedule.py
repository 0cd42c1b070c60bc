"""Who meets whom when everybody meets everybody, and how groups are made (§12.2, §12.3)."""

from __future__ import annotations

from collections.abc import Sequence


def all_play_all(entrants: Sequence[int], legs: int = 1) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Rounds in which each two meet once a leg; of an odd number one rests each round. In every second leg seats turn.

    The first stays where he is and the others go round him.
    """
    circle: list[int | None] = [*entrants, None] if len(entrants) % 2 else list(entrants)
    half = len(circle) // 2
    one_leg = []
    for _ in range(len(circle) - 1):
        facing = zip(circle[:half], reversed(circle[half:]), strict=True)
        one_leg.append(tuple((a, b) for a, b in facing if a is not None and b is not None))
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return tuple(
        tuple((b, a) if leg % 2 else (a, b) for a, b in pairs) for leg in range(legs) for pairs in one_leg
    )


def tiers(ranking: Sequence[int], size: int) -> tuple[tuple[int, ...], ...]:
    """⌈n/size⌉ groups from the top, their sizes differing by at most one, larger ones first (§12.2)."""
    count = -(-len(ranking) // size)
    groups, start = [], 0
    for number in range(count):
        end = start + (len(ranking) - start + count - number - 1) // (count - number)
        groups.append(tuple(ranking[start:end]))
        start = end
    return tuple(groups)


def snake(ranking: Sequence[int], size: int) -> tuple[tuple[int, ...], ...]:
    """As many groups, of like strength: dealt out from the top, to and fro."""
    count = -(-len(ranking) // size)
    groups: list[list[int]] = [[] for _ in range(count)]
    for number, entrant in enumerate(ranking):
        row, column = divmod(number, count)
        groups[count - 1 - column if row % 2 else column].append(entrant)
    return tuple(map(tuple, groups))


def exchanged(groups: Sequence[Sequence[int]], count: int) -> tuple[int, ...]:
    """All groups from the top, each best first, after so many best of each have changed places with the last above.

    Never more than half of a group. Those who go down are the first of their new group, those who come up the last.
    """
    order = [list(group) for group in groups]
    moved = min([count, *(len(group) // 2 for group in groups)])
    if moved:
        down = [group[-moved:] for group in order[:-1]]
        up = [group[:moved] for group in order[1:]]
        for number, group in enumerate(order):
            stay = group[moved if number else 0 : len(group) - (moved if number < len(order) - 1 else 0)]
            above = down[number - 1] if number else []
            below = up[number] if number < len(order) - 1 else []
            order[number] = above + stay + below
    return tuple(entrant for group in order for entrant in group)

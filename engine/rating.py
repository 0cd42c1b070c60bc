"""Two ratings: points, which are added, and strength, which is Glicko-2 (§10). Both can be recomputed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.ruleset import Ruleset

POINTS_START = 1000
TAU = 0.5
_SCALE = 173.7178  # between Glicko's and Glicko-2's units, as published
_CONVERGED = 1e-6


def truncated(num: int, den: int) -> int:
    """num / den, truncated toward zero."""
    return num // den if num >= 0 else -(-num // den)


def points_after(before: int, points: int, ruleset: Ruleset) -> int:
    """The points rating after settled points, scaled and truncated toward zero; it may go negative (§10.1)."""
    return before + truncated(points * ruleset.rating_num, ruleset.rating_den)


@dataclass(frozen=True, slots=True)
class Strength:
    """A Glicko-2 rating: r, its deviation, its volatility (§10.2)."""

    r: float = 1500.0
    rd: float = 350.0
    vol: float = 0.06


def strength_after(before: Strength, games: Sequence[tuple[Strength, float]], tau: float = TAU) -> Strength:
    """The rating after one period of games, each an opponent's rating and a score of 1, ½ or 0.

    Glickman, "Example of the Glicko-2 system" (2013), steps 2–8; float64, unrounded.
    """
    if not games:
        return Strength(before.r, math.hypot(before.rd, before.vol * _SCALE), before.vol)
    mu, phi = (before.r - 1500) / _SCALE, before.rd / _SCALE
    information = gain = 0.0
    for opponent, score in games:
        phi_j = opponent.rd / _SCALE
        g = 1 / math.sqrt(1 + 3 * phi_j**2 / math.pi**2)
        expected = 1 / (1 + math.exp(-g * (mu - (opponent.r - 1500) / _SCALE)))
        information += g**2 * expected * (1 - expected)
        gain += g * (score - expected)
    variance = 1 / information
    vol = _volatility(before.vol, phi, variance, variance * gain, tau)
    phi_after = 1 / math.sqrt(1 / (phi**2 + vol**2) + information)
    return Strength(1500 + _SCALE * (mu + phi_after**2 * gain), _SCALE * phi_after, vol)


def _volatility(vol: float, phi: float, variance: float, delta: float, tau: float) -> float:
    """Step 5: the root found by the Illinois algorithm."""
    a = math.log(vol**2)

    def f(x: float) -> float:
        e = math.exp(x)
        d = phi**2 + variance + e
        return e * (delta**2 - d) / (2 * d**2) - (x - a) / tau**2

    low = a
    if delta**2 > phi**2 + variance:
        high = math.log(delta**2 - phi**2 - variance)
    else:
        k = 1
        while f(a - k * tau) < 0:
            k += 1
        high = a - k * tau
    f_low, f_high = f(low), f(high)
    while abs(high - low) > _CONVERGED:
        middle = low + (low - high) * f_low / (f_high - f_low)
        f_middle = f(middle)
        if f_middle * f_high <= 0:
            low, f_low = high, f_high
        else:
            f_low /= 2
        high, f_high = middle, f_middle
    return math.exp(low / 2)


def both_after(a: Strength, b: Strength, score_a: float) -> tuple[Strength, Strength]:
    """Both players' strength after one match between them; one match is one period (§10.2)."""
    return strength_after(a, [(b, score_a)]), strength_after(b, [(a, 1 - score_a)])

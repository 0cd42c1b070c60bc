"""What the lines of `bench.objectivity` say: means, spreads and matches needed, each with its error.

Luck L has mean zero by the dice alone (§6.4), whatever the players are worth. So the mean of anything else that the
same matches give is found far more exactly once its share of L is taken away, by a straight line: the mean that is
expected stays where it is, and most of the dice's noise is gone ("freed of luck" below). Spreads stay as they were
seen, for they are what a competition meets.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]
Line = dict[str, Any]

BASES = ("pips", "checkers", "classic")
CREDITS = ("with credit", "without")
CONFIDENT = 1.645  # so many standard deviations above zero a sum is positive with 95 %
RESAMPLED, FEWEST = 1000, 20


class Figure(NamedTuple):
    """A number and its standard error."""

    value: float
    error: float


class Between(NamedTuple):
    """A number, and where it lies in 95 % of the runs drawn anew from the same matches (bootstrap)."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Way:
    """One way to tell the better player: what each match says for A, in the way's own unit.

    `same_mean` has the mean of `values`, match by match, so that luck can be taken out of it.
    """

    values: Column
    same_mean: Column

    @property
    def mean(self) -> Figure:
        return Figure(float(self.values.mean()), float(self.values.std(ddof=1) / math.sqrt(len(self.values))))

    @property
    def spread(self) -> float:
        return float(self.values.std(ddof=1))


@dataclass(frozen=True)
class Run:
    """The lines of one run in columns. Luck is that by the first judge."""

    lines: Sequence[Line]
    judges: Sequence[str]

    def __len__(self) -> int:
        return len(self.lines)

    def column(self, value: Callable[[Line], Any]) -> Column:
        return np.array([value(line) for line in self.lines], dtype=float)

    @property
    def luck(self) -> Column:
        """L, for A."""
        first = self.judges[0]
        return self.column(lambda line: line["judged"][first][0] - line["judged"][first][1])

    def played_out(self, basis: str) -> tuple[Column, Column]:
        """Games X and Y, each played to its own end."""
        x, y = self.column(lambda line: line["played_out"][basis]).T
        return x, y

    def ways(self) -> dict[str, Way]:
        """By name; X of one match with Y of the next are two games that share no dice, for one match."""
        found = {}
        for basis in BASES:
            x, y = self.played_out(basis)
            found[f"two games, {basis}"] = Way(x + np.roll(y, 1), x + y)
        for basis in BASES:
            for credit in CREDITS:
                values = self.column(lambda line, key=f"{basis}, {credit}": line["stopped"][key])
                found[f"{basis}, {credit}"] = Way(values, values)
        for judge in self.judges:
            for place, name in enumerate(("E", "E − L")):
                values = self.column(lambda line, j=judge, p=place: line["judged"][j][p])
                found[f"{name}, {judge}"] = Way(values, values)
        return found

    def error_rate(self, judge: str, seat: str) -> Figure:
        """Mean loss a decision (points), a match counting once."""
        place = 2 + "AB".index(seat)
        rates = self.column(
            lambda line: math.nan if line["judged"][judge][place] is None else line["judged"][judge][place]
        )
        rates = rates[~np.isnan(rates)]
        return Figure(float(rates.mean()), float(rates.std(ddof=1) / math.sqrt(len(rates))))

    def share(self, holds: Callable[[Line], bool]) -> Figure:
        share = float(self.column(holds).mean())
        return Figure(share, math.sqrt(share * (1 - share) / len(self)))


def freed(values: Column, luck: Column) -> Figure:
    """The mean of `values`, freed of luck."""
    mean, slope = _freed(values, luck)
    return Figure(float(mean), float((values - slope * luck).std(ddof=1) / math.sqrt(len(values))))


def needed(way: Way, luck: Column) -> Between:
    """After how many matches the better one is ahead with 95 %: (1.645 · spread / mean)², the mean freed of luck.

    Infinite where A is not the better one.
    """
    places = _drawn(len(luck))
    drawn = _needed(way.values[places], way.same_mean[places], luck[places])
    return _between(_needed(way.values, way.same_mean, luck), drawn)


def against(way: Way, other: Way, luck: Column) -> Between:
    """How many matches one way needs for each that the other needs."""
    places = _drawn(len(luck))
    one, two = (_matches(w.values[places], w.same_mean[places], luck[places]) for w in (way, other))
    both = [_matches(w.values, w.same_mean, luck) for w in (way, other)]
    return _between(both[0] / both[1], one / two)


def shared(run: Run, basis: str) -> Figure:
    """Variance of both games played out on shared dice, against that of the same games on dice of their own."""
    x, y = run.played_out(basis)

    def ratio(x: Column, y: Column) -> Column:
        found: Column = (x + y).var(-1, ddof=1) / (x.var(-1, ddof=1) + y.var(-1, ddof=1))
        return found

    places = _drawn(len(run))
    return Figure(float(ratio(x, y)), float(ratio(x[places], y[places]).std(ddof=1)))


def _freed(values: Column, luck: Column) -> tuple[Column, Column]:
    """The means along the last axis, and the slope by which luck was taken away."""
    away = luck - luck.mean(-1, keepdims=True)
    squares = (away**2).mean(-1)
    slope = (away * values).mean(-1) / np.where(squares > 0, squares, 1)
    return values.mean(-1) - slope * luck.mean(-1), slope


def _needed(values: Column, same_mean: Column, luck: Column) -> Column:
    return np.where(_freed(same_mean, luck)[0] > 0, _matches(values, same_mean, luck), math.inf)


def _matches(values: Column, same_mean: Column, luck: Column) -> Column:
    """For the better one, whoever that is."""
    with np.errstate(divide="ignore"):
        found: Column = (CONFIDENT * values.std(-1, ddof=1) / _freed(same_mean, luck)[0]) ** 2
    return found


@lru_cache(maxsize=4)
def _drawn(number: int) -> NDArray[np.int64]:
    """The same matches drawn anew, with repetition: one row for each run."""
    return np.random.default_rng(2019).integers(number, size=(RESAMPLED, number))


def _between(value: Any, drawn: Column) -> Between:
    ordered = np.sort(drawn)
    return Between(float(value), float(ordered[RESAMPLED // 40]), float(ordered[-RESAMPLED // 40 - 1]))


# ------------------------------------------------------------------------------------------------------- files


def kept(file: Path | None, settings: dict[str, Any]) -> dict[int, Line]:
    """The matches that a file holds. Raises SystemExit if it is another run's."""
    if file is None or not file.exists():
        return {}
    first, lines = read(file)
    if first != settings:
        raise SystemExit(f"{file} is of another run: {first}")
    return lines


def read(file: Path) -> tuple[dict[str, Any], dict[int, Line]]:
    """A file's settings, and its matches by number."""
    first, *rest = file.read_text(encoding="utf-8").splitlines()
    found = {}
    for text in rest:
        with suppress(json.JSONDecodeError):  # the last line of a run that was broken off
            line = json.loads(text)
            found[line["match"]] = line
    return json.loads(first), found


# ------------------------------------------------------------------------------------------------------- the table


def show(run: Run) -> None:
    """All figures of a run."""
    if len(run) < FEWEST:
        print(f"{len(run)} matches say nothing yet; {FEWEST} would")
        return
    print(f"{len(run)} matches; ± is one standard error, brackets hold 95 % of resampled runs\n")
    print("variance of both games played out on shared dice, against the same games on dice of their own")
    for basis in BASES:
        print(f"  {basis:10} {_pm(shared(run, basis))}")
    luck, ways = run.luck, run.ways()
    print("\nfor A per match, and matches until the better is ahead with 95 %")
    print(f"  {'':22} {'mean':>17} {'freed of luck':>18} {'spread':>8} {'matches':>8}   95 %")
    for name, way in ways.items():
        mean, exact = _pm(way.mean, sign="+"), _pm(freed(way.same_mean, luck), sign="+")
        print(f"  {name:22} {mean:>17} {exact:>18} {way.spread:8.3f} {_between_text(needed(way, luck))}")
    print("\nmatches needed, for each that two games with dice of their own need")
    for basis in BASES:
        for credit in CREDITS:
            name = f"{basis}, {credit}"
            print(f"  {name:22} {_between_text(against(ways[name], ways[f'two games, {basis}'], luck), 2)}")
    print("\nmean loss a decision, points")
    for judge in run.judges:
        for seat in "AB":
            print(f"  {seat}, by {judge:12} {_pm(run.error_rate(judge, seat), 4)}")
    print()
    for text, holds in SHARES.items():
        print(f"{text:36} {_percent(run.share(holds))}")
    parted = sorted(line["parted"] for line in run.lines if line["parted"] is not None)
    print(f"parted, median round: {parted[len(parted) // 2] if parted else '–'}")
    rounds = run.column(lambda line: line["rounds"])
    print(f"rounds: {rounds.mean():.2f} ± {rounds.std(ddof=1) / math.sqrt(len(run)):.2f}")


SHARES: dict[str, Callable[[Line], bool]] = {
    "both games end in one round": lambda line: line["both"],
    "a game tied by the last move": lambda line: line["tied"],
    "the games part in round 1": lambda line: line["parted"] == 1,
    "… in rounds 2 to 5": lambda line: line["parted"] is not None and 2 <= line["parted"] <= 5,
    "… later": lambda line: line["parted"] is not None and line["parted"] > 5,
    "… never": lambda line: line["parted"] is None,
}


def count_text(number: float) -> str:
    """So many matches, in words as short as the figure is sure."""
    if number > 99_999:
        return "more"
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}"


def _pm(figure: Figure, digits: int = 3, sign: str = "") -> str:
    return f"{figure.value:{sign}.{digits}f} ± {figure.error:.{digits}f}"


def _percent(figure: Figure) -> str:
    return f"{100 * figure.value:.1f} % ± {100 * figure.error:.1f}"


def _between_text(between: Between, digits: int | None = None) -> str:
    value, low, high = (count_text(n) if digits is None else f"{n:.{digits}f}" for n in between)
    return f"{value:>8}   ({low} – {high})"

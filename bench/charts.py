"""Draws what `bench.objectivity` measured: docs/objectivity/*.svg, and static/objectivity.json for the site.

    python -m bench.charts FOLDER       with the result files of the runs that docs/OBJECTIVITY.md names

Prints the tables of docs/OBJECTIVITY.md. Every *.jsonl of the folder is a run; of two runs of one pair the longer one
counts, and the one with more judges shows what a judge is worth. Plain SVG that follows the reader's light or dark
scheme.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from bench.figures import CREDITS, SHARES, Between, Figure, Run, against, freed, needed, read, shared

ROOT = Path(__file__).parents[1]
DRAWINGS, SITE = ROOT / "docs" / "objectivity", ROOT / "static" / "objectivity.json"

# The pairs that are shown, the nearest first, the better player first; the key is the site's name for them
PAIRS = {
    ("expert", "club"): ("expert_club", "Expert and club levels"),
    ("club", "club+0.02"): ("rarely", "A strong player and one who errs rarely"),
    ("club+0.08", "club+0.10"): ("often", "Two who err often, one more often"),
    ("beginner", "beginner+0.04"): ("beginner_twin", "Beginner level, and the same erring more"),
    ("club", "club+0.04"): ("at_times", "A strong player and one who errs at times"),
    ("club", "beginner"): ("club_beginner", "Club and beginner levels"),
}
WAYS = {
    "pips": ("pips, without", "pips"),
    "half": ("pips, with credit", "pips, half the lead credited"),
    "checkers": ("checkers, without", "checkers"),
    "checkers_half": ("checkers, with credit", "checkers, half the lead credited"),
    "classic": ("classic, without", "classic 1-2-3"),
    "objective": ("E − L, gnubg", "objective result"),
}
JUDGES = {
    "gnubg": "gnubg's network",
    "network": "bgsage's network, the players' own",
    "small": "gnubg's small network",
    "heuristic": "a glance at the position",
}
SEPARATE = {basis: f"two games, {basis}" for basis in ("pips", "checkers", "classic")}


@dataclass(frozen=True)
class Pair:
    """A run of the pair, and the run of it with most judges."""

    players: tuple[str, str]
    key: str
    title: str
    run: Run
    judged: Run


def pairs(folder: Path) -> list[Pair]:
    """Those of PAIRS that the folder has runs of."""
    runs: dict[tuple[str, str], list[Run]] = {}
    for file in sorted(folder.glob("*.jsonl")):
        settings, lines = read(file)
        players = tuple(_name(settings[seat]) for seat in "ab")
        runs.setdefault(players, []).append(Run([lines[n] for n in sorted(lines)], settings["judges"]))
    return [
        Pair(
            players,
            key,
            title,
            max(runs[players], key=len),
            max(runs[players], key=lambda run: len(run.judges)),
        )
        for players, (key, title) in PAIRS.items()
        if players in runs
    ]


def _name(text: str) -> str:
    """`club+0.1` as it was asked for: `club+0.10`."""
    level, _, noise = text.partition("+")
    return f"{level}+{float(noise):.2f}" if float(noise) else level


# ------------------------------------------------------------------------------------------------------- the site


def plain(found: Sequence[Pair]) -> dict[str, Any]:
    """What the site says of the pairs that can be told apart, rounded as far as it is sure."""
    told = {pair.key: _plain(pair) for pair in found}
    return {
        "pairs": {key: plain for key, plain in told.items() if plain["needed"]["objective"][2] is not None}
    }


def _plain(pair: Pair) -> dict[str, Any]:
    ways, luck = pair.run.ways(), pair.run.luck
    judged, luck_there = pair.judged.ways(), pair.judged.luck
    shares = {"parted_first": "the games part in round 1", "both_end": "both games end in one round"}
    shares["tied"] = "a game tied by the last move"
    return {
        "matches": len(pair.run),
        "losses": [round(pair.run.error_rate("gnubg", seat).value, 4) for seat in "AB"],
        "needed": {key: _round(needed(ways[name], luck)) for key, (name, _) in WAYS.items()},
        "separate": {basis: _round(needed(ways[name], luck)) for basis, name in SEPARATE.items()},
        "shared": {basis: round(shared(pair.run, basis).value, 2) for basis in SEPARATE},
        "by_judge": {
            judge: _round(needed(judged[f"E − L, {judge}"], luck_there)) for judge in pair.judged.judges
        },
        "first_match": {
            "points": round(float((ways["pips, with credit"].values > 0).mean()), 3),
            "objective": round(float((ways["E − L, gnubg"].values > 0).mean()), 3),
        },
        "shares": {key: round(pair.run.share(SHARES[name]).value, 3) for key, name in shares.items()},
    }


def _round(between: Between) -> list[float | None]:
    """Two figures each; null is more than a hundred thousand."""
    return [float(f"{n:.2g}") if n < 100_000 else None for n in between]


# ----------------------------------------------------------------------------------------------- the page's tables


def tables(found: Sequence[Pair]) -> str:
    """The tables of docs/OBJECTIVITY.md."""
    names = {f"two games, {basis}": f"two games with dice of their own, {basis}" for basis in SEPARATE}
    names |= {name: f"the match, {words}" for name, words in WAYS.values()}
    names["E, gnubg"] = "E, the equity of the unfinished game in it"
    names["E − L, gnubg"] = "**objective result**"
    runs = [(pair.run.ways(), pair.run.luck) for pair in found]
    rows = [["matches needed", *(pair.title for pair in found)], ["---"] * (1 + len(found))]
    rows += [
        [words, *(_bounded(needed(ways[name], luck)) for ways, luck in runs)] for name, words in names.items()
    ]
    return "\n\n".join(_table(each) for each in (rows, _facts(found), _by_judge(found)))


def _facts(found: Sequence[Pair]) -> list[list[str]]:
    rows = [["per match", *(pair.title for pair in found)], ["---"] * (1 + len(found))]
    rows.append(["matches", *(str(len(pair.run)) for pair in found)])
    for seat in "AB":
        losses = (pair.run.error_rate("gnubg", seat) for pair in found)
        rows.append(
            [f"loss a decision, {'better' if seat == 'A' else 'other'}", *(_plus_minus(n, 4) for n in losses)]
        )
    for name in ("E", "E − L"):
        ways = [pair.run.ways()[f"{name}, gnubg"] for pair in found]
        rows.append([f"{name}: mean", *(_plus_minus(way.mean, 2) for way in ways)])
        rows.append([f"{name}: spread", *(f"{way.spread:.2f}" for way in ways)])
    for basis in SEPARATE:
        ratios = (shared(pair.run, basis) for pair in found)
        rows.append(
            [f"variance, shared dice against own: {basis}", *(_plus_minus(ratio, 2) for ratio in ratios)]
        )
    for basis in SEPARATE:
        for credit in CREDITS[: 1 if basis == "classic" else 2]:
            cells = []
            for pair in found:
                ways = pair.run.ways()
                gain = against(ways[f"{basis}, {credit}"], ways[f"two games, {basis}"], pair.run.luck)
                known = gain.high < 1000 * gain.low  # else the means are too near zero for a ratio
                cells.append(f"{gain.value:.2f} ({gain.low:.2f} – {gain.high:.2f})" if known else "not known")
            name = basis if basis == "classic" else f"{basis}, {credit}"
            rows.append([f"matches for one pair of separate games: {name}", *cells])
    for name, holds in SHARES.items():
        shares = (pair.run.share(holds) for pair in found)
        rows.append([name, *(f"{100 * share.value:.1f} % ± {100 * share.error:.1f}" for share in shares)])
    rounds = (pair.run.column(lambda line: line["rounds"]) for pair in found)
    rows.append(["rounds", *(f"{column.mean():.1f}" for column in rounds)])
    return rows


def _by_judge(found: Sequence[Pair]) -> list[list[str]]:
    shown = [pair for pair in found if len(pair.judged.judges) > 1]
    rows = [["the objective result by"], ["---"]]
    for pair in shown:
        rows[0] += [f"{pair.title}: spread", "matches needed", "loss a decision"]
        rows[1] += ["---"] * 3
    for judge in dict.fromkeys(judge for pair in shown for judge in pair.judged.judges):
        row = [JUDGES[judge]]
        for pair in shown:
            way = pair.judged.ways()[f"E − L, {judge}"]
            losses = (f"{pair.judged.error_rate(judge, seat).value:.3f}" for seat in "AB")
            row += [f"{way.spread:.2f}", _bounded(needed(way, pair.judged.luck)), " and ".join(losses)]
        rows.append(row)
    return rows


def _table(rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _bounded(between: Between) -> str:
    return "{} ({} – {})".format(*map(_count, between))


def _plus_minus(figure: Figure, digits: int) -> str:
    return f"{figure.value:.{digits}f} ± {figure.error:.{digits}f}"


# ------------------------------------------------------------------------------------------------------- drawing

STYLE = """
text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; fill: #1c2024; }
.head { font-weight: 650; } .small { font-size: 12px; fill: #575e66; }
.end { text-anchor: end; } .mid { text-anchor: middle; }
.page { fill: #fff; } .rule { stroke: #dcdad4; } .axis { stroke: #81868c; }
line, polyline { stroke-width: 1; fill: none; }
.points { fill: #81868c; stroke: #81868c; } .result { fill: #0e6373; stroke: #0e6373; }
.wide { stroke-width: 2; } line.points, polyline.points { stroke: #81868c; } .faint { opacity: .55; }
text.points, text.result { stroke: none; } text.points { fill: #575e66; }
text.result { fill: #0e6373; font-weight: 650; }
.dash { stroke-dasharray: 5 4; }
polyline.points, polyline.result { fill: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e9e7e2; } .small, text.points { fill: #a6adb4; } .page { fill: #14171a; } .rule { stroke: #343a41; }
  .axis { stroke: #7d868f; } .points { fill: #7d868f; } line.points, polyline.points { stroke: #7d868f; }
  .result { fill: #66b9c7; stroke: #66b9c7; } text.result { fill: #66b9c7; }
  polyline.points, polyline.result { fill: none; }
}
"""


class Drawing:
    """An SVG that grows."""

    def __init__(self, width: int, title: str, words: str) -> None:
        self._width, self._title, self._words = width, title, words
        self._parts: list[str] = []

    def text(self, x: float, y: float, text: str, kind: str = "") -> None:
        self._parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(text)}</text>')

    def line(self, x: float, y: float, to_x: float, to_y: float, kind: str) -> None:
        self._parts.append(
            f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" class="{kind}"/>'
        )

    def dot(self, x: float, y: float, kind: str) -> None:
        self._parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" class="{kind}"/>')

    def bar(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" class="{kind}"/>'
        )

    def curve(self, points: Iterable[tuple[float, float]], kind: str) -> None:
        self._parts.append(
            f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" class="{kind}"/>'
        )

    def svg(self, height: float) -> str:
        """The whole, so many units high."""
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self._width} {height:.0f}" role="img"'
                ' aria-labelledby="t d">',
                f'<title id="t">{escape(self._title)}</title><desc id="d">{escape(self._words)}</desc>',
                f"<style>{STYLE}</style>",
                f'<rect class="page" width="{self._width}" height="{height:.0f}"/>',
                *self._parts,
                "</svg>\n",
            ]
        )


def _log(number: float, low: float, high: float, left: float, right: float) -> float:
    """A place between left and right on a logarithmic scale; what is beyond its ends stands at them."""
    number = min(max(number, low), high)
    return left + (right - left) * math.log(number / low) / math.log(high / low)


def _count(number: float) -> str:
    if number > 99_999:
        return "more"
    return f"{number:,.0f}".replace(",", "\u202f") if number >= 10 else f"{number:.1f}"


def needed_drawing(found: Sequence[Pair]) -> str:
    """For each pair and way of scoring: after how many matches the better player is ahead with 95 %."""
    left, right, low, high = 250, 690, 1, 10_000
    drawing = Drawing(
        760,
        "Matches until the better player is ahead with 95 %",
        "; ".join(
            f"{pair.title}: "
            + ", ".join(
                f"{words} {_count(needed(pair.run.ways()[name], pair.run.luck).value)}"
                for name, words in WAYS.values()
            )
            for pair in found
        ),
    )
    drawing.text(20, 28, "Matches until the better player is ahead with 95 %", "head")
    y = 56
    for pair in found:
        top = y
        drawing.text(20, y + 4, pair.title, "head")
        loss = " and ".join(f"{1000 * pair.run.error_rate('gnubg', seat).value:.0f}" for seat in "AB")
        drawing.text(740, y + 4, f"{loss} thousandths lost a decision, {len(pair.run)} matches", "small end")
        for tick in (1, 10, 100, 1000, 10_000):
            x = _log(tick, low, high, left, right)
            drawing.line(x, top + 14, x, top + 20 + 22 * len(WAYS), "rule")
        for key, (name, words) in WAYS.items():
            y += 22
            figure, kind = (
                needed(pair.run.ways()[name], pair.run.luck),
                "result" if key == "objective" else "points",
            )
            drawing.text(240, y + 9, words, "result end" if key == "objective" else "end")
            at, start, end = (_log(n, low, high, left, right) for n in figure)
            drawing.line(start, y + 5, end, y + 5, f"{kind} wide")
            drawing.dot(at, y + 5, kind)
            drawing.text(740, y + 9, _count(figure.value), "result end" if key == "objective" else "end")
        y += 44
    for tick in (1, 10, 100, 1000, 10_000):
        drawing.text(
            _log(tick, low, high, left, right), y - 8, _count(tick) if tick > 1 else "1", "small mid"
        )
    drawing.text(
        20,
        y + 14,
        "Dots: the figure, on a scale where each step is ten times as many. Lines: where it lies with 95 %.",
        "small",
    )
    return drawing.svg(y + 30)


def ahead_drawing(pair: Pair) -> str:
    """The chance that the better player is ahead after so many matches."""
    left, right, top, bottom, most = 60, 610, 70, 330, 100
    shown = {"objective": "result wide", "classic": "points wide", "half": "points wide dash"}
    chances = {}
    for key in shown:
        name = WAYS[key][0]
        way = pair.run.ways()[name]
        step = freed(way.same_mean, pair.run.luck).value / way.spread
        chances[key] = [0.5 * math.erfc(-step * math.sqrt(n / 2)) for n in range(1, most + 1)]
    drawing = Drawing(
        760,
        "The chance that the better player is ahead after so many matches",
        f"{pair.title}. After ten matches: "
        + ", ".join(f"{WAYS[key][1]} {100 * values[9]:.0f} %" for key, values in chances.items()),
    )
    drawing.text(20, 28, "The chance that the better player is ahead after so many matches", "head")
    drawing.text(20, 48, f"{pair.title}. {len(pair.run)} matches.", "small")
    for percent in (50, 60, 70, 80, 90, 100):
        y = bottom - (bottom - top) * (percent - 50) / 50
        drawing.line(left, y, right, y, "rule" if percent > 50 else "axis")
        drawing.text(left - 8, y + 4, f"{percent} %", "small end")
    for n in (1, 20, 40, 60, 80, 100):
        drawing.text(left + (right - left) * n / most, bottom + 20, str(n), "small mid")
    drawing.text(right, bottom + 38, "matches", "small end")
    for key, kind in shown.items():
        values = chances[key]
        drawing.curve(
            (
                (left + (right - left) * n / most, bottom - (bottom - top) * (2 * chance - 1))
                for n, chance in enumerate(values, 1)
            ),
            kind,
        )
    upper, lower = sorted(("classic", "half"), key=lambda key: -chances[key][-1])
    labels = {"objective": "objective result", "classic": "classic 1-2-3", "half": "pips, half lead"}
    for key, lift in (("objective", 4), (upper, -2), (lower, 14)):
        y = bottom - (bottom - top) * (2 * chances[key][-1] - 1)
        drawing.text(right + 8, y + lift, labels[key], "result" if key == "objective" else "points")
    return drawing.svg(bottom + 50)


def spread_drawing(pair: Pair) -> str:
    """How the results of single matches lie, with luck and without it."""
    left, right, top, bottom, width = 40, 720, 76, 300, 0.25
    ways = pair.run.ways()
    edges = np.arange(-6 - width / 2, 6 + width, width)
    shares = {
        name: np.histogram(ways[f"{name}, gnubg"].values, edges)[0] / len(pair.run) for name in ("E", "E − L")
    }
    highest = max(float(values.max()) for values in shares.values())
    spreads = [ways[f"{name}, gnubg"].spread for name in ("E", "E − L")]
    mean = freed(ways["E − L, gnubg"].values, pair.run.luck).value
    drawing = Drawing(
        760,
        "Results of single matches for the better player, with luck and without it",
        f"{pair.title}. With luck the spread is {spreads[0]:.2f} points, without it {spreads[1]:.2f}; "
        f"the mean, {mean:.2f}, is the same.",
    )

    def x_of(points: float) -> float:
        return left + (right - left) * (points + 6) / 12

    drawing.text(20, 28, "Results of single matches for the better player, with luck and without it", "head")
    drawing.text(20, 48, f"{pair.title}. {len(pair.run)} matches; points, 1, 2 or 3 a game.", "small")
    for name, kind in (("E", "points faint"), ("E − L", "result faint")):
        for edge, share in zip(edges, shares[name], strict=False):
            height = (bottom - top) * share / highest
            drawing.bar(x_of(edge) + 0.5, bottom - height, (right - left) * width / 12 - 1, height, kind)
    drawing.line(left, bottom, right, bottom, "axis")
    for points in range(-6, 7, 2):
        drawing.text(
            x_of(points), bottom + 20, f"{points:+d}".replace("-", "−") if points else "0", "small mid"
        )
    drawing.line(x_of(mean), top - 8, x_of(mean), bottom, "axis dash")
    drawing.text(x_of(mean) + 6, top, f"mean of both: {mean:+.2f}", "small")
    drawing.text(right, top + 40, f"with luck: spread {spreads[0]:.2f}", "points end")
    drawing.text(right, top + 60, f"objective result: spread {spreads[1]:.2f}", "result end")
    return drawing.svg(bottom + 34)


def judges_drawing(found: Sequence[Pair]) -> str:
    """What is left of the spread by judges of different strength, and what that makes of the matches needed."""
    left, right = 270, 560
    shown = [pair for pair in found if len(pair.judged.judges) > 1]
    drawing = Drawing(
        760,
        "What a weaker judge costs",
        "; ".join(
            f"{pair.title}: "
            + ", ".join(
                f"{JUDGES[judge]} spread {pair.judged.ways()[f'E − L, {judge}'].spread:.2f}"
                for judge in pair.judged.judges
            )
            for pair in shown
        ),
    )
    drawing.text(20, 28, "What a weaker judge costs", "head")
    drawing.text(left, 28, "spread of a match, points", "small")
    drawing.text(740, 28, "matches needed", "small end")
    y, unit = 56, (right - left) / 2
    for pair in shown:
        ways, luck = pair.judged.ways(), pair.judged.luck
        drawing.text(20, y + 4, pair.title, "head")
        drawing.text(740, y + 4, f"{len(pair.judged)} matches", "small end")
        rows = [("with all its luck", "E, gnubg", "points")]
        rows += [(JUDGES[judge], f"E − L, {judge}", "result") for judge in pair.judged.judges]
        for words, name, kind in rows:
            y += 24
            drawing.text(left - 10, y + 9, words, "end")
            drawing.bar(left, y - 2, unit * ways[name].spread, 14, kind)
            drawing.text(left + unit * ways[name].spread + 8, y + 9, f"{ways[name].spread:.2f}", "small")
            figure = needed(ways[name], luck)
            drawing.text(
                740, y + 9, f"{_count(figure.value)}  ({_count(figure.low)} – {_count(figure.high)})", "end"
            )
        y += 44
    return drawing.svg(y)


def main() -> int:
    """Draws all, and prints the tables."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = pairs(Path(sys.argv[1]))
    by_players = {pair.players: pair for pair in found}
    close = by_players["club+0.08", "club+0.10"]
    DRAWINGS.mkdir(exist_ok=True)
    drawings = {
        "needed": needed_drawing(found),
        "ahead": ahead_drawing(close),
        "spread": spread_drawing(close),
        "judges": judges_drawing(found),
    }
    for name, svg in drawings.items():
        (DRAWINGS / f"{name}.svg").write_text(svg, encoding="utf-8")
    SITE.write_text(json.dumps(plain(found), indent=1) + "\n", encoding="utf-8")
    print(tables(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Checks the contrast of static/css/tokens.css (WCAG 2.2): text 4.5, marks and borders 3. Exit 1 if any fails."""

import re
import sys
from pathlib import Path

TOKENS = Path(__file__).parents[1] / "static" / "css" / "tokens.css"
TEXT = """
    text/bg text/surface text/sunken muted/bg muted/surface muted/sunken accent/bg accent/surface on-accent/accent
    accent-ink/accent-soft win/surface win/bg loss/surface loss/bg warn/surface warn/warn-soft white-ink/white-bg
    black-ink/black-bg on-run-white/run-white on-run-black/run-black
""".split()
SHAPE = """
    line-strong/surface line-strong/bg accent/sunken seat-edge/bg seat-edge/surface run-white/white-bg
    run-black/black-bg low/white-bg
""".split()
BOARD_TEXT = ["b-text/b-surface", "c-white-ink/c-white", "c-black-ink/c-black", "d-ink/d-body"]
BOARD_SHAPE = """
    c-white-rim/b-surface c-white-rim/b-point-1 c-white-rim/b-point-2 c-white-rim/b-bar c-white/c-black
    d-body/b-surface d-used/b-surface b-mark/b-surface b-last/b-surface
""".split()
BOARD_EITHER = [
    ("c-black", "c-black-rim"),
    ("c-white", "c-white-rim"),
    ("b-mark", "b-halo"),
    ("b-last", "b-halo"),
]
GROUNDS = ["b-surface", "b-bar", "b-point-1", "b-point-2"]


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def ratio(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def main() -> int:
    if not TOKENS.exists():
        print(f"{TOKENS} is missing: the colours of the pages are read from there")
        return 1
    css = TOKENS.read_text(encoding="utf-8")
    blocks = dict(re.findall(r'\[data-board="(\w+)"\] \{(.*?)\n\}', css, re.S))
    pair = r"--([\w-]+):\s*light-dark\((#\w{6}), (#\w{6})\)"
    plain = dict(re.findall(r"--([\w-]+):\s*(#\w{6});", css.split("/* boards")[0]))
    schemes = {
        "light": plain | {n: a for n, a, _ in re.findall(pair, css)},
        "dark": plain | {n: b for n, _, b in re.findall(pair, css)},
    }
    checked = bad = 0

    def check(where: str, what: str, got: float, need: float) -> None:
        nonlocal checked, bad
        checked += 1
        if got < need:
            bad += 1
            print(f"{got:5.2f} < {need}  {where:9} {what}")

    for where, colours in schemes.items():
        for need, names in ((4.5, TEXT), (3, SHAPE)):
            for name in names:
                a, b = name.split("/")
                check(where, name, ratio(colours[a], colours[b]), need)
    for where, body in blocks.items():
        colours = dict(re.findall(r"--([\w-]+):\s*(#\w{6});", body))
        for need, names in ((4.5, BOARD_TEXT), (3, BOARD_SHAPE)):
            for name in names:
                a, b = name.split("/")
                check(where, name, ratio(colours[a], colours[b]), need)
        for core, rim in BOARD_EITHER:  # a shape with an outline is seen if either of the two stands out
            for ground in GROUNDS + (["c-white", "c-black"] if core.startswith("b-") else []):
                best = max(ratio(colours[core], colours[ground]), ratio(colours[rim], colours[ground]))
                check(where, f"{core} or {rim} / {ground}", best, 3)
    print(f"{checked} pairs of colours, {bad} too close")
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())

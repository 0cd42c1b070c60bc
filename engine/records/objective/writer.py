"""Writes an objective record: three forms, two languages, one spelling of each.

Short: plays. Full: colour, dice, plays, seconds. Fixed: four characters a die, in fixed columns.
"""

from __future__ import annotations

import re

from engine.position import OFF
from engine.records.half import Half
from engine.records.objective.record import Line, Record
from engine.records.objective.words import INTERNATIONAL, Language
from engine.records.text import NotInForm

FORMS = ("short", "full", "fixed")
_WIDTH = 33  # of a cell in the full form: the play on the left, the seconds on the right
_UNWRITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff]")


def write(record: Record, form: str, language: Language = INTERNATIONAL) -> str:
    """The record in this form and language, each line ended by \\n.

    Raises NotInForm where the form needs dice or seconds that the record does not know.
    """
    line = {"short": _short, "full": _full, "fixed": _fixed}[form]
    texts = [
        tag_line(language.tags[name], tag_text(name, text, language)) for name, text in tags(record, form)
    ]
    if texts:
        texts.append("")
    texts += [line(number, one, language) for number, one in enumerate(record.lines, 1)]
    if record.result is not None:
        points, total = record.result.points, record.result.total
        text = f"{_number(len(record.lines) + 1, form)} {points.A}:{points.B}"
        texts.append(text if total is None else f"{text} ({total.A}:{total.B})")
    return "".join(f"{text}\n" for text in texts)


def tags(record: Record, form: str) -> list[tuple[str, str]]:
    """The tags as they are written in this form: `Record` names it, after the event and before the rules."""
    if not record.tags:
        return []
    before = {"Game", "Player1", "Player2", "Date", "Event", "Round"}
    head = [tag for tag in record.tags if tag[0] in before]
    return [*head, ("Record", form), *(tag for tag in record.tags if tag[0] not in before)]


def tag_line(name: str, text: str) -> str:
    """`[Name "text"]`, quotes and backslashes in the text escaped, and what no line can hold as \\uXXXX."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    escaped = _UNWRITABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", escaped)
    return f'[{name} "{escaped}"]'


def tag_text(name: str, text: str, language: Language) -> str:
    """The text of a tag in this language: only the class of a lost game has a word in it."""
    if name not in ("GameX", "GameY"):
        return text
    outcome, space, loss_class = text.partition(" ")
    return outcome + space + language.classes.get(loss_class, loss_class)


def play_text(half: Half, language: Language = INTERNATIONAL) -> str:
    """A play as the short and full forms have it: `bar/21 6/5*`, `--`, `==`."""
    return half.play if half.kind != "play" else " ".join(half.items(language.bar, language.off))


def _number(number: int, form: str) -> str:
    return f"{number:02}" if form == "fixed" else f"{number:02})"


def _color(number: int, language: Language) -> str:
    return language.colors[(number - 1) % 2]


def _short(number: int, line: Line, language: Language) -> str:
    a, b = (play_text(half, language) for half in (line.halves.A, line.halves.B))
    return f"{_number(number, 'short')} {a:<27} | {b}"


def _full(number: int, line: Line, language: Language) -> str:
    cells = []
    for half in (line.halves.A, line.halves.B):
        if half.tenths is None:
            raise NotInForm(
                "full", "seconds", f"The full form has seconds, and line {number} does not say them."
            )
        play, seconds = play_text(half, language), f"{half.tenths // 10}.{half.tenths % 10}"
        cells.append(play + " " * max(1, _WIDTH - len(play) - len(seconds)) + seconds)
    return f"{_number(number, 'full')} {_color(number, language)} {_dice(number, line)} | {cells[0]} | {cells[1]}"


def _fixed(number: int, line: Line, language: Language) -> str:
    dice = _dice(number, line)
    count = 4 if dice[0] == dice[1] else 2
    a, b = (" ".join(_groups(half, count)) for half in (line.halves.A, line.halves.B))
    return f"{fixed_head(number, _color(number, language), dice)}{a:<19} {b}"


def fixed_head(number: int, color: str, dice: str) -> str:
    """What stands before player 1's column 9; from line 100 on without the space after the number."""
    return f"{number:02}{'' if number > 99 else ' '}{color} {dice} "


def _dice(number: int, line: Line) -> str:
    if line.roll is None:
        raise NotInForm("full", "dice", f"This form has dice, and line {number} does not say them.")
    return f"{line.roll.first}{line.roll.second}"


def _groups(half: Half, count: int) -> list[str]:
    """Point, sign, die of each die: `13-3`, `13*6` hit, `25-3` from the bar, `04=6` off, `----` not played."""
    unplayed = "====" if half.kind == "missed" else "----"
    hits = set(half.hits)
    groups = []
    for hop, die in zip(half.hops, half.dice, strict=True):
        sign = "=" if hop.end == OFF else "*" if hop.end in hits else "-"
        hits.discard(hop.end)
        groups.append(f"{hop.start:02}{sign}{die}")
    return groups + [unplayed] * (count - len(groups))

"""Which letters a PNG can show: those of the fonts that come along."""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_FONTS = Path(__file__).with_name("fonts")
LEFT_OUT = "…"


def drawable(text: str) -> str:
    """The text with LEFT_OUT for each stretch that no font has; empty, if there would be nothing to read in it."""
    shown, reads, is_whole = "", False, True
    for char in unicodedata.normalize("NFC", text):
        if ord(char) in _known():
            shown += char
            reads |= unicodedata.category(char)[0] in "LNS"
        elif unicodedata.category(char)[0] != "M":  # a mark is part of a letter
            is_whole = False
            shown += "" if shown.endswith(LEFT_OUT) else LEFT_OUT
    return shown if reads or is_whole else ""


@cache
def _known() -> frozenset[int]:
    """The code points that any of the fonts has."""
    return frozenset(code for file in _FONTS.glob("*.[ot]tf") for code in code_points(file.read_bytes()))


def code_points(font: bytes) -> Iterator[int]:
    """What an OpenType font maps to glyphs: subtables of formats 4 and 12 of its `cmap`."""
    (tables,) = struct.unpack_from(">H", font, 4)
    places = {font[at : at + 4]: at for at in range(12, 12 + 16 * tables, 16)}
    (cmap,) = struct.unpack_from(">I", font, places[b"cmap"] + 8)
    (count,) = struct.unpack_from(">H", font, cmap + 2)
    for number in range(count):
        (offset,) = struct.unpack_from(">I", font, cmap + 4 + 8 * number + 4)
        table = cmap + offset
        (form,) = struct.unpack_from(">H", font, table)
        if form == 4:
            yield from _in_segments(font, table)
        elif form == 12:
            (groups,) = struct.unpack_from(">I", font, table + 12)
            for first, last, glyph in struct.iter_unpack(">III", font[table + 16 : table + 16 + 12 * groups]):
                yield from range(first + (glyph == 0), last + 1)


def _in_segments(font: bytes, table: int) -> Iterator[int]:
    (doubled,) = struct.unpack_from(">H", font, table + 6)
    count = doubled // 2
    ends, starts, deltas, offsets = (
        struct.unpack_from(f">{count}H", font, table + 14 + shift + bool(shift) * 2)
        for shift in (0, doubled, 2 * doubled, 3 * doubled)
    )
    for place, (end, start, delta, offset) in enumerate(zip(ends, starts, deltas, offsets, strict=True)):
        for code in range(start, min(end, 0xFFFE) + 1):
            glyph = code
            if offset:
                at = table + 16 + 3 * doubled + 2 * place + offset + 2 * (code - start)
                (glyph,) = struct.unpack_from(">H", font, at)
                if not glyph:
                    continue
            if (glyph + delta) % 0x10000:
                yield code

"""Lists of entrants as organisers have them: CSV from a spreadsheet, in any of the usual encodings and separators.

What is read is answered line by line: a right line enters, a wrong one is named with its line, column and reason.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass

from app.service.errors import BadList

MOST_LINES = 2_000
_SEPARATORS = ",;\t"
# What columns are called; the first name is the one that reports use.
_COLUMNS = {
    "name": ("name", "player", "имя", "игрок", "участник"),
    "tag": ("tag", "метка"),
    "seed": ("seed", "посев", "номер посева"),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a line: its column (from 1), what the column is called, a stable code, words."""

    column: int
    field: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class ListLine:
    """One line of a list, by its number in the file (from 1): a player's name, tag and seed, or what is wrong."""

    line: int
    name: str
    tag: str | None
    seed: int | None
    columns: dict[str, int]
    fault: Fault | None = None


def read_list(data: bytes) -> tuple[ListLine, ...]:
    """The lines of a list, empty ones left out. Raises BadList if it cannot be read at all."""
    text = _decoded(data)
    if "\x00" in text:
        raise BadList("encoding", "This is no text.")
    separator = _separator(text)
    lines = list(_read(text, separator))
    if not lines:
        raise BadList("nobody", "There is nobody in the list.")
    if len(lines) > MOST_LINES:
        raise BadList("too-long", f"A list has at most {MOST_LINES} lines.", limit=MOST_LINES)
    return tuple(lines)


def _decoded(data: bytes) -> str:
    """UTF-8 with or without a mark, UTF-16 with one, else Windows-1251, which Russian spreadsheets write."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError:
            raise BadList("encoding", "It begins as UTF-16 and is not.") from None
    for encoding in ("utf-8-sig", "cp1251"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise BadList("encoding", "It is neither UTF-8 nor Windows-1251.")


def _separator(text: str) -> str:
    """The one that the first line has most of, outside quotation marks."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    bare = "".join(first.split('"')[::2])
    return max(_SEPARATORS, key=bare.count)


def _read(text: str, separator: str) -> Iterator[ListLine]:
    """Line by line, so that a quotation mark that is never closed spoils one line and not the rest of the list."""
    columns: dict[str, int] | None = None
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        if not line.strip(" \t,;"):
            continue
        try:
            cells = next(csv.reader([line], delimiter=separator, strict=True))
        except csv.Error as error:
            yield ListLine(
                number, "", None, None, {}, Fault(1, "name", "bad-csv", f"Not to be read: {error}.")
            )
            continue
        cells = [" ".join(cell.split()) for cell in cells]
        if columns is None:
            columns = _header(cells)
            if columns is not None:
                continue
            columns = {"name": 1}
        yield _line(number, cells, columns)


def _header(cells: list[str]) -> dict[str, int] | None:
    """Where the columns are, if the first line names them; a list without such a line has names alone."""
    found: dict[str, int] = {}
    for number, cell in enumerate(cells, 1):
        for field, names in _COLUMNS.items():
            if cell.casefold() in names:
                found.setdefault(field, number)
    if not found:
        return None
    if "name" not in found:
        raise BadList("no-name-column", "No column is called `name`.")
    return found


def _line(line: int, cells: list[str], columns: dict[str, int]) -> ListLine:
    def cell(field: str) -> str:
        number = columns.get(field)
        return cells[number - 1] if number is not None and number <= len(cells) else ""

    name, tag, seed = cell("name"), cell("tag"), cell("seed")
    if not tag and "#" in name:
        name, _, tag = (part.strip() for part in name.partition("#"))
    tag = tag.removeprefix("#").strip()
    fault = None
    if not name:
        fault = Fault(columns["name"], "name", "empty", "There is no name.")
    elif seed and not (seed.isdecimal() and 1 <= int(seed[:7]) <= 10_000):
        fault = Fault(
            columns["seed"], "seed", "bad-seed-number", f"'{seed[:20]}' is not a seed from 1 to 10000."
        )
    number = int(seed) if seed and fault is None else None
    return ListLine(line, name, tag or None, number, columns, fault)

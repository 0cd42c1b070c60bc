"""The text of a record from what a match is downloaded as: a zip of one file per game, or the match as JSON.

Bytes that are neither are read as the text that they are.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from engine.errors import RuleError
from engine.records import mat, objective
from engine.records.objective.record import GAME, ruleset_tags, to_tenths
from engine.records.objective.writer import tag_line
from engine.records.text import Fault, Note, RecordError, Text, normalised, read_bytes
from engine.records.wanted import phrase
from engine.ruleset import DEFAULT

FORMAT = "nardy-match/1"
MOST_FILES, MOST_BYTES = 20, 1_000_000  # of a zip, unpacked
_ZIP = b"PK\x03\x04"
_LONGEST_NAME = 80  # of a file in a zip, as it is shown


def text_of(data: bytes) -> Text:
    """What these bytes say. Raises RecordError (`unreadable-bytes`, `bad-zip`)."""
    if data.startswith(_ZIP):
        return _zipped(data)
    return _unzipped(data)


def text_of_pasted(text: str) -> Text:
    """What a text says that comes as text."""
    return _of_match(text) or normalised(text)


def _unzipped(data: bytes) -> Text:
    return _of_match(data.decode("utf-8-sig", "replace")) or read_bytes(data)


# --------------------------------------------------------------------------------------------------------------- a zip


def _zipped(data: bytes) -> Text:
    """The only file of a zip, or the games of its .mat files in one; of those that are wrong the first."""
    try:
        files = list(_files(data))
    except RecordError:
        raise
    except Exception as wrong:  # of bytes that are no right zip the library raises anything at all
        raise _bad_zip(f"This zip cannot be opened: {_on_a_line(str(wrong))}.") from None
    if not files:
        raise _bad_zip("There is no file in this zip.")
    name, text = files[0]
    if len(files) > 1:
        name, text = ", ".join(name for name, _ in files), _games(files)
    note = Note(1, 1, "zip", name, f"Read from a zip: {name}.")
    return replace(text, notes=(note, *text.notes))


def _files(data: bytes) -> Iterator[tuple[str, Text]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        if len(entries) > MOST_FILES:
            raise _bad_zip(f"A zip has at most {MOST_FILES} files.")
        left = MOST_BYTES
        for entry in entries:
            with archive.open(entry) as file:
                content = file.read(left + 1)  # what the zip says of its length may be a lie
            left -= len(content)
            if left < 0:
                raise _bad_zip(f"A zip unpacks to at most {MOST_BYTES} bytes.")
            yield _on_a_line(entry.filename), _unzipped(content)


def _on_a_line(words: str) -> str:
    """As it may be shown anywhere: short, and nothing in it that moves a cursor or turns the line round."""
    visible = "".join(char if char.isprintable() else "\ufffd" for char in words)
    return visible if len(visible) <= _LONGEST_NAME else f"{visible[: _LONGEST_NAME - 1]}…"


def _games(files: list[tuple[str, Text]]) -> Text:
    parts = []
    for name, text in files:
        if mat.recognise(text) < mat.recognise(files[0][1]) / 2:
            raise _bad_zip(f"{name} is no .mat file.")
        try:
            parts.append(mat.read(text).record)
        except RecordError:
            return text
    try:
        return Text(mat.write(mat.joined(parts)))
    except ValueError as different:
        raise _bad_zip(str(different)) from None


def _bad_zip(words: str) -> RecordError:
    return RecordError([Fault(1, 1, "bad-zip", "", phrase("zip"), words)])


# -------------------------------------------------------------------------------------------------------- match as JSON


def _of_match(text: str) -> Text | None:
    """The full record of a match that a text has as JSON; None for any other text."""
    if not text.lstrip().startswith("{") or FORMAT not in text[:2_000]:
        return None
    try:
        record = "".join(f"{line}\n" for line in _record(json.loads(text)))
        record.encode()  # JSON may spell what is no text
    except (
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ArithmeticError,
        OSError,
        RecursionError,
        RuleError,
    ):
        return None
    with suppress(RecordError):  # else its faults are shown in it as it stands
        record = objective.write(objective.read(Text(record)).record)
    return Text(record, (Note(1, 1, "json", FORMAT, "Read as the record of the match in this JSON."),))


def _record(match: dict[str, Any]) -> Iterator[str]:
    """Its lines, in the full international form. What stands in them is checked by whoever reads them."""
    result, games, dice, times = (
        match["result"],
        match["result"]["games"],
        match["dice"],
        match["result"]["time_ms"],
    )
    players, seeds = match["players"], dice["seeds"]
    credit = result["credit_for_A"]
    is_timed = result["outcome"] == "finished" and all(
        player["kind"] != "computer" for player in players.values() if player
    )
    tags = {
        "Game": GAME,
        "Player1": (players["A"] or {"name": ""})["name"],
        "Player2": (players["B"] or {"name": ""})["name"],
        "Date": datetime.fromtimestamp(match["started_at"] / 1000, UTC).isoformat(timespec="seconds"),
        "Record": "full",
        **ruleset_tags(DEFAULT.changed(match["ruleset"])),
        "DiceId": match["dice_id"],
        "Commitment": dice["commitment"],
        "Seed": dice["seed"],
        "ClientSeed1": seeds["A"],
        "ClientSeed2": seeds["B"],
        "Outcome": result["outcome"],
        "GameX": " ".join(filter(None, (games["X"]["outcome"], games["X"]["class"]))),
        "GameY": " ".join(filter(None, (games["Y"]["outcome"], games["Y"]["class"]))),
        "Credit": f"{credit}:{-credit}",
        "Time1": times["A"],
        "Time2": times["B"],
        "TimeAdjustment": result["time_adjustment"] if is_timed else None,
        "Parted": match["parted"],
    }
    for name, value in tags.items():
        if value is not None:
            yield tag_line(name, str(value))
    yield ""
    left = dict(times)
    number = 0
    for number, phase in enumerate(match["phases"], 1):
        cells = []
        for seat in "AB":
            left[seat] -= phase["ms"][seat]
            cells.append(_cell(phase["plays"][seat], phase["ms"][seat]))
        yield f"{_head(number, phase)} | {' | '.join(cells)}"
    if (phase := match["open"]) is not None:  # who played in it is not told; his time is
        number += 1
        yield f"{_head(number, phase)} | {' | '.join(_cell('==', max(0, left[seat])) for seat in 'AB')}"
    points = f"{result['points']['A']}:{result['points']['B']}"
    yield f"{number + 1:02}) {points} ({points})"


def _head(number: int, phase: dict[str, Any]) -> str:
    color = "w" if phase["turn"].endswith("W") else "b"
    high, low = sorted(phase["roll"], reverse=True)
    return f"{number:02}) {color} {high}{low}"


def _cell(play: str, ms: int) -> str:
    tenths = to_tenths(ms)
    return f"{play or '--'} {tenths // 10}.{tenths % 10}"

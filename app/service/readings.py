"""Records that people send to be checked and converted. Nothing of them is kept."""

from __future__ import annotations

import asyncio
from typing import Literal

import msgspec

from app.engines import processes
from app.recordreader import ANSWERED, REFUSED, Question, Refusal
from app.service.errors import AppError, NoSuchForm, NotARecord, NotHeld, ReadersBusy, TextTooHard

MOST_BYTES = 1_000_000  # of a request
SECONDS = 10.0  # most that a text may take; on a busy machine its reader takes its turn
AT_ONCE, MOST_WAITING = 2, 8

_PROGRAM = "app.recordreader"
_REFUSALS: dict[str, type[AppError]] = {kind.code: kind for kind in (NotARecord, NoSuchForm, NotHeld)}


class Readings:
    """A process reads each text; a few at once, a few more wait."""

    def __init__(self) -> None:
        self._reading = asyncio.Semaphore(AT_ONCE)
        self._here = 0

    async def answer(self, what: Literal["check", "convert"], question: Question, data: bytes = b"") -> bytes:
        """RecordCheck or RecordConversion as JSON; the record is `data`, unless the question has its text.

        Raises NotARecord, NoSuchForm, NotHeld, ReadersBusy, TextTooHard.
        """
        if self._here >= AT_ONCE + MOST_WAITING:
            raise ReadersBusy
        self._here += 1
        try:
            async with self._reading:
                said = await _read(b"\n".join((what.encode(), msgspec.json.encode(question), data)))
        finally:
            self._here -= 1
        if said.startswith(ANSWERED):
            return said.removeprefix(ANSWERED)
        refusal = msgspec.json.decode(said.removeprefix(REFUSED), type=Refusal)
        raise _REFUSALS[refusal.code](refusal.detail, **refusal.params)


async def _read(asked: bytes) -> bytes:
    process = await processes.start(_PROGRAM)
    try:
        async with asyncio.timeout(SECONDS):
            said, _ = await process.communicate(asked)
    except TimeoutError:
        raise TextTooHard(SECONDS) from None
    finally:
        if process.returncode is None:
            await processes.end(process)
    if not said.startswith((ANSWERED, REFUSED)):  # it ended: too much memory, most likely
        raise TextTooHard(SECONDS)
    return said

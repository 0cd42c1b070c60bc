"""Records that people send to be checked and converted. Nothing of them is kept."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Literal
from weakref import WeakValueDictionary

import msgspec

from app.engines import processes
from app.recordreader import ANSWERED, REFUSED, Question, Refusal
from app.service.errors import AppError, NoSuchForm, NotARecord, NotHeld, ReadersBusy, TextTooHard

MOST_BYTES = 1_000_000  # of a request
SECONDS = 10.0  # most that a text may take; on a busy machine its reader takes its turn
AT_ONCE, MOST_WAITING, MOST_OF_ONE = 2, 8, 4

_PROGRAM = "app.recordreader"
_REFUSALS: dict[str, type[AppError]] = {kind.code: kind for kind in (NotARecord, NoSuchForm, NotHeld)}


class Readings:
    """A process reads each text; a few at once, a few more wait. Of one caller's texts one is read at a time, so that
    nobody has all readers for himself.
    """

    def __init__(self) -> None:
        self._reading = asyncio.Semaphore(AT_ONCE)
        self._here: Counter[str] = Counter()  # by caller
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def answer(
        self, what: Literal["check", "convert"], question: Question, data: bytes = b"", *, caller: str = ""
    ) -> bytes:
        """RecordCheck or RecordConversion as JSON; the record is `data`, unless the question has its text.

        Raises NotARecord, NoSuchForm, NotHeld, ReadersBusy, TextTooHard.
        """
        if self._here.total() >= AT_ONCE + MOST_WAITING or self._here[caller] >= MOST_OF_ONE:
            raise ReadersBusy
        turn = self._turns.setdefault(caller, asyncio.Lock())
        self._here[caller] += 1
        try:
            async with turn, self._reading:
                said = await _read(b"\n".join((what.encode(), msgspec.json.encode(question), data)))
        finally:
            self._here[caller] -= 1
            self._here += Counter()  # forgets who has nothing here
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

"""Where computers think: few processes of their own, which every match gets in its turn.

A process is told a level and a task, and nothing else: no match, no player, no setting of the server.
"""

from __future__ import annotations

import asyncio
import logging
from asyncio.subprocess import Process
from collections import deque

import msgspec

from app.engines.processes import GONE, NoAnswer, ask, end, start
from app.engines.worker import Answered, question
from engine.bot import task_of
from engine.plays import Hop
from engine.view import View

log = logging.getLogger(__name__)

_PATIENCE_S = 60.0  # a task takes seconds at most: who needs longer will never answer
_TRIES = 3


class _Question:
    """A line to be answered, and whoever waits for the answer."""

    def __init__(self, line: bytes) -> None:
        self.line = line
        self.answer: asyncio.Future[tuple[Hop, ...]] = asyncio.get_running_loop().create_future()


class Pool:
    """At most so many processes, started when they are first needed.

    Each match has a queue of its own, and the matches take turns: none waits longer than for one task of every other.
    """

    def __init__(self, workers: int, *, patience_s: float = _PATIENCE_S) -> None:
        self._most = workers
        self._patience_s = patience_s
        self._waiting: dict[str, deque[_Question]] = {}  # by match, in the order of their turns
        self._news = asyncio.Condition()
        self._workers: set[asyncio.Task[None]] = set()
        self._idle = 0
        self._closed = False

    async def choose(self, match_id: str, level: str, view: View) -> tuple[Hop, ...]:
        """What the computer of this level plays. Raises NoAnswer."""
        if self._closed:
            raise NoAnswer("the server is about to stop")
        asked = _Question(question(level, task_of(view)))
        self._waiting.setdefault(match_id, deque()).append(asked)
        self._hire()
        async with self._news:
            self._news.notify()
        return await asked.answer

    async def close(self) -> None:
        """At once, whatever they think about."""
        self._closed = True
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        for queue in self._waiting.values():
            for asked in queue:
                if not asked.answer.done():
                    asked.answer.set_exception(NoAnswer("the server is about to stop"))
        self._waiting.clear()

    def _hire(self) -> None:
        """Another worker, if more is asked than there are idle ones, and there may be more."""
        if sum(map(len, self._waiting.values())) > self._idle and len(self._workers) < self._most:
            worker = asyncio.create_task(self._work())
            self._workers.add(worker)
            worker.add_done_callback(self._left)

    def _left(self, worker: asyncio.Task[None]) -> None:
        self._workers.discard(worker)
        if not worker.cancelled() and worker.exception() is not None:
            log.error("a worker was lost", exc_info=worker.exception())
            if not self._closed:
                self._hire()

    async def _next(self) -> _Question:
        """The first question of the match whose turn it is; the match goes to the end."""
        while True:
            for match_id in list(self._waiting):
                queue = self._waiting.pop(match_id)
                while queue:
                    asked = queue.popleft()
                    if asked.answer.done():  # nobody waits for it any more
                        continue
                    if queue:
                        self._waiting[match_id] = queue
                    return asked
            self._idle += 1
            try:
                async with self._news:
                    if not self._waiting:
                        await self._news.wait()
            finally:
                self._idle -= 1

    async def _work(self) -> None:
        """One place for a process: whatever becomes of the process, the place stays."""
        process: Process | None = None
        asked: _Question | None = None
        try:
            while True:
                asked = await self._next()
                for last in range(_TRIES - 1, -1, -1):
                    try:
                        if process is None:
                            process = await _start()
                        async with asyncio.timeout(self._patience_s):
                            hops = await _ask(process, asked.line)
                    except GONE as gone:
                        log.warning("a computer's process is gone (%s); another takes its place", _name(gone))
                        if process is not None:
                            await end(process)
                            process = None
                        if not last:
                            _tell(asked, NoAnswer(f"{_TRIES} processes were lost over it"))
                    except NoAnswer as wrong:
                        _tell(asked, wrong)
                        break
                    else:
                        if not asked.answer.done():
                            asked.answer.set_result(hops)
                        break
        finally:
            if asked is not None:
                _tell(asked, NoAnswer("the server is about to stop"))
            if process is not None:
                await end(process)


def _tell(asked: _Question, wrong: NoAnswer) -> None:
    if not asked.answer.done():
        asked.answer.set_exception(wrong)


def _name(error: BaseException) -> str:
    return str(error) or type(error).__name__


async def _start() -> Process:
    return await start("app.engines.worker")


async def _ask(process: Process, line: bytes) -> tuple[Hop, ...]:
    """Raises OSError or EOFError if the process is gone, NoAnswer if it has none."""
    said = msgspec.json.decode(await ask(process, line), type=Answered)
    if said.wrong:
        raise NoAnswer(said.wrong)
    return said.hops

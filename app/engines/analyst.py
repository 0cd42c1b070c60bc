"""One who judges finished matches, in a process of his own that no computer player thinks in."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import Process

from app.engines.judging import question, read_answer
from app.engines.processes import GONE, NoAnswer, ask, end, start
from engine.analysis import Played, TurnJudged

_PATIENCE_S = 300.0  # a phase takes a tenth of a second, but on a busy machine everybody else comes first
PROGRAM = "app.engines.judging"


class Analyst:
    """At most one process, started when it is first needed. Judges one phase at a time."""

    def __init__(self, *, patience_s: float = _PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._process: Process | None = None

    async def judged(self, level: str, match: Played, index: int) -> TurnJudged:
        """The phase with this place in `match.phases`, judged at this level. Raises NoAnswer.

        If the process is gone or silent, or nobody waits any longer, the next one asked is a new one.
        """
        line = question(level, match, index)
        try:
            if self._process is None:
                self._process = await start(PROGRAM)
            async with asyncio.timeout(self._patience_s):
                answer = read_answer(await ask(self._process, line))
        except GONE as gone:
            await self.rest()
            raise NoAnswer(f"the process is gone: {str(gone) or type(gone).__name__}") from gone
        except BaseException:  # its answer may still come, to a question that nobody asks any more
            await self.rest()
            raise
        if isinstance(answer, str):
            raise NoAnswer(answer)
        return answer

    async def rest(self) -> None:
        """No process until somebody asks again."""
        process, self._process = self._process, None
        if process is not None:
            await end(process)

"""What two unfinished games are worth, for an arbiter: asked seldom, so by a process that is there for one answer only.

So neither the judge's memory nor the time of loading it is in the way of plays.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from dataclasses import dataclass

from engine.position import Position
from engine.turn import Games
from engine.variant import SHORT, VARIANTS

log = logging.getLogger(__name__)
_PATIENCE_S = 30.0


@dataclass(frozen=True, slots=True)
class Estimated:
    """What both games are worth to A, in 1/2/3 points each, and who says so."""

    for_A: float
    by: str


async def estimated(variant: str, games: Games[Position]) -> Estimated | None:
    """The judge's answer for the end of a round; None where there is no judge, or none that knows the game."""
    if variant != SHORT.key:
        return None
    asked = json.dumps([[game.mine, game.theirs] for game in (games.X, games.Y)])
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __name__,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(_PATIENCE_S):
            told, _ = await process.communicate(asked.encode())
    except TimeoutError:
        log.warning("the judge did not answer in %s s", _PATIENCE_S)
        return None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    answer = json.loads(told or b"null")
    return None if answer is None else Estimated(float(answer["for_A"]), str(answer["by"]))


def _main() -> None:
    from app.engines.judge import NoJudge, SageEvaluator
    from engine.analysis import standing_for_A

    x, y = (Position(tuple(mine), tuple(theirs)) for mine, theirs in json.load(sys.stdin))
    answer = None
    try:
        judge = SageEvaluator()
        value = standing_for_A(VARIANTS[SHORT.key], Games(x, y), judge)
        answer = {"for_A": value, "by": f"{judge.name} {judge.version}"}
    except NoJudge:
        pass
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    _main()

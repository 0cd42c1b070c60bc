"""Computer players for tests that need no process."""

from __future__ import annotations

import asyncio

from app.engines.levels import Level
from app.service.computers import Computers
from engine.bot import Computer
from engine.plays import Hop
from engine.view import View


class InThread:
    """Where this one thinks, whatever level is asked for."""

    def __init__(self, computer: Computer) -> None:
        self.computer = computer

    async def choose(self, match_id: str, level: str, view: View) -> tuple[Hop, ...]:
        return await asyncio.to_thread(self.computer.choose, view)

    async def close(self) -> None:
        pass


def only(computer: Computer) -> Computers:
    """A server that has this one, and nobody else."""
    return Computers([Level("beginner", computer.name, computer.version)], InThread(computer))

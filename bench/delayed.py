"""`nardy serve` that watches its own event loop: `python -m bench.delayed FILE` writes there how late it was.

One line each 5 ms: when (`time.monotonic`, the same clock in every process), and by how many ms something that was due
was late.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from pathlib import Path
from typing import Any

from app.cli import main
from app.serving import Server

EVERY_S = 0.005


async def watch(noted: list[tuple[float, float]]) -> None:
    while True:
        due = time.monotonic() + EVERY_S
        await asyncio.sleep(EVERY_S)
        now = time.monotonic()
        noted.append((now, (now - due) * 1000))


if __name__ == "__main__":
    file, sys.argv[1:] = sys.argv[1], ["serve"]
    delays: list[tuple[float, float]] = []
    startup = Server.startup

    async def watched(self: Server, *sockets: Any, **more: Any) -> None:
        await startup(self, *sockets, **more)
        self.watching = asyncio.create_task(watch(delays))  # type: ignore[attr-defined]

    Server.startup = watched  # type: ignore[method-assign]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # uvicorn hands the signal back when it has stopped
    try:
        main()
    finally:
        Path(file).write_text("".join(f"{at} {late}\n" for at, late in delays))

"""Servers that start in a moment: a program imports everything once, and forks a `nardy serve` whenever it is asked."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx2

from app.settings import Settings
from tests.support.process import ROOT, environment_of


@dataclass
class Forks:
    """One server at a time, on one port."""

    url: str
    _program: asyncio.subprocess.Process
    _pid: int = 0

    async def start(self) -> None:
        """A new server, once it is ready."""
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.write(b"start\n")
        self._pid = int(await self._program.stdout.readline())
        async with httpx2.AsyncClient() as http, asyncio.timeout(30):
            while True:
                with contextlib.suppress(httpx2.HTTPError):
                    if (await http.get(f"{self.url}/readyz")).status_code == 200:
                        return
                await asyncio.sleep(0.02)

    async def kill(self, number: signal.Signals = signal.SIGKILL) -> int:
        """Ends it; how it ended, as `os.waitstatus_to_exitcode` says."""
        assert self._program.stdout is not None
        os.kill(self._pid, number)
        self._pid = 0
        return int(await self._program.stdout.readline())

    async def close(self) -> None:
        if self._pid:
            await self.kill()
        self._program.kill()
        await self._program.wait()


@contextlib.asynccontextmanager
async def forks(settings: Settings, port: int) -> AsyncIterator[Forks]:
    """Servers with these settings."""
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.forks"),
        cwd=ROOT,
        env=environment_of(settings, port, LOG_FORMAT="json"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    made = Forks(f"http://127.0.0.1:{port}", program)
    try:
        yield made
    finally:
        await made.close()


def main() -> None:
    """Forks for each line of input; tells the process and, once it has ended, how."""
    import uvloop  # noqa: F401

    import app.main
    import app.serving
    from app import cli

    defaults = app.main.create_app.__kwdefaults__
    assert "computer_pace_ms" in defaults
    defaults["computer_pace_ms"] = 0  # computers of tests do not make people wait

    for _ in sys.stdin:
        pid = os.fork()
        if pid == 0:
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(0, 1)
            os._exit(cli.main(["serve"]))
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    main()

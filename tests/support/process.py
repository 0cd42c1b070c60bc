"""`nardy serve` as a program of its own, for tests that kill it, stop it or read what it writes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2

from app.settings import Settings

ROOT = Path(__file__).parents[2]
_OURS = {name.upper() for name in Settings.__dataclass_fields__}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment_of(settings: Settings, port: int, **more: str) -> dict[str, str]:
    """The variables that say these settings, and `more`."""
    return {
        **{name: text for name, text in os.environ.items() if name not in _OURS},
        "DATABASE_URL": settings.database_url,
        "DATA_DIR": str(settings.data_dir / "data"),
        "SECRET_KEY": settings.secret_key,
        "PORT": str(port),
        "LOG_LEVEL": "warning",
        "NEWCOMERS_AN_HOUR": "0",
        "ANALYSIS_LEVEL": settings.analysis_level,
        **more,
    }


@contextlib.asynccontextmanager
async def a_process(
    settings: Settings, port: int, log: Path | None = None, *, program: str = "app.cli", **more: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """The server, once it answers; killed at the end if it still runs.

    What it writes goes to the file `log`, else its complaints go to the test's own. `more` are further settings,
    `program` is the module that serves.
    """
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(log.open("ab")) if log else None
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", program, "serve"),
            cwd=ROOT,
            env=environment_of(settings, port, **more),
            stdout=out or asyncio.subprocess.DEVNULL,
            stderr=out,
        )
    try:
        async with httpx2.AsyncClient() as http, asyncio.timeout(30):
            while True:
                assert process.returncode is None, "the server ended before it answered"
                with contextlib.suppress(httpx2.HTTPError):
                    if (await http.get(f"http://127.0.0.1:{port}/readyz")).status_code == 200:
                        break
                await asyncio.sleep(0.05)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()

"""Processes that work for the server: a line to each, a line back.

They run by their own program, at low priority, on one thread, and end with the server, since their input does. No
secret of the server is in their environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from pathlib import Path

import msgspec

_ROOT = Path(__file__).parents[2]
# What a process needs to start; secrets of the server are not among it.
_PASSED_ON = (
    "PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "LD_LIBRARY_PATH",
    "VIRTUAL_ENV",
    "LANG",
    "LC_ALL",
    "TMPDIR",
)
_PASSED_ON_WINDOWS = ("SYSTEMROOT", "SYSTEMDRIVE", "TEMP", "TMP")
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_LONGEST_LINE = 1 << 20  # bytes
_LOW, _LAST = 10, 19  # niceness

# What it looks like when a process has ended, hangs, or says what makes no sense.
GONE = (OSError, EOFError, TimeoutError, msgspec.DecodeError)


class NoAnswer(Exception):
    """A process could not say what it was asked."""


async def start(program: str) -> Process:
    """A process that runs this module. Raises OSError."""
    passed_on = (*_PASSED_ON, *(_PASSED_ON_WINDOWS if sys.platform == "win32" else ()))
    environment = {name: os.environ[name] for name in passed_on if name in os.environ} | _ONE_THREAD
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", program),
        cwd=_ROOT,
        env=environment,
        stdin=PIPE,
        stdout=PIPE,
        limit=_LONGEST_LINE,
        start_new_session=True,  # a Ctrl-C is the server's, which then ends its workers
    )


async def ask(process: Process, line: bytes) -> bytes:
    """The line that answers this one. Raises one of GONE if the process is."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line)
    await process.stdin.drain()
    answer = await process.stdout.readline()
    if not answer.endswith(b"\n"):
        raise EOFError("it has ended")
    return answer


async def end(process: Process) -> None:
    """At once, whatever it does."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    if process.stdin is not None:
        process.stdin.close()
    await process.wait()


def answer_lines(answer_to: Callable[[bytes], bytes], give_way: Callable[[], None]) -> None:
    """What such a process does: it gives way, and until nobody asks any more it answers line by line.

    A server that ends, however it ends, takes its processes with it.
    """
    for number in (signal.SIGINT, signal.SIGTERM):  # the server's to obey; it ends this one itself
        signal.signal(number, signal.SIG_IGN)
    give_way()
    with contextlib.suppress(BrokenPipeError):
        while line := sys.stdin.buffer.readline():
            sys.stdout.buffer.write(answer_to(line))
            sys.stdout.buffer.flush()


def to_displays() -> None:
    """Nobody's display waits for this process."""
    if hasattr(os, "nice"):
        os.nice(_LOW)


def to_everybody() -> None:
    """This process works when nobody else has anything to do."""
    if hasattr(os, "nice"):
        os.nice(_LAST)
    if hasattr(os, "SCHED_IDLE"):
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    # Linux may share time out among sessions first; there the niceness within a session counts for nothing outside it.
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(_LAST))

"""What runs on this machine: by /proc where there is one (Linux), else by ps (macOS)."""

from __future__ import annotations

import subprocess
from pathlib import Path

PROC = Path("/proc/self/stat").exists()


def children_of(parent: int, program: str) -> set[int]:
    """The living processes that this one started and whose command line has `program` in it."""
    found = _by_proc() if PROC else _by_ps()
    return {pid for pid, of, state, line in found if of == parent and program in line and state != "Z"}


def is_alive(pid: int, program: str) -> bool:
    """Whether this process runs still, and is no other program by now."""
    found = _by_proc() if PROC else _by_ps()
    return any(pid == it and program in line and state != "Z" for it, _, state, line in found)


def threads_of(pid: int) -> int:
    """How many threads a process has."""
    if PROC:
        return len(list(Path(f"/proc/{pid}/task").iterdir()))
    return len(_ps("-M", "-p", str(pid))) - 1


def niceness_of_session(pid: int) -> int | None:
    """How far the session of a process stands back behind others, where Linux shares time out among sessions."""
    told = Path(f"/proc/{pid}/autogroup")
    return int(told.read_text().split()[-1]) if told.exists() else None


def _by_proc() -> list[tuple[int, int, str, str]]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has just ended
            continue
        found.append((int(folder.name), int(parent), state, line))
    return found


def _by_ps() -> list[tuple[int, int, str, str]]:
    rows = (line.split(maxsplit=3) for line in _ps("-A", "-ww", "-o", "pid=,ppid=,stat=,args="))
    return [(int(row[0]), int(row[1]), row[2][0], row[3]) for row in rows if len(row) == 4]


def _ps(*options: str) -> list[str]:
    return subprocess.run(["ps", *options], capture_output=True, text=True, check=True).stdout.splitlines()

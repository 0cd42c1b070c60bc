"""What a server writes about itself: a JSON object a line, or text for a terminal, on the standard error stream.

Every line says when, how grave, who and what; and of the request, match, seat, command and server that it is about
those that are known. No line holds a secret: who logs names none, and what others put into their errors is masked here.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from collections.abc import Mapping
from contextvars import Context, ContextVar, copy_context
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TextIO
from urllib.parse import parse_qs, unquote, urlsplit

from app.settings import Settings

_NOTHING: Mapping[str, str] = MappingProxyType({})
_about: ContextVar[Mapping[str, str]] = ContextVar("about", default=_NOTHING)

_TAKEN = "_about"  # what an exception was about
_HIDDEN = "…"
_SHORTEST_SECRET = 4  # what is shorter is in every other word
_CREDENTIALS = re.compile(r"(\w+://)[^\s/]*@")  # postgresql://nardy:password@
_PASSWORD = re.compile(r"(?i)(password|passwd|pgpassword)(['\"]?\s*[=:]\s*)('[^']*'|\"[^\"]*\"|[^\s&,;)]+)")
# PostgreSQL tells the values of the row that it refuses, and with them codes, seeds and plays.
_ROW = re.compile(r"DETAIL:.*?(?=\\n|[\n'\"]?$)", re.MULTILINE)
# Bots' tokens, organisers' keys, entrants' links.
_TOKEN = re.compile(
    r"nardy_bot_[\w-]+|\bnk_[\w-]{20,}|\b[A-Za-z0-9]{12}\.[\w-]{43}(?![\w-])|(?i:(?<=bearer ))\S+"
)
_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), 127) if code != 10}


# ------------------------------------------------------------------------------------------------- what it is about


class about:
    """What is logged in this block is about these: `request`, `match`, `seat`, `command`, `node`.

    An exception that leaves the block takes them along, to where it is logged.
    """

    __slots__ = ("_facts", "_token")

    def __init__(self, **facts: str | None) -> None:
        self._facts = facts

    def __enter__(self) -> None:
        known = {name: fact for name, fact in self._facts.items() if fact is not None}
        self._token = _about.set({**_about.get(), **known})

    def __exit__(self, _kind: object, wrong: BaseException | None, _traceback: object) -> None:
        if isinstance(wrong, Exception) and not hasattr(wrong, _TAKEN):
            setattr(wrong, _TAKEN, _about.get())
        _about.reset(self._token)


def set_about(**facts: str) -> None:
    """The same to the end of this task, and in all that it starts."""
    _about.set({**_about.get(), **facts})


def apart(**facts: str) -> Context:
    """A context for work that goes on by itself: about its server and these, and not about who happened to start it."""
    node = _about.get().get("node")
    context = copy_context()
    context.run(_about.set, facts if node is None else {"node": node, **facts})
    return context


# ----------------------------------------------------------------------------------------------------------- secrets


class Mask:
    """Takes out what no log may hold: the settings' own secrets, credentials in addresses, rows in errors."""

    def __init__(self, *secrets: str) -> None:
        kept = sorted({s for s in secrets if len(s) >= _SHORTEST_SECRET}, key=len, reverse=True)
        self._secrets = re.compile("|".join(map(re.escape, kept))) if kept else None

    def __call__(self, text: str) -> str:
        """The text without them."""
        if self._secrets is not None:
            text = self._secrets.sub(_HIDDEN, text)
        text = _TOKEN.sub(_HIDDEN, text)
        text = _CREDENTIALS.sub(rf"\1{_HIDDEN}@", text)
        text = _PASSWORD.sub(rf"\1\2{_HIDDEN}", text)
        return _ROW.sub(f"DETAIL:  {_HIDDEN}", text)


def mask_of(settings: Settings) -> Mask:
    """What must not be told of these settings."""
    url = urlsplit(settings.database_url)
    passwords = [url.password or "", *parse_qs(url.query).get("password", [])]
    passwords.append(os.environ.get("PGPASSWORD", ""))  # the driver looks there too
    return Mask(settings.secret(), *passwords, *map(unquote, passwords))


# ------------------------------------------------------------------------------------------------------------- lines


class _Lines(logging.Formatter):
    """What both ways of writing share."""

    def __init__(self, mask: Mask) -> None:
        super().__init__()
        self._mask = mask

    def _parts(self, record: logging.LogRecord) -> tuple[str, dict[str, object], str]:
        """The message, what it is about, and the traceback if there is one."""
        wrong = record.exc_info[1] if record.exc_info else None
        facts = {**_about.get(), **getattr(wrong, _TAKEN, _NOTHING), **getattr(record, "facts", {})}
        masked = {name: self._mask(fact) if isinstance(fact, str) else fact for name, fact in facts.items()}
        traceback = self.formatException(record.exc_info) if record.exc_info else ""
        if record.stack_info:
            traceback += self.formatStack(record.stack_info)
        return self._mask(record.getMessage()), masked, self._mask(traceback)


class JsonLines(_Lines):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """`time` (UTC), `level`, `logger`, `message`, what it is about, and `exception`."""
        message, facts, traceback = self._parts(record)
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line = {
            "time": at.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": message,
            **facts,
        }
        if traceback:
            line["exception"] = traceback
        return json.dumps(line, ensure_ascii=False, default=str)


class TextLines(_Lines):
    """For a person at a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """`12:30:01.250 warning  app.store.line: … [match=… seat=A]`, and the traceback below."""
        message, facts, traceback = self._parts(record)
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S.%f")[:-3]
        told = " ".join(f"{name}={fact}" for name, fact in facts.items())
        line = f"{at} {record.levelname.lower():8} {record.name}: {message}{f' [{told}]' if told else ''}"
        line = line.replace("\n", "\\n").translate(_CONTROL)  # a line of log is one line, whatever is in it
        return f"{line}\n{traceback}" if traceback else line


def is_json(settings: Settings, stream: TextIO) -> bool:
    """Whether lines are JSON: as it is set, else wherever no person is looking on."""
    return settings.log_format == "json" or (settings.log_format == "auto" and not stream.isatty())


def install(settings: Settings, stream: TextIO | None = None) -> None:
    """All logs of this process go there, as the settings say. Of other packages only warnings are wanted.

    At `debug` the WebSocket library would log every frame and every header: plays, seeds and cookies.
    """
    stream = stream or sys.stderr
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    handler = logging.StreamHandler(stream)
    mask = mask_of(settings)
    handler.setFormatter(JsonLines(mask) if is_json(settings, stream) else TextLines(mask))
    logging.basicConfig(handlers=[handler], level=max(level, logging.WARNING), force=True)
    logging.getLogger("app").setLevel(level)
    logging.captureWarnings(True)
